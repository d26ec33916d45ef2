"""Lists of rows by key that grow, in arrays."""

from __future__ import annotations

import numpy as np

from tidemill.physical.mechanisms.arrays import Ints, bisect, ranges, running_max, starts_of_runs
from tidemill.physical.mechanisms.keys import KeyTable
from tidemill.physical.mechanisms.ordering import slot_order


class Numbers:
    """Numbers to which others are added at the end.

    >>> numbers = Numbers()
    >>> numbers.append(np.array([3, 5]))
    >>> numbers.values.tolist(), len(numbers)
    ([3, 5], 2)
    """

    STATE = ("_room", "_length")

    def __init__(self) -> None:
        self._room = np.zeros(0, dtype=np.int64)
        self._length = 0

    def __len__(self) -> int:
        return self._length

    @property
    def values(self) -> Ints:
        """All of them; they can be changed in place."""
        return self._room[: self._length]

    def extend(self, count: int) -> None:
        """Make room for more numbers, to be set later."""
        self._length += count
        if self._length > len(self._room):
            grown = np.zeros(max(self._length, 2 * len(self._room)), dtype=np.int64)
            grown[: len(self._room)] = self._room
            self._room = grown

    def append(self, values: Ints) -> None:
        self.extend(len(values))
        self.values[self._length - len(values) :] = values

    @property
    def nbytes(self) -> int:
        return self._room.nbytes


class RowLists:
    """For every slot of a table a list of rows; `timed` if they have a validity.

    All lists are in one pool. One that outgrows its place moves to the end of the pool, where it
    gets twice the room that it needs: so a row is moved twice on average, at most.
    """

    STATE = ("_rows", "_starts", "_reach", "_in_order")

    def __init__(self, table: KeyTable, timed: bool) -> None:
        self._table = table
        self._timed = timed
        self._rows, self._starts = Numbers(), Numbers()
        self._reach = Numbers()  # the latest end of a row and of all before it in its list
        self._in_order = True  # whether the starts in every list are in order
        self._pool = (self._rows, self._starts, self._reach) if timed else (self._rows,)

    def add(self, slots: Ints, rows: Ints, starts: Ints, ends: Ints) -> None:
        """Add a row to the list of each slot."""
        order = slot_order(slots, starts if self._timed else None)
        slots = slots[order]
        is_first = starts_of_runs(slots)
        firsts = np.flatnonzero(is_first)
        lists, more = slots[firsts], np.diff(firsts, append=len(slots))
        held = self._table.column("count")[lists]
        self._make_room(lists, held, more)
        behind = self._table.column("begin")[lists] + held
        at = ranges(behind, more)
        self._rows.values[at] = rows[order]
        if self._timed:
            self._reach.values[at] = running_max(ends[order], is_first)
            self._starts.values[at] = starts[order]
            self._follow(behind[held > 0], more[held > 0])
        self._table.column("count")[lists] = held + more

    def find(self, slots: Ints, times: Ints) -> tuple[Ints, Ints]:
        """From where in the pool, and how many rows there may hold at these times."""
        low, count = self._table.column("begin")[slots], self._table.column("count")[slots]
        if not self._timed or count.sum() <= 2 * len(slots):
            return low, count
        high = low + count
        if self._in_order:
            high = bisect(self._starts.values, low, high, times + 1)
        low = bisect(self._reach.values, low, high, times + 1)
        return low, high - low

    def rows(self, at: Ints) -> Ints:
        """The rows at places of the pool."""
        return self._rows.values[at]

    @property
    def nbytes(self) -> int:
        return sum(numbers.nbytes for numbers in self._pool)

    def _make_room(self, lists: Ints, held: Ints, more: Ints) -> None:
        begin, room = self._table.column("begin"), self._table.column("room")
        moving = np.flatnonzero(held + more > room[lists])
        lists, held, more = lists[moving], held[moving], more[moving]
        # Most keys have one row for ever; a list that has grown once will grow again.
        size = np.where(held > 0, 2 * (held + more), more)
        there = len(self._rows) + np.cumsum(size) - size
        old, new = ranges(begin[lists], held), ranges(there, held)
        for numbers in self._pool:
            numbers.extend(int(size.sum()))
            numbers.values[new] = numbers.values[old]
        begin[lists], room[lists] = there, size

    def _follow(self, behind: Ints, more: Ints) -> None:
        """Rows come after those that lists had already: take these into account."""
        starts, reach = self._starts.values, self._reach.values
        self._in_order &= bool((starts[behind - 1] <= starts[behind]).all())
        at = ranges(behind, more)
        reach[at] = np.maximum(reach[at], np.repeat(reach[behind - 1], more))
