"""Who may go on with what is in a store: the same version, with as many partitions."""

from __future__ import annotations

import json
from uuid import uuid4

import polars as pl

from tidemill.errors import ExecutionError
from tidemill.store import Store

FORMAT = 4
"""Raised when what was written by an older version can no longer be read."""

_FILE = "manifest.json"


def open_manifest(store: Store, partitions: int) -> int:
    """Take a store for a run; the number of partitions that its state has.

    Rows find their partition by a hash of Polars, which may change with its version.
    """
    if not store.exists(_FILE):
        known = {"format": FORMAT, "polars": pl.__version__, "partitions": partitions}
        store.put(_FILE, json.dumps({**known, "identity": uuid4().hex}, indent=1).encode())
        return partitions
    found = json.loads(store.get(_FILE))
    wanted = {"format": FORMAT, "polars": pl.__version__}
    for key, label in (("format", "version of Tidemill"), ("polars", "version of Polars")):
        if found.get(key) != wanted[key]:
            raise ExecutionError(
                f"the checkpoint {store.uri} belongs to another {label}: "
                f"it has {found.get(key)}, not {wanted[key]}",
                help="choose another checkpoint, or delete this one to start anew",
            )
    return int(found["partitions"])


def identity_of(store: Store | None) -> str:
    """A name that no other run has or had, not even one in the same folder."""
    if store is None:
        return uuid4().hex
    return str(json.loads(store.get(_FILE))["identity"])
