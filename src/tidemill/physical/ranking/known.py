"""The objects that are known: those of which rows are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from tidemill.expressions import compile_items
from tidemill.physical.arrays import Ints
from tidemill.physical.keys import KeyTable, canonical
from tidemill.physical.operator import empty_frame
from tidemill.physical.ranking.keys import is_plain, keys_of

if TYPE_CHECKING:
    from tidemill.physical.ranking.node import RankExec

_ITEM = "item"
_FEWEST = 1024
_SPARE = 2


class Known:
    """Gives every object a small number, its item, that is free again when it is forgotten.

    `seen` counts the rows of every item by stream, `ties` tells which of two items goes first;
    unless they are fixed, those of known objects change when others come.
    """

    def __init__(self, node: RankExec) -> None:
        ranked = node.ranked
        keys = node.child.schema.select(ranked.keys)
        self._names = list(ranked.keys)
        self._table = KeyTable(empty_frame(keys), self._names)
        self._streams = len(ranked.streams)
        self._slots = np.empty(0, np.int64)  # by item
        self._free = np.empty(0, np.int64)
        self.seen = np.zeros((0, self._streams), np.int64)
        self.ties = np.zeros(0, np.int64)
        of_keys = [(n, s) for n, s in ranked.items if s.columns and s.columns <= set(ranked.keys)]
        functions = {function.name.lower(): function for function in node.functions}
        self._order = compile_items(of_keys, keys, functions)
        types = [scalar.type for _, scalar in of_keys]
        self.ties_are_fixed = len(types) == 1 and is_plain(types[0])

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
            room = max(missing, old)
            self._free = np.concatenate([self._free, np.arange(old + room - 1, old - 1, -1)])
            self._slots = np.concatenate([self._slots, np.zeros(room, np.int64)])
            self.ties = np.concatenate([self.ties, np.zeros(room, np.int64)])
            seen = np.zeros((room, self._streams), np.int64)
            self.seen = np.concatenate([self.seen, seen])
        taken, self._free = self._free[-count:], self._free[:-count]
        return taken

    def _put_in_order(self, added: Ints) -> None:
        """Number the ties such that all known objects are in the order of their keys."""
        if self.ties_are_fixed:
            self.ties[added] = keys_of(self._order.run(self.rows(added)).to_series())
            return
        every = np.flatnonzero(self._table.live)
        columns = self._order.run(self._table.rows(every))
        order = columns.select(pl.arg_sort_by(columns.columns, nulls_last=False)).to_series()
        self.ties[self._table.column(_ITEM)[every[order.to_numpy()]]] = np.arange(len(every))

    @property
    def nbytes(self) -> int:
        arrays: Sequence[Ints] = (self._slots, self._free, self.seen, self.ties)
        return self._table.nbytes + sum(array.nbytes for array in arrays)
