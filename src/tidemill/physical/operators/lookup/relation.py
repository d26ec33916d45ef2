"""The rows of a relation, kept so that they are found by key and time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from tidemill.algebra.nodes import SourceKind
from tidemill.algebra.schema import Schema
from tidemill.physical.mechanisms.arrays import Array, Bools, Ints, blocks, ranges
from tidemill.physical.mechanisms.hash_index import HashIndex
from tidemill.physical.mechanisms.keys import KeyColumns, KeyTable
from tidemill.physical.mechanisms.pairs import MOST_PAIRS
from tidemill.physical.mechanisms.rows import RowStore
from tidemill.physical.operator import Own, empty_frame, ends, owned, payload, starts, with_validity
from tidemill.physical.operators.lookup.bounds import LookupBound
from tidemill.physical.operators.lookup.lists import Numbers, RowLists
from tidemill.timeline import BEGIN, OPEN_END

_FREE = 4096  # rows that every step may look through in any case


class Relation:
    """Rows that were inserted, until they have ended and are not needed any more.

    A batch may bring the end of a row that is there: a row with the same `version` that starts
    and ends there. Rows of a constant relation have no end and stay for ever.
    """

    STATE = ("_credit", "_rows", "_starts", "_ends", "_table", "_lists", "_versions", "_row_of")

    def __init__(
        self,
        schema: Schema,
        keys: Sequence[str],
        null_safe: Sequence[bool],
        source: SourceKind,
        version: str | None = None,
        bound: LookupBound | None = None,
    ) -> None:
        self.bound = None if keys else bound
        self._empty = empty_frame(schema)
        self._keys = KeyColumns(keys, null_safe)
        self.is_constant = source is SourceKind.CONSTANT
        self._version = version
        self._credit = 0
        self._clear()

    def _clear(self) -> None:
        self._rows = RowStore(self._empty)
        self._starts, self._ends = Numbers(), Numbers()
        keys = self._keys.values(self._empty)
        self._table = KeyTable(keys, keys.columns)
        self._lists = RowLists(self._table, timed=not self.is_constant)
        self._versions = HashIndex()
        self._row_of = Numbers()  # by slot of the index of versions
        self._in_order: tuple[Ints, Array] | None = None

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def columns(self) -> list[str]:
        return self._empty.columns

    def arrive(self, batch: pl.DataFrame) -> None:
        """Take in new rows, and the ends of rows."""
        batch = self._keys.complete(batch)
        if self._version is None:
            self._insert(batch)
            return
        closing = starts(batch) == ends(batch)
        self._insert(batch.filter(~closing) if closing.any() else batch)
        if closing.any():
            self._close(batch.filter(closing))

    def _insert(self, batch: pl.DataFrame) -> None:
        if batch.height == 0:
            return
        self._in_order = None
        rows = np.arange(len(self), len(self) + batch.height)
        if self._version is not None:
            slots, added = self._versions.find_or_add(_versions(batch, self._version))
            self._row_of.extend(len(added))
            self._row_of.values[slots] = rows
        if self._keys:
            slots = self._table.find_or_add(self._keys.values(batch))
            self._lists.add(slots, rows, starts(batch), ends(batch))
        self._rows.append(payload(batch))
        if not self.is_constant:
            self._starts.append(starts(batch))
            self._ends.append(ends(batch))

    def _close(self, batch: pl.DataFrame) -> None:
        assert self._version is not None
        slots = self._versions.find(_versions(batch, self._version))
        known = slots >= 0  # others were never there, or were forgotten
        rows = self._row_of.values[slots[known]]
        self._ends.values[rows] = np.minimum(self._ends.values[rows], ends(batch)[known])

    def has(self, keys: pl.DataFrame) -> Bools:
        """Whether there are rows with these keys, whenever they hold."""
        found: Bools = self._table.find(keys) >= 0
        return found

    def pairs(
        self, keys: pl.DataFrame, times: Ints, bounds: Array | None = None
    ) -> Iterator[tuple[Ints, Ints]]:
        """Numbers of keys, and of rows with these keys that hold at these times; in blocks.

        Without keys, of rows that the `bounds` leave, which are values for the bound.
        """
        ordered = None if bounds is None else self._ordered()
        if ordered is None or bounds is None or self.bound is None:
            at, low, count = self._candidates(keys, times)
        else:
            at, (low, count) = np.arange(len(times)), self.bound.part(ordered[1], bounds)
        for here in blocks(count, MOST_PAIRS):
            ones, rows = np.repeat(at[here], count[here]), ranges(low[here], count[here])
            if self._keys:
                rows = self._lists.rows(rows)
            elif ordered is not None:
                rows = ordered[0][rows]
            if self.is_constant:
                yield ones, rows
                continue
            start, end, time = self._starts.values[rows], self._ends.values[rows], times[ones]
            holding = (start <= time) & (time < end)
            yield ones[holding], rows[holding]

    def _candidates(self, keys: pl.DataFrame, times: Ints) -> tuple[Ints, Ints, Ints]:
        """Which keys may have partners, and from where and how many."""
        if not self._keys:
            every = np.arange(len(times))
            return every, np.zeros_like(every), np.full_like(every, len(self))
        slots = self._table.find(keys)
        at = np.flatnonzero(slots >= 0)
        return at, *self._lists.find(slots[at], times[at])

    def _ordered(self) -> tuple[Ints, Array] | None:
        """The rows in the order of the bound, and their values; None if one has no value."""
        if self._in_order is None and self.bound is not None:
            column = self.take(np.arange(len(self)), [self.bound.theirs])[self.bound.theirs]
            if column.null_count():
                return None
            order = np.argsort(column.to_numpy(), kind="stable")
            self._in_order = order, column.to_numpy()[order]
        return self._in_order

    def take(self, rows: Ints, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """The rows of these numbers, all columns or some."""
        return self._rows.take(rows, columns)

    def forget(self, until: int, work: int) -> None:
        """Forget rows that ended before `until` once that costs no more than was worked."""
        self._credit += work + _FREE
        if self.is_constant or self._credit < len(self):
            return
        self._credit = 0
        kept = np.flatnonzero(self._ends.values > until)
        if 2 * len(kept) > len(self) or len(self) == 0:
            return
        start, end = self._starts.values[kept], self._ends.values[kept]
        rows = with_validity(self.take(kept), start, end)
        self._clear()
        self._insert(rows)

    def share(self, others: Sequence[Relation], own: Sequence[Own]) -> None:
        """See `Operator.share`."""
        self._insert(owned([other._all for other in others], own))

    @property
    def _all(self) -> pl.DataFrame:
        """All rows with their validity."""
        every = np.arange(len(self))
        if self.is_constant:
            return with_validity(self.take(every), every * 0 + BEGIN, every * 0 + OPEN_END)
        return with_validity(self.take(every), self._starts.values, self._ends.values)

    @property
    def nbytes(self) -> int:
        validity = self._starts.nbytes + self._ends.nbytes
        versions = self._versions.nbytes + self._row_of.nbytes
        return self._rows.nbytes + validity + self._table.nbytes + self._lists.nbytes + versions


def _versions(batch: pl.DataFrame, version: str) -> Array:
    """Numbers that no two versions share are their own hashes."""
    return batch[version].to_numpy().view(np.uint64)
