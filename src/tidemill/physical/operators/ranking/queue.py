"""The rows of a window, first in and first out, and the rows of single items among them."""

from __future__ import annotations

import numpy as np

from tidemill.physical.mechanisms.arrays import Array, Ints, starts_of_runs
from tidemill.physical.mechanisms.ordering import slot_order
from tidemill.physical.operators.ranking.kernel.chains import chain_lengths, chain_rows
from tidemill.physical.operators.ranking.rows import Objects, RankingRows, ScoreColumn, new_rows

_KEPT = ("item", "time", "place", "stream")


class Queue:
    """Rows in the order of time, numbered on from 0; they go in the same order.

    A row goes with the number of the row before it of the same item, and with a value for every
    call, which may change while the row is kept.
    """

    STATE = ("_arrays", "_values", "_base", "_last", "first", "next")

    def __init__(self, empty: RankingRows, calls: int) -> None:
        self._arrays: list[Array] = [np.empty(1, np.int64) for _ in range(len(_KEPT) + 1)]
        self._arrays += [np.empty(1, part.dtype) for column in empty.columns for part in column]
        self._values = np.empty((calls, 1), np.int64)
        self._base = 0  # the number of the row that is at the first place
        self._last = np.empty(0, np.int64)  # row of every item
        self.first = 0
        self.next = 0

    def __len__(self) -> int:
        return self.next - self.first

    def append(self, rows: RankingRows, items: int) -> None:
        """Add rows; all items are smaller than `items`."""
        room = np.full(max(items - len(self._last), 0), -1)
        self._last = np.concatenate([self._last, room]) if len(room) else self._last
        self._reserve(len(rows))
        place = slice(self.next - self._base, self.next - self._base + len(rows))
        parts = [getattr(rows, name) for name in _KEPT] + [self._link(rows.item)]
        parts += [part for column in rows.columns for part in column]
        for array, part in zip(self._arrays, parts, strict=True):
            array[place] = part
        self.next += len(rows)

    def _link(self, items: Ints) -> Ints:
        """The row before each new one of the same item."""
        order = slot_order(items)
        numbers, items = self.next + order, items[order]
        before = np.empty_like(order)
        before[1:] = numbers[:-1]
        starts = starts_of_runs(items)
        before[starts] = self._last[items[starts]]
        self._last[items] = numbers  # the last one of an item stays
        linked = np.empty_like(order)
        linked[order] = before
        return linked

    def _reserve(self, rows: int) -> None:
        """Make room at the end, of places that are free at the front if there are many."""
        begin, end = self.first - self._base, self.next - self._base
        room = self._values.shape[1]
        if end + rows <= room:
            return
        size = end - begin
        # Twice what is needed: else every tick would move the rows that stay.
        extra = 0 if 2 * (size + rows) <= room else 2 * (size + rows) - size
        kept = slice(begin, end)
        fill = max(room - size, extra)
        self._arrays = [np.append(a[kept], np.empty(fill, a.dtype)) for a in self._arrays]
        values = np.empty((len(self._values), fill), np.int64)
        self._values = np.append(self._values[:, kept], values, axis=1)
        self._base = self.first

    def drop_before(self, place: int) -> None:
        """Let all rows before a place go."""
        self.first += len(self.items_before(place))

    def renumber(self, items: Ints, moved: Ints) -> None:
        """Go on with the new numbers of items; of all others there is no row."""
        part = self._part("item")
        part[:] = moved[part]
        self._last = self._last[items]

    def items_before(self, place: int) -> Ints:
        """The items of all rows before a place."""
        count = int(np.searchsorted(self._part("place"), place))
        return self._part("item")[:count]

    def _part(self, name: str) -> Ints:
        return self._arrays[_KEPT.index(name)][self.first - self._base : self.next - self._base]

    def objects(self, items: Ints, new: int) -> Objects:
        """The rows of some items, given in order; those from number `new` on are the new ones."""
        previous, last = self._arrays[len(_KEPT)], self._last
        lengths = np.empty(len(items), np.int64)
        chain_lengths(items, last, previous, self._base, self.first, lengths)
        bound = np.cumsum(lengths)
        begin = bound - lengths
        numbers = np.empty(int(lengths.sum()), np.int64)
        chain_rows(items, last, previous, self._base, begin, bound, numbers)
        old = np.concatenate([[0], np.cumsum(numbers < new)])
        return Objects(self.take(numbers), numbers, begin, begin + old[bound] - old[begin], bound)

    def take(self, numbers: Ints) -> RankingRows:
        """The rows of these numbers."""
        parts = [array[numbers - self._base] for array in self._arrays]
        item, time, place, stream, _, *columns = parts
        pairs = zip(columns[::2], columns[1::2], strict=True)
        return new_rows(item, time, place, stream, [ScoreColumn(*pair) for pair in pairs])

    def of(self, name: str, numbers: Ints) -> Ints:
        """The items, times, places or streams of rows."""
        return self._arrays[_KEPT.index(name)][numbers - self._base]

    def values(self, call: int, numbers: Ints) -> Ints:
        """The values of rows for a call."""
        values: Ints = self._values[call, numbers - self._base]
        return values

    def set_values(self, call: int, numbers: Ints, values: Ints) -> None:
        """Give rows other values for a call."""
        self._values[call, numbers - self._base] = values

    @property
    def nbytes(self) -> int:
        arrays = [*self._arrays, self._values, self._last]
        return sum(array.nbytes for array in arrays)
