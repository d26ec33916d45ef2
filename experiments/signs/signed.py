"""The positive-negative approach: the same operators on rows that come (+1) and go (-1).

An element is a row, an instant and a sign; streams are in the order of instants.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Callable, Hashable, Iterable
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
    return (row, at, 1)


def now() -> tuple[Operator, ...]:
    """A window of one instant: it, too, must take back what it gave."""
    return (TimeWindow(1),)


class TimeWindow(Operator):
    """Every row at once, and its negative when it expires: in the order in which rows came."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._waiting: deque[Element] = deque()

    def push(self, element: Element) -> None:
        row, at, _ = element
        self._expire(at)
        self.out(element)
        self._waiting.append((row, at + self._size, -1))

    def _expire(self, until: int) -> None:
        waiting = self._waiting
        while waiting and waiting[0][1] <= until:
            self.out(waiting.popleft())

    def close(self) -> None:
        self._expire(FOR_EVER)

    def __len__(self) -> int:
        return len(self._waiting)


class HashState:
    """Rows by their key, and how often each is there."""

    def __init__(self, key: Key) -> None:
        self._buckets: dict[Hashable, dict[Row, int]] = {}
        self._size = 0

    def add(self, key: Hashable, row: Row, sign: int) -> None:
        bucket = self._buckets.setdefault(key, {})
        times = bucket.get(row, 0) + sign
        self._size += sign
        if times:
            bucket[row] = times
            return
        del bucket[row]
        if not bucket:
            del self._buckets[key]

    def query(self, key: Hashable) -> Iterable[tuple[Row, int]]:
        bucket = self._buckets.get(key)
        return bucket.items() if bucket else ()

    def __len__(self) -> int:
        return self._size


class ScannedState:
    """Rows in a hash table, for insertion and removal; looked through from one end to the other."""

    def __init__(self, key: Key) -> None:
        self._key = key
        self._rows: dict[Row, int] = {}
        self._size = 0

    def add(self, key: Hashable, row: Row, sign: int) -> None:
        times = self._rows.get(row, 0) + sign
        self._size += sign
        if times:
            self._rows[row] = times
        else:
            del self._rows[row]

    def query(self, key: Hashable) -> Iterable[tuple[Row, int]]:
        own = self._key
        return [(row, times) for row, times in self._rows.items() if own(row) == key]

    def __len__(self) -> int:
        return self._size


class Join(Operator):
    """Rows with equal keys, the queue at the input: a negative must find its positive."""

    def __init__(
        self, left: Key, right: Key, combine: Callable[[Row, Row], Row], nested: bool = False
    ) -> None:
        self._keys = (left, right)
        self._combine = combine
        state = ScannedState if nested else HashState
        self._states = (state(left), state(right))
        self._latest = [LONG_AGO, LONG_AGO]
        self._queue = Queue()

    def left(self, element: Element) -> None:
        self._push(0, element)

    def right(self, element: Element) -> None:
        self._push(1, element)

    def _push(self, side: int, element: Element) -> None:
        self._queue.put(((side, element), element[1], 0))
        self._latest[side] = element[1]
        self._queue.release(min(self._latest), self._meet)

    def _meet(self, queued: Element) -> None:
        side, (row, at, sign) = queued[0]  # type: ignore[misc]
        key = self._keys[side](row)
        self._states[side].add(key, row, sign)
        for other, times in self._states[1 - side].query(key):
            joined = self._combine(other, row) if side else self._combine(row, other)
            for _ in range(times):
                self.out((joined, at, sign))

    def close(self) -> None:
        self._queue.release(FOR_EVER, self._meet)

    def __len__(self) -> int:
        return len(self._states[0]) + len(self._states[1]) + len(self._queue)


class Distinct(Operator):
    """Every row once: positive when the first comes, negative when the last goes."""

    def __init__(self) -> None:
        self._times: dict[Row, int] = {}

    def push(self, element: Element) -> None:
        row, _, sign = element
        times = self._times.get(row, 0) + sign
        if times:
            self._times[row] = times
        else:
            del self._times[row]
        if times + (sign < 0) == 1:
            self.out(element)

    def __len__(self) -> int:
        return len(self._times)


