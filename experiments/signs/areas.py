"""Other structures for a join of intervals: what keeps ends, and where rows are put in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable
from itertools import count

from experiments.signs.flow import FOR_EVER, LONG_AGO, Element, Key, Row
from experiments.signs.intervals import HashArea, Join

Combine = Callable[[Row, Row], Row]


class FifoArea(HashArea):
    """A sweep area for rows that end in the order in which they come: a list instead of a heap."""

    def __init__(self, key: Key) -> None:
        self._key = key
        self._buckets: dict[Hashable, dict[int, Element]] = {}
        self._order: deque[tuple[int, int, Hashable]] = deque()
        self._number = count()

    def insert(self, element: Element) -> None:
        key, number = self._key(element[0]), next(self._number)
        self._buckets.setdefault(key, {})[number] = element
        self._order.append((element[2], number, key))

    def purge(self, start: int) -> None:
        order = self._order
        while order and order[0][0] <= start:
            _, number, key = order.popleft()
            bucket = self._buckets[key]
            del bucket[number]
            if not bucket:
                del self._buckets[key]

    def __len__(self) -> int:
        return len(self._order)


class QueuedJoin(Join):
    """The join of Algorithm 6 that tells how many elements its queue has."""

    @property
    def queued(self) -> int:
        return len(self._queue)


class FifoJoin(QueuedJoin):
    """A join for inputs whose rows end in the order in which they come."""

    def __init__(self, left: Key, right: Key, combine: Combine) -> None:
        super().__init__(left, right, combine)
        self._areas = (FifoArea(left), FifoArea(right))


class InputQueueJoin(QueuedJoin):
    """The queue at the input: rows are joined in the order of their starts, as are results."""

    def __init__(self, left: Key, right: Key, combine: Combine) -> None:
        super().__init__(left, right, combine)
        self._newest = [LONG_AGO, LONG_AGO]

    def left(self, element: Element) -> None:
        self._put(0, element)

    def right(self, element: Element) -> None:
        self._put(1, element)

    def _put(self, side: int, element: Element) -> None:
        row, start, end = element
        self._queue.put(((side, row), start, end))
        self._newest[side] = start
        self._queue.release(min(self._newest), self._join)

    def _join(self, queued: Element) -> None:
        (side, row), start, end = queued
        for other, first, last in self._matches(side, (row, start, end)):
            pair = (row, other) if side == 0 else (other, row)
            self.out((self._combine(*pair), first, last))

    def close(self) -> None:
        self._queue.release(FOR_EVER, self._join)
