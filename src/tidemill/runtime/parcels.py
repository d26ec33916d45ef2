"""Parcels: what one task sends to another, or to the driver.

A parcel has rows of one exchange for one partition, or something that is told: facts about time for
`EVERY` partition of the next stage, a report for the driver. In one process they are handed over as
they are. Where they travel, rows are bytes of Arrow; large ones are left in a file, and only its
name travels. Where there are many partitions, what a task sends to them is one file for `EVERY` one
of them (`bundles`).
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
import polars as pl
import pyarrow as pa

from tidemill.physical.operator import ends, starts
from tidemill.store import Store
from tidemill.timeline import OPEN_END, VALID_FROM, VALID_TO

FACTS, REPORT = -1, -2
"""Tags of parcels without rows; those of exchanges are not negative."""

EVERY = -1
"""The target of what is for all partitions of the next stage."""

_LARGE = 1 << 18
"""Rows of this many bytes or more go through a file: fewer are faster carried along."""

_LASTS = b"lasts"
_SCRATCH = "scratch"


@dataclass(frozen=True, slots=True)
class Parcel:
    """For a partition: the `rows` of the exchange with this `tag`, or what is `told`."""

    target: int
    tag: int
    rows: pl.DataFrame | None = None
    told: Any = None


class Packed(NamedTuple):
    """A parcel that travels: its content as bytes, or the name of the file that has it.

    One with rows that is for `EVERY` partition names bundles.
    """

    target: int
    tag: int
    body: bytes
    file: str | None = None


class Packer:
    """Makes parcels ready to travel; with a `store`, large ones leave their rows in a file."""

    def __init__(self, store: Store | None, tick: int) -> None:
        self._store = store
        self._folder = scratch(tick)
        self._packed: dict[int, tuple[pl.DataFrame, bytes, str | None]] = {}

    def __call__(self, parcel: Parcel) -> Packed:
        if parcel.rows is None:
            told = pickle.dumps(parcel.told, protocol=5)
            return Packed(parcel.target, parcel.tag, told)
        # The same rows may go to all partitions.
        known = self._packed.get(id(parcel.rows))
        if known is None:
            known = self._packed[id(parcel.rows)] = (parcel.rows, *self._content(parcel.rows))
        return Packed(parcel.target, parcel.tag, *known[1:])

    def _content(self, rows: pl.DataFrame) -> tuple[bytes, str | None]:
        body = to_bytes(rows)
        if self._store is None or body.size < _LARGE:
            return body.to_pybytes(), None
        file = f"{self._folder}/{uuid4().hex}.rows"
        self._store.put(file, memoryview(body), scratch=True)
        return b"", file


def scratch(tick: int) -> str:
    """The folder of files that are needed during a tick."""
    return f"{_SCRATCH}/{tick:012d}"


def forget_scratch(store: Store, tick: int) -> None:
    """Delete what tasks have left that came too late: up to this tick, all are done."""
    for name in store.names(_SCRATCH):
        if name <= f"{tick:012d}" and tick >= 0:
            store.remove_folder(f"{_SCRATCH}/{name}")


def unpack(packed: Packed, store: Store | None) -> Parcel:
    """A parcel that has come.

    >>> rows = pl.DataFrame({"v": [7], "valid_from": [1], "valid_to": [4]})
    >>> sent = [Parcel(1, 0, rows), Parcel(0, FACTS, told={"bid": 9})]
    >>> [(p.target, p.tag, p.told) for p in (unpack(Packer(None, 0)(p), None) for p in sent)]
    [(1, 0, None), (0, -1, {'bid': 9})]
    """
    target, tag, body, file = packed
    if tag < 0:
        return Parcel(target, tag, told=pickle.loads(body))
    if file is None:
        return Parcel(target, tag, from_bytes(_arrows(body)))
    assert store is not None
    return Parcel(target, tag, from_bytes(store.buffer(file)))


def _arrows(body: bytes) -> pa.Buffer:
    """Bytes in memory of Arrow's.

    A thread of Polars that lets go of memory of Python would wait for the thread that waits for
    Polars.
    """
    sink = pa.BufferOutputStream()
    sink.write(body)
    return sink.getvalue()


def to_bytes(rows: pl.DataFrame) -> pa.Buffer:
    """Rows as bytes of Arrow; where all hold equally long, their ends are left out.

    >>> rows = pl.DataFrame({"v": [7, 8], "valid_from": [1, 2], "valid_to": [4, 5]})
    >>> from_bytes(to_bytes(rows)).equals(rows)
    True
    """
    rows, lasts = without_ends(rows)
    table = rows.to_arrow(compat_level=pl.CompatLevel.newest())
    metadata = {} if lasts is None else {_LASTS: str(lasts).encode()}
    sink = pa.BufferOutputStream()
    schema = table.schema.with_metadata(metadata)
    with pa.ipc.new_stream(sink, schema) as writer:
        writer.write_table(table.replace_schema_metadata(metadata))
    return sink.getvalue()


def from_bytes(body: pa.Buffer) -> pl.DataFrame:
    """The rows of bytes of Arrow, which they go on using."""
    table = pa.ipc.open_stream(body).read_all()
    metadata = table.schema.metadata or {}
    rows = pl.DataFrame(table.replace_schema_metadata(None))
    return with_ends(rows, int(metadata[_LASTS]) if _LASTS in metadata else None)


def without_ends(rows: pl.DataFrame) -> tuple[pl.DataFrame, int | None]:
    """Rows that all hold equally long without their ends, and for how long; others as they are."""
    lasts = _duration(rows)
    return (rows if lasts is None else rows.drop(VALID_TO)), lasts


def with_ends(rows: pl.DataFrame, lasts: int | None) -> pl.DataFrame:
    """The rows with their ends, if these were left out."""
    if lasts is None:
        return rows
    return rows.with_columns((pl.col(VALID_FROM) + lasts).alias(VALID_TO))


def _duration(rows: pl.DataFrame) -> int | None:
    """For how long all rows hold, if they hold equally long."""
    if not rows.height or rows.columns[-1] != VALID_TO:
        return None
    start, end = starts(rows), ends(rows)
    first = int(end[0]) - int(start[0])
    if int(end[0]) == OPEN_END or not 0 < first < OPEN_END:
        return None
    return first if bool(np.all(end - start == first)) else None
