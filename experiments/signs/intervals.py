"""The time-interval approach: Algorithms 2 to 14 and 16, row by row.

An element is a row, its start and its end; streams are in the order of starts.
"""

from __future__ import annotations

from bisect import insort
from collections import deque
from collections.abc import Callable, Hashable, Iterable
from heapq import heappop, heappush
from itertools import count
from typing import Any

from experiments.signs.flow import (
    FOR_EVER,
    LONG_AGO,
    Element,
    Filter,
    Key,
    Map,
    Operator,
    Queue,
    Row,
    Union,
)

__all__ = [
    "Coalesce",
    "CountWindow",
    "Distinct",
    "Filter",
    "Grouping",
    "Join",
    "Map",
    "Maximum",
    "TimeWindow",
    "Union",
    "arrival",
    "now",
]


def arrival(row: Row, at: int) -> Element:
    """An element of a raw stream."""
    return (row, at, at + 1)


def now() -> tuple[Operator, ...]:
    """A window of one instant: there is nothing to do."""
    return ()


class TimeWindow(Operator):
    """Every row for so long (Algorithm 12)."""

    def __init__(self, size: int) -> None:
        self._size = size

    def push(self, element: Element) -> None:
        row, start, _ = element
        self.out((row, start, start + self._size))


class HashArea:
    """A sweep area with a hash table to look rows up and a heap of ends to forget them."""

    def __init__(self, key: Key) -> None:
        self._key = key
        self._buckets: dict[Hashable, dict[int, Element]] = {}
        self._ends: list[tuple[int, int, Hashable]] = []
        self._number = count()

    def insert(self, element: Element) -> None:
        key, number = self._key(element[0]), next(self._number)
        self._buckets.setdefault(key, {})[number] = element
        heappush(self._ends, (element[2], number, key))

    def purge(self, start: int) -> None:
        ends = self._ends
        while ends and ends[0][0] <= start:
            _, number, key = heappop(ends)
            bucket = self._buckets[key]
            del bucket[number]
            if not bucket:
                del self._buckets[key]

    def query(self, key: Hashable) -> Iterable[Element]:
        bucket = self._buckets.get(key)
        return bucket.values() if bucket else ()

    def __len__(self) -> int:
        return len(self._ends)


class ListArea:
    """A sweep area that is a list in the order of ends, looked through as a whole."""

    def __init__(self, key: Key) -> None:
        self._key = key
        self._elements: list[Element] = []

    def insert(self, element: Element) -> None:
        insort(self._elements, element, key=_end)

    def purge(self, start: int) -> None:
        gone = 0
        for element in self._elements:
            if element[2] > start:
                break
            gone += 1
        del self._elements[:gone]

    def query(self, key: Hashable) -> Iterable[Element]:
        own = self._key
        return [element for element in self._elements if own(element[0]) == key]

    def __len__(self) -> int:
        return len(self._elements)


def _end(element: Element) -> int:
    return element[2]


class Join(Operator):
    """Rows with equal keys (Algorithm 6), the queue at the output."""

    def __init__(
        self, left: Key, right: Key, combine: Callable[[Row, Row], Row], nested: bool = False
    ) -> None:
        self._keys = (left, right)
        self._combine = combine
        area = ListArea if nested else HashArea
        self._areas = (area(left), area(right))
        self._latest = [LONG_AGO, LONG_AGO]
        self._queue = Queue()

    def left(self, element: Element) -> None:
        for other, start, end in self._matches(0, element):
            self._queue.put((self._combine(element[0], other), start, end))
        self._queue.release(min(self._latest), self.out)

    def right(self, element: Element) -> None:
        for other, start, end in self._matches(1, element):
            self._queue.put((self._combine(other, element[0]), start, end))
        self._queue.release(min(self._latest), self.out)

    def _matches(self, side: int, element: Element) -> list[Element]:
        row, start, end = element
        area = self._areas[1 - side]
        area.purge(start)
        self._areas[side].insert(element)
        self._latest[side] = start
        found = area.query(self._keys[side](row))
        return [(r, max(s, start), min(e, end)) for r, s, e in found if s < end and start < e]

    def close(self) -> None:
        self._queue.release(FOR_EVER, self.out)

    def __len__(self) -> int:
        return len(self._areas[0]) + len(self._areas[1]) + len(self._queue)


class Distinct(Operator):
    """Every row once (Algorithm 7)."""

    def __init__(self) -> None:
        self._until: dict[Row, int] = {}
        self._ends: list[tuple[int, Row]] = []
        self._queue = Queue()

    def push(self, element: Element) -> None:
        row, start, end = element
        self._purge(start)
        self._queue.release(start, self.out)
        held = self._until.get(row)
        if held is None:
            self.out(element)
        elif held < end:
            self._queue.put((row, held, end))
        else:
            return
        self._until[row] = end
        heappush(self._ends, (end, row))

    def _purge(self, start: int) -> None:
        ends = self._ends
        while ends and ends[0][0] <= start:
            end, row = heappop(ends)
            if self._until[row] == end:
                del self._until[row]

    def close(self) -> None:
        self._queue.release(FOR_EVER, self.out)

    def __len__(self) -> int:
        return len(self._until) + len(self._queue)


Partial = tuple[int, int, Any]


