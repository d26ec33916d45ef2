"""Relations that the engine keeps: their rows, their past, and runs that follow their changes."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from weakref import WeakSet

import numpy as np
import polars as pl
import pyarrow as pa

from tidemill.algebra.schema import Field, Schema
from tidemill.connectors.change_source import DELETED, INSERTED, INSTANT, OPERATION
from tidemill.physical.mechanisms.arrays import Bools
from tidemill.physical.mechanisms.keys import KeyTable, canonical
from tidemill.physical.operator import empty_frame
from tidemill.runtime.relation_log import ID, RelationLog, ended
from tidemill.runtime.versions import ranks
from tidemill.timeline import BEGIN, OPEN_END

_MOST_CHUNKS = 64

Choice = Callable[[pl.DataFrame], Bools]
"""Of some rows, those that are meant."""


class LocalRelation:
    """Rows with the instants of their insertion and deletion; `load` brings those of the start.

    With a `log`, changes survive the process: they are written down before they are made.

    >>> relation = LocalRelation(Schema.of(k=pa.int64()), lambda: pa.table({"k": [1, 2]}))
    >>> follower = relation.follow()
    >>> follower.content()[0].num_rows
    2
    >>> relation.delete(lambda rows: (rows["k"] == 2).to_numpy(), at=5)
    1
    >>> follower.changes("")[0].to_pylist()
    [{'k': 2, '#op': -1, '#at': 5}]
    """

    def __init__(
        self, schema: Schema, load: Callable[[], pa.Table], log: RelationLog | None = None
    ) -> None:
        self.schema = schema
        self._load = load
        self._log = log
        self._next_id = 0
        self._rows: pl.DataFrame | None = None
        self._lock = RLock()
        self._followers: WeakSet[Follower] = WeakSet()

    def insert(self, rows: pa.Table, at: int | None = None) -> int:
        """Add rows, from an instant on; without one, all who follow see them now."""
        with self._lock:
            before = self.rows
            added = pl.DataFrame(rows).with_columns(_instants(at or BEGIN, OPEN_END))
            added = self._numbered(added).select(before.columns)
            if self._log is not None and added.height:
                self._log.insert(before, added)
            self._next_id += added.height
            self._rows = pl.concat([before, added])
            if self._rows.n_chunks() > _MOST_CHUNKS:
                self._rows = self._rows.rechunk()
            self._tell(pl.DataFrame(rows), 1, at)
        return added.height

    def delete(self, chosen: Choice, at: int | None = None) -> int:
        """Take out those of the rows that are there (at an instant) that are chosen; how many."""
        with self._lock:
            there = self.rows[DELETED].to_numpy() == OPEN_END
            if at is not None:
                there &= self.rows[INSERTED].to_numpy() <= at
            candidates = np.flatnonzero(there)
            numbers = candidates[chosen(self.rows[candidates].select(self.schema.names))]
            gone, until = self.rows[numbers], BEGIN if at is None else at
            if self._log is not None and gone.height:
                self._log.delete(self.rows, gone, until)
            self._tell(gone.select(self.schema.names), -1, at)
            self._rows = ended(self.rows, gone[ID], until)
        return gone.height

    @property
    def rows(self) -> pl.DataFrame:
        """All rows that are there, were there or will be, with their instants."""
        with self._lock:
            if self._rows is None:
                kept = None if self._log is None else self._log.rows()
                self._rows = self._first() if kept is None else kept
                newest = self._rows[ID].max()
                self._next_id = newest + 1 if isinstance(newest, int) else 0
            return self._rows

    def _first(self) -> pl.DataFrame:
        loaded = pl.DataFrame(self._load())
        if INSERTED not in loaded.columns:
            loaded = loaded.with_columns(_instants(BEGIN, OPEN_END))
        return self._numbered(loaded.with_columns(pl.col(DELETED).fill_null(OPEN_END)))

    def _numbered(self, rows: pl.DataFrame) -> pl.DataFrame:
        ids = pl.int_range(self._next_id, self._next_id + rows.height, dtype=pl.Int64, eager=True)
        return rows.with_columns(ids.alias(ID))

    def follow(self) -> Follower:
        """A reader that sees the rows, and every change after that."""
        follower = Follower(self, self._lock)
        self._followers.add(follower)
        return follower

    def leave(self, follower: Follower) -> None:
        """Change without telling a follower."""
        self._followers.discard(follower)

    def _tell(self, rows: pl.DataFrame, sign: int, at: int | None) -> None:
        if rows.height:
            changes = _changes(rows, sign, pl.lit(at, pl.Int64))
            for follower in list(self._followers):
                follower.hear(changes)


class Follower:
    """A source of the changes of a relation of the engine, for one query that runs."""

    def __init__(self, relation: LocalRelation, lock: RLock) -> None:
        self._relation = relation
        self._lock = lock
        self._heard: list[pl.DataFrame] = []
        self.wake: Callable[[], None] = lambda: None

    def hear(self, changes: pl.DataFrame) -> None:
        """Take note of changes."""
        self._heard.append(changes)
        if len(self._heard) == 1:
            self.wake()

    def content(self) -> tuple[pa.Table, str]:
        """The rows with their past, and a position, which says nothing."""
        with self._lock:
            self._heard = []
            rows = self._relation.rows
        return _table(rows, _with(self._relation.schema, INSERTED, DELETED)), ""

    def changes(self, position: str) -> tuple[pa.Table, str]:
        """What was changed since the last call."""
        with self._lock:
            heard, self._heard = self._heard, []
        return self._as_changes(heard), position

    def changes_since(self, known: pl.DataFrame) -> pa.Table:
        """What makes rows that someone knew into those that are there now."""
        with self._lock:
            self._heard = []
            now = self._relation.rows
        return self._as_changes([difference(known, now, self._relation.schema)])

    def close(self) -> None:
        """Follow no more."""
        self._relation.leave(self)

    def _as_changes(self, changes: list[pl.DataFrame]) -> pa.Table:
        schema = self._relation.schema
        empty = _changes(empty_frame(schema), 1, pl.lit(None, pl.Int64))
        target = Schema((*schema, Field(OPERATION, pa.int8()), Field(INSTANT, pa.int64())))
        return _table(pl.concat([empty, *changes]), target)


def difference(known: pl.DataFrame, now: pl.DataFrame, schema: Schema) -> pl.DataFrame:
    """The changes from known rows to those that are there now, each as often as it is there.

    What is there now is sent with the instants of its past: insertions keep theirs, deletions have
    that of the last equal row that was deleted.

    >>> schema = Schema.of(k=pa.int64())
    >>> known, now = pl.DataFrame({"k": [1, 1, None]}), {"k": [1, 1, 2], "#from": [0, 0, 7]}
    >>> difference(known, pl.DataFrame({**now, "#to": [OPEN_END, 9, OPEN_END]}), schema).rows()
    [(1, -1, 9), (None, -1, 0), (2, 1, 7)]
    """
    names = list(schema.names)
    table = KeyTable(empty_frame(schema), names)
    is_there = now[DELETED].to_numpy() == OPEN_END
    slots_now = table.find_or_add(canonical(now.select(names)))
    slots_known = table.find_or_add(canonical(known.select(names)))
    size = len(table.live)
    there, past = slots_now[is_there], slots_now[~is_there]
    ends = np.full(size, BEGIN)
    np.maximum.at(ends, past, now[DELETED].to_numpy()[~is_there])
    gone = ranks(slots_known) >= np.bincount(there, minlength=size)[slots_known]
    new = ranks(there) >= np.bincount(slots_known, minlength=size)[there]
    come = now.filter(is_there).filter(new)
    deleted = known.filter(gone).select(names)
    return pl.concat(
        [
            _changes(deleted, -1, pl.Series(ends[slots_known[gone]], dtype=pl.Int64)),
            _changes(come.select(names), 1, come[INSERTED]),
        ]
    )


def _changes(rows: pl.DataFrame, sign: int, at: pl.Expr | pl.Series) -> pl.DataFrame:
    return rows.with_columns(pl.lit(sign, pl.Int8).alias(OPERATION), at.alias(INSTANT))


def _instants(inserted: int, deleted: int) -> list[pl.Expr]:
    given = {INSERTED: inserted, DELETED: deleted}
    return [pl.lit(value, pl.Int64).alias(name) for name, value in given.items()]


def _with(schema: Schema, *names: str) -> Schema:
    return Schema((*schema, *(Field(name, pa.int64()) for name in names)))


def _table(rows: pl.DataFrame, schema: Schema) -> pa.Table:
    return rows.select(schema.names).to_arrow().cast(schema.to_arrow())
