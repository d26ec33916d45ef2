"""Which run may continue what is in a store, and whether it has to be repartitioned first."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any
from uuid import uuid4

import polars as pl

from tidemill.errors import ExecutionError
from tidemill.store import Store

FORMAT = 5
"""Raised when what was written by an older version can no longer be read."""

_FILE = "manifest.json"

_SAMPLE = pl.DataFrame(
    {
        "whole": [0, -7, 2**40, None],
        "number": [0.0, 1.5, float("nan"), None],
        "text": ["", "a", "ein längerer Text", None],
        "truth": [True, False, None, True],
        "time": [datetime(2000, 1, 1), None, datetime(1969, 7, 20), datetime(2038, 1, 19)],
        "list": [[1], [], None, [1, 2]],
    }
)


@dataclass(frozen=True)
class Manifest:
    """What is known of a store: the number of its partitions, and whether rows would find them by
    other hashes than those that it was made with."""

    partitions: int
    rehashes: bool = False


@cache
def hash_version() -> str:
    """What tells the hash by which rows find their partition, and keys are found, from others.

    It is Polars' own, which may change with its version: so it is known by what it makes of values.
    """
    hashes = [_SAMPLE.select(name).hash_rows(seed=0).to_list() for name in _SAMPLE.columns]
    return hashlib.sha256(repr((hashes, _SAMPLE.hash_rows(seed=0).to_list())).encode()).hexdigest()


def open_manifest(store: Store, partitions: int) -> Manifest:
    """Take a store for a run; a new one gets this number of partitions."""
    if not store.exists(_FILE):
        _write(store, partitions, uuid4().hex)
        return Manifest(partitions)
    found = _read(store)
    if found.get("format") != FORMAT:
        raise ExecutionError(
            f"the checkpoint {store.uri} belongs to another version of Tidemill: "
            f"it has the format {found.get('format')}, not {FORMAT}",
            help="choose another checkpoint, or delete this one to start again",
        )
    return Manifest(int(found["partitions"]), found.get("hash") != hash_version())


def note_repartitioned(store: Store, partitions: int) -> None:
    """Take note of the number of partitions that all is in now, by the hash of this version."""
    _write(store, partitions, identity_of(store))


def identity_of(store: Store | None) -> str:
    """A name that no other run has or had, not even one in the same folder."""
    return uuid4().hex if store is None else str(_read(store)["identity"])


def _read(store: Store) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(store.get(_FILE))
    return found


def _write(store: Store, partitions: int, identity: str) -> None:
    known = {"format": FORMAT, "hash": hash_version(), "polars": pl.__version__}
    content = {**known, "partitions": partitions, "identity": identity}
    store.put(_FILE, json.dumps(content, indent=1).encode())
