"""The rows of a relation that changes: which are there, since when, and under which number.

A row that was inserted is a version. It holds from its insertion to its deletion, and has a number
of its own (`VERSION`), so that a row that is deleted and inserted again is another one.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from tidemill.algebra.nodes import VERSION
from tidemill.algebra.schema import Schema
from tidemill.connectors.change_source import DELETED, INSERTED, INSTANT, OPERATION
from tidemill.physical.mechanisms.arrays import Array, Bools, Ints, running_max, starts_of_runs
from tidemill.physical.mechanisms.keys import KeyTable, canonical
from tidemill.physical.mechanisms.ordering import slot_order
from tidemill.physical.operator import empty_frame
from tidemill.timeline import BEGIN, OPEN_END

_COPY = "#copy"
_SHIFT = 32  # a copy is known by the slot of its row and its number among the equal rows


class RelationVersions:
    """The versions of a relation that no deletion has ended yet.

    Equal rows are copies of each other, and NULL equals NULL; a deletion takes the copy that was
    inserted first. A batch of changes costs time in proportion to their number. Deletions of rows
    that are not there are counted (`missing`) and have no effect.

    >>> import pyarrow as pa
    >>> versions = RelationVersions(Schema.of(k=pa.int64()))
    >>> versions.begin(pl.DataFrame({"k": [7, 8]})).rows()
    [(7, 0, 0, 9223372036854775807), (8, 1, 0, 9223372036854775807)]
    >>> versions.take(pl.DataFrame({"k": [8, 9, 9], "#op": [-1, 1, -1], "#at": [5, 5, 6]})).rows()
    [(9, 2, 5, 6), (8, 1, 5, 5)]
    """

    def __init__(self, schema: Schema, next_id: int = 0) -> None:
        self._columns = list(schema.names)
        self._rows = KeyTable(empty_frame(schema), self._columns)
        self._copies = KeyTable(pl.DataFrame(schema={_COPY: pl.Int64}), [_COPY])
        self.next_id = next_id
        self.missing = 0

    def __len__(self) -> int:
        return self._copies.live_count

    @property
    def open(self) -> pl.DataFrame:
        """The versions that are not ended, in the order of their numbers."""
        live = np.flatnonzero(self._copies.live)
        live = live[np.argsort(self._copies.column(VERSION)[live])]
        slots = self._copies.rows(live)[_COPY].to_numpy() >> _SHIFT
        ids, begins = (self._copies.column(name)[live] for name in (VERSION, INSERTED))
        return _versions(self._rows.rows(slots), ids, begins, np.full(len(live), OPEN_END))

    def begin(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The versions of the rows that are there at first.

        Without `INSERTED` and `DELETED`, they are there from the beginning.
        """
        versions = first_versions(rows, self.next_id)
        self.next_id += rows.height
        self.restore(versions.filter(pl.col(DELETED) == OPEN_END))
        return versions

    def restore(self, versions: pl.DataFrame) -> None:
        """Go on with versions that are not ended, in the order of their numbers."""
        slots = self._rows.find_or_add(canonical(versions.select(self._columns)))
        self._open(slots, versions[VERSION].to_numpy(), versions[INSERTED].to_numpy())

    def take(self, changes: pl.DataFrame) -> pl.DataFrame:
        """Changes, in their order, as versions.

        `[from, ∞)` is inserted, `[from, to)` inserted and deleted with these changes, and
        `[to, to)` ends a version that was there before.
        """
        rows = changes.select(self._columns)
        slots = self._rows.find_or_add(canonical(rows))
        signs, at = (changes[name].to_numpy() for name in (OPERATION, INSTANT))
        there = self._there(slots, signs)
        self.missing += len(there) - int(there.sum())
        inserted, deleted = np.flatnonzero(signs > 0), np.flatnonzero(there & (signs < 0))
        first, self.next_id = self.next_id, self.next_id + len(inserted)
        ids = np.arange(first, self.next_id)
        self._open(slots[inserted], ids, at[inserted])
        old, begins = self._close(slots[deleted])
        self._let_go(np.unique(slots))
        ends = np.maximum(at[deleted], begins)
        new = old >= first
        until = np.full(len(ids), OPEN_END)
        until[old[new] - first] = ends[new]
        come = _versions(rows[inserted], ids, at[inserted], until)
        gone = _versions(rows[deleted[~new]], old[~new], ends[~new], ends[~new])
        return pl.concat([come.filter(pl.col(INSERTED) < pl.col(DELETED)), gone])

    def _there(self, slots: Ints, signs: Array) -> Bools:
        """Which changes find what they need: a deletion needs a copy that no other has taken."""
        if (signs > 0).all():
            return np.ones(len(signs), dtype=np.bool_)
        order = slot_order(slots)
        slot, sign = slots[order], signs[order].astype(np.int64)
        starts = starts_of_runs(slot)
        first = np.flatnonzero(starts)
        total = np.cumsum(sign)
        before = (total - sign)[first][np.cumsum(starts) - 1]
        copies = self._counts("opened")[slot] - self._counts("closed")[slot] + total - before
        # Whenever the copies fall lower than ever, below none, a deletion has found nothing.
        lacking = running_max(np.maximum(-copies, 0), starts)
        lacked = np.where(starts, 0, np.concatenate([[0], lacking[:-1]]))
        there = np.empty(len(order), dtype=np.bool_)
        there[order] = (sign > 0) | (lacking == lacked)
        return there

    def _open(self, slots: Ints, ids: Ints, begins: Ints) -> None:
        numbers = self._copies.find_or_add(self._numbered(slots, "opened"))
        self._copies.column(VERSION)[numbers] = ids
        self._copies.column(INSERTED)[numbers] = begins

    def _close(self, slots: Ints) -> tuple[Ints, Ints]:
        """End one copy for each of the slots, those that came first; which, and their begins."""
        numbers = self._copies.find(self._numbered(slots, "closed"))
        self._copies.free(numbers)
        return self._copies.column(VERSION)[numbers], self._copies.column(INSERTED)[numbers]

    def _numbered(self, slots: Ints, counter: str) -> pl.DataFrame:
        """The next copy of each slot, as a counter goes on."""
        counts = self._counts(counter)
        copies = (slots << _SHIFT) | (counts[slots] + ranks(slots))
        np.add.at(counts, slots, 1)
        return pl.DataFrame({_COPY: copies}, schema={_COPY: pl.Int64})

    def _counts(self, counter: str) -> Ints:
        return self._rows.column(counter)

    def _let_go(self, slots: Ints) -> None:
        """Forget rows that have no copy any more."""
        self._rows.free(slots[self._counts("opened")[slots] == self._counts("closed")[slots]])
        moved = self._rows.compact()
        if moved is not None:
            self._renumber(moved)
        self._copies.compact()

    def _renumber(self, moved: Ints) -> None:
        """Know copies by the new slots of their rows."""
        live = np.flatnonzero(self._copies.live)
        old = self._copies.rows(live)[_COPY].to_numpy()
        new = (moved[old >> _SHIFT] << _SHIFT) | (old & ((1 << _SHIFT) - 1))
        values = {name: self._copies.column(name)[live] for name in (VERSION, INSERTED)}
        self._copies = KeyTable(pl.DataFrame(schema={_COPY: pl.Int64}), [_COPY])
        numbers = self._copies.find_or_add(pl.DataFrame({_COPY: new}))
        for name, column in values.items():
            self._copies.column(name)[numbers] = column