class Partials:
    """Partial aggregates of adjacent intervals, in the order of time (Algorithm 9)."""

    def __init__(self) -> None:
        self.parts: list[Partial] = []

    def update(self, value: Any, start: int, end: int, merge: Callable[[Any, Any], Any]) -> None:
        parts = self.parts
        first = 0
        while first < len(parts) and parts[first][1] <= start:
            first += 1
        last, new, reached = first, [], start
        while last < len(parts) and parts[last][0] < end:
            since, until, held = parts[last]
            if since < start:
                new.append((since, start, held))
                since = start
            if until <= end:
                new.append((since, until, merge(held, value)))
            else:
                new.append((since, end, merge(held, value)))
                new.append((end, until, held))
            reached = until
            last += 1
        if reached < end:
            new.append((reached, end, value))
        parts[first:last] = new

    def extract(self, start: int) -> list[Partial]:
        """Take out what no later element can change."""
        parts = self.parts
        done = 0
        while done < len(parts) and parts[done][1] <= start:
            done += 1
        finished = parts[:done]
        del parts[:done]
        return finished


class Maximum(Operator):
    """The largest value of all rows (Algorithm 9)."""

    def __init__(self, value: Key) -> None:
        self._value = value
        self._area = Partials()

    def push(self, element: Element) -> None:
        row, start, end = element
        self._area.update(self._value(row), start, end, max)
        self._give(start)

    def _give(self, until: int) -> None:
        for start, end, held in self._area.extract(until):
            self.out(((held,), start, end))

    def close(self) -> None:
        self._give(FOR_EVER)

    def __len__(self) -> int:
        return len(self._area.parts)


FUNCTIONS: dict[str, tuple[Callable[[Any], Any], Callable[[Any, Any], Any], Callable[[Any], Any]]]
FUNCTIONS = {
    "max": (lambda value: value, max, lambda held: held),
    "count": (lambda value: 1, lambda one, other: one + other, lambda held: held),
    "avg": (
        lambda value: (value, 1),
        lambda one, other: (one[0] + other[0], one[1] + other[1]),
        lambda held: held[0] / held[1],
    ),
}
"""Of an aggregate: what it begins with, how two parts are put together, and its value."""


class Grouping(Operator):
    """An aggregate of every group (Algorithm 10)."""

    def __init__(self, group: Callable[[Row], Row], value: Key, function: str) -> None:
        self._group, self._value = group, value
        self._begin, self._merge, self._end = FUNCTIONS[function]
        self._areas: dict[Row, Partials] = {}
        self._order: list[tuple[int, int, Row]] = []
        self._number = count()
        self._queue = Queue()

    def push(self, element: Element) -> None:
        row, start, end = element
        group = self._group(row)
        area = self._areas.get(group)
        if area is None:
            area = self._areas[group] = Partials()
            heappush(self._order, (start, next(self._number), group))
        area.update(self._begin(self._value(row)), start, end, self._merge)
        self._give(start)

    def _give(self, until: int) -> None:
        """Take out what is finished, group by group, as long as the oldest part is finished."""
        order = self._order
        while order:
            group = order[0][2]
            area = self._areas[group]
            if area.parts[0][1] > until:
                break
            heappop(order)
            for start, end, held in area.extract(until):
                self._queue.put(((*group, self._end(held)), start, end))
            if area.parts:
                heappush(order, (area.parts[0][0], next(self._number), group))
            else:
                del self._areas[group]
        self._queue.release(order[0][0] if order else FOR_EVER, self.out)

    def close(self) -> None:
        self._give(FOR_EVER)

    def __len__(self) -> int:
        return sum(len(area.parts) for area in self._areas.values()) + len(self._queue)


class CountWindow(Operator):
    """The newest rows of every group (Algorithms 13 and 14)."""

    def __init__(self, size: int, group: Key = lambda row: ()) -> None:
        self._size, self._group = size, group
        self._newest: dict[Hashable, deque[Element]] = {}
        self._order: list[tuple[int, int, Hashable]] = []
        self._number = count()
        self._queue = Queue()

    def push(self, element: Element) -> None:
        group = self._group(element[0])
        rows = self._newest.get(group)
        if rows is None:
            rows = self._newest[group] = deque()
            heappush(self._order, (element[1], next(self._number), group))
        rows.append(element)
        if len(rows) > self._size:
            row, start, _ = rows.popleft()
            self._queue.put((row, start, element[1]))
            self._queue.release(self._oldest(), self.out)

    def _oldest(self) -> int:
        """The start of the oldest row that is held; entries that are out of date are renewed."""
        order = self._order
        while True:
            start, _, group = order[0]
            oldest = self._newest[group][0][1]
            if oldest == start:
                return start
            heappop(order)
            heappush(order, (oldest, next(self._number), group))

    def close(self) -> None:
        for rows in self._newest.values():
            for row, start, _ in rows:
                self._queue.put((row, start, FOR_EVER))
        self._queue.release(FOR_EVER, self.out)

    def __len__(self) -> int:
        return sum(map(len, self._newest.values())) + len(self._queue)


class Coalesce(Operator):
    """Equal rows one after the other as one (Algorithm 16), for a stream of one row at a time."""

    def __init__(self) -> None:
        self._held: Element | None = None

    def push(self, element: Element) -> None:
        held = self._held
        if held and held[0] == element[0] and held[2] == element[1]:
            element = (held[0], held[1], element[2])
        elif held:
            self.out(held)
        self._held = element

    def close(self) -> None:
        if self._held:
            self.out(self._held)
            self._held = None

    def __len__(self) -> int:
        return self._held is not None
