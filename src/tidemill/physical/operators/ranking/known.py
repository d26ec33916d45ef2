"""The objects that are known: those with rows that are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from tidemill.expressions import compile_items
from tidemill.physical.mechanisms.arrays import Ints
from tidemill.physical.mechanisms.keys import KeyTable, canonical
from tidemill.physical.operator import empty_frame
from tidemill.physical.operators.topk.order import RowOrder

if TYPE_CHECKING:
    from tidemill.physical.operators.ranking.node import RankExec

_ITEM = "item"
_FEWEST = 1024
_SPARE = 2


class KnownObjects:
    """Gives every object a small number, its item, that is free again when it is forgotten.

    `seen` counts the rows of every item by stream, `ties` tells which of two items goes first.
    """

    STATE = ("_table", "_slots", "_free", "seen", "_order", "renewals", "ties")

    def __init__(self, node: RankExec) -> None:
        ranked = node.ranked
        keys = node.child.schema.select(ranked.keys)
        self._names = list(ranked.keys)
        self._table = KeyTable(empty_frame(keys), self._names)
        self._streams = len(ranked.streams)
        self._slots = np.empty(0, np.int64)  # by item
        self._free = np.empty(0, np.int64)
        self.seen = np.zeros((0, self._streams), np.int64)
        of_keys = [(n, s) for n, s in ranked.items if s.columns and s.columns <= set(ranked.keys)]
        functions = {function.name.lower(): function for function in node.functions}
        self._placed = compile_items(of_keys, keys, functions)
        self._empty = self._placed.run(empty_frame(keys))
        self._order = RowOrder(self._empty, ())
        self.renewals = 0  # how often ties have changed that items had before
        self.ties = np.zeros((0, self._order.depth), np.int64)

    def __len__(self) -> int:
        return self._table.live_count

    @property
    def capacity(self) -> int:
        """All items are smaller."""
        return len(self._slots)

    def find_or_add(self, batch: pl.DataFrame) -> Ints:
        """The items of rows, a new one for an object that is not known."""
        before = len(self._table.live)
        slots = self._table.find_or_add(canonical(batch.select(self._names)))
        added = np.arange(before, len(self._table.live))
        column = self._table.column(_ITEM)
        if len(added):
            column[added] = items = self._take(len(added))
            self._slots[items] = added
            self._put_in_order(items)
        return column[slots]

    def find(self, keys: pl.DataFrame) -> Ints:
        """The items of objects, -1 where one is not known."""
        slots = self._table.find(canonical(keys))
        return np.where(slots < 0, -1, self._table.column(_ITEM)[slots])

    def rows(self, items: Ints) -> pl.DataFrame:
        """The keys of items."""
        return self._table.rows(self._slots[items]).select(self._names)

    def forget(self, items: Ints) -> None:
        """Give items back."""
        self._table.free(self._slots[items])
        self._free = np.concatenate([self._free, items])
        if self._table.compact() is not None:
            numbers = self._table.column(_ITEM)[: self._table.live_count]
            self._slots[numbers] = np.arange(len(numbers))
            self._order = RowOrder(self._empty, ())  # without the objects that are forgotten
            self._renew(numbers)

    def compact(self) -> Ints | None:
        """If few items are in use, number them anew: the old numbers in the new order."""
        if self.capacity <= _SPARE * len(self) + _FEWEST:
            return None
        slots = np.flatnonzero(self._table.live)
        items = self._table.column(_ITEM)[slots]
        self._table.column(_ITEM)[slots] = np.arange(len(items))
        self._slots, self._free = slots, np.empty(0, np.int64)
        self.seen, self.ties = self.seen[items], self.ties[items]
        return items

    def _take(self, count: int) -> Ints:
        missing = count - len(self._free)
        if missing > 0:
            old = len(self._slots)
            # Doubled, so that arrays are not copied for every new object.
            room = max(missing, old)
            # From the largest down, since items are taken from the end: numbers in use stay small.
            self._free = np.concatenate([self._free, np.arange(old + room - 1, old - 1, -1)])
            self._slots = np.concatenate([self._slots, np.zeros(room, np.int64)])
            ties = np.zeros((room, self._order.depth), np.int64)
            self.ties = np.concatenate([self.ties, ties])
            seen = np.zeros((room, self._streams), np.int64)
            self.seen = np.concatenate([self.seen, seen])
        taken, self._free = self._free[-count:], self._free[:-count]
        return taken

    def _put_in_order(self, items: Ints) -> None:
        """Give new items ties, and if there is no room among the others, give all other ties."""
        renewals = self._order.renewals
        self.ties[items] = self._levels(items)
        if self._order.renewals > renewals:
            self._renew(np.setdiff1d(np.arange(self.capacity), self._free))

    def _renew(self, items: Ints) -> None:
        """Give all items their ties anew."""
        self.ties[items] = self._levels(items)
        self.renewals += 1

    def _levels(self, items: Ints) -> Ints:
        return self._order.levels(self._placed.run(self.rows(items)))

    @property
    def nbytes(self) -> int:
        arrays: Sequence[Ints] = (self._slots, self._free, self.seen, self.ties)
        own = self._table.nbytes + self._order.nbytes
        return own + sum(array.nbytes for array in arrays)