class LargestOrdered:
    """The values that are there, in order: the largest is the last."""

    def __init__(self) -> None:
        self._values: list[Any] = []

    def add(self, value: Any, sign: int) -> None:
        if sign > 0:
            insort(self._values, value)
        else:
            del self._values[bisect_left(self._values, value)]

    def result(self) -> Any:
        return self._values[-1]

    def __len__(self) -> int:
        return len(self._values)


class LargestRecomputed:
    """The values that are there, in a hash table; when one goes, all the others are looked at."""

    def __init__(self) -> None:
        self._times: dict[Any, int] = {}
        self._largest: Any = None

    def add(self, value: Any, sign: int) -> None:
        times = self._times.get(value, 0) + sign
        if times:
            self._times[value] = times
        else:
            del self._times[value]
        if sign < 0:
            self._largest = max(self._times, default=None)
        elif self._largest is None or value > self._largest:
            self._largest = value

    def result(self) -> Any:
        return self._largest

    def __len__(self) -> int:
        return len(self._times)


class Counted:
    """A number of rows and a sum: what goes is subtracted."""

    def __init__(self) -> None:
        self.rows, self.total = 0, 0.0

    def add(self, value: Any, sign: int) -> None:
        self.rows += sign

    def result(self) -> Any:
        return self.rows

    def __len__(self) -> int:
        return int(self.rows > 0)


class Averaged(Counted):
    def add(self, value: Any, sign: int) -> None:
        self.rows += sign
        self.total += sign * value

    def result(self) -> Any:
        return self.total / self.rows


FUNCTIONS = {
    "max": LargestOrdered,
    "recomputed": LargestRecomputed,
    "count": Counted,
    "avg": Averaged,
}


class Grouping(Operator):
    """An aggregate of every group, when the time goes on: other rows of the instant may follow."""

    def __init__(self, group: Callable[[Row], Row], value: Key, function: str) -> None:
        self._group, self._value = group, value
        self._function = FUNCTIONS[function]
        self._states: dict[Row, Any] = {}
        self._given: dict[Row, Row] = {}
        self._touched: dict[Row, None] = {}
        self._at = LONG_AGO

    def push(self, element: Element) -> None:
        row, at, sign = element
        if at > self._at:
            self._give()
            self._at = at
        group = self._group(row)
        state = self._states.get(group)
        if state is None:
            state = self._states[group] = self._function()
        state.add(self._value(row), sign)
        self._touched[group] = None

    def _give(self) -> None:
        for group in self._touched:
            before = self._given.pop(group, None)
            if before is not None:
                self.out((before, self._at, -1))
            state = self._states[group]
            if len(state):
                result = self._given[group] = (*group, state.result())
                self.out((result, self._at, 1))
            else:
                del self._states[group]
        self._touched.clear()

    def close(self) -> None:
        self._give()

    def __len__(self) -> int:
        return sum(map(len, self._states.values()))


class Maximum(Grouping):
    """The largest value of all rows."""

    def __init__(self, value: Key, function: str = "max") -> None:
        super().__init__(lambda row: (), value, function)


class CountWindow(Operator):
    """The newest rows of every group: each at once, its negative when it is one too many."""

    def __init__(self, size: int, group: Key = lambda row: ()) -> None:
        self._size, self._group = size, group
        self._newest: dict[Hashable, deque[Row]] = {}

    def push(self, element: Element) -> None:
        row, at, sign = element
        if sign < 0:  # the window alone decides when rows of a derived stream expire
            return
        rows = self._newest.setdefault(self._group(row), deque())
        if len(rows) == self._size:
            self.out((rows.popleft(), at, -1))
        rows.append(row)
        self.out(element)

    def __len__(self) -> int:
        return sum(map(len, self._newest.values()))