def first_versions(rows: pl.DataFrame, next_id: int = 0) -> pl.DataFrame:
    """The versions of the rows that are there at first; those that never hold are left out.

    >>> rows = pl.DataFrame({"k": [7, 8], "#from": [2, 4], "#to": [None, 4]})
    >>> first_versions(rows).rows() == [(7, 0, 2, OPEN_END)]
    True
    """
    ids = np.arange(next_id, next_id + rows.height)
    begins, ends = np.full_like(ids, BEGIN), np.full_like(ids, OPEN_END)
    if INSERTED in rows.columns:
        begins = rows[INSERTED].to_numpy()
        ends = rows[DELETED].fill_null(OPEN_END).to_numpy()
        rows = rows.drop(INSERTED, DELETED)
    versions = _versions(rows, ids, begins, ends)
    return versions.filter(pl.col(INSERTED) < pl.col(DELETED))


def _versions(rows: pl.DataFrame, ids: Ints, begins: Ints, ends: Ints) -> pl.DataFrame:
    given = {VERSION: ids, INSERTED: begins, DELETED: ends}
    return rows.hstack([pl.Series(name, column, pl.Int64) for name, column in given.items()])


def ranks(slots: Ints) -> Ints:
    """How many equal ones are before each.

    >>> ranks(np.array([5, 6, 5, 5])).tolist()
    [0, 0, 1, 2]
    """
    order = slot_order(slots)
    starts = starts_of_runs(slots[order])
    ranks = np.empty(len(slots), dtype=np.int64)
    places = np.arange(len(slots))
    ranks[order] = places - places[starts][np.cumsum(starts) - 1]
    return ranks
