"""What expires, and when."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from tidemill.physical.mechanisms.arrays import Array, Ints, is_sorted
from tidemill.timeline import OPEN_END

_MOST_RUNS = 6


@dataclass(frozen=True)
class Entries:
    """Entries in order of their time: a slot and numbers that go with it."""

    times: Ints
    slots: Ints
    values: dict[str, Array]

    def __len__(self) -> int:
        return len(self.times)

    def part(self, start: int, stop: int) -> Entries:
        values = {name: column[start:stop] for name, column in self.values.items()}
        return Entries(self.times[start:stop], self.slots[start:stop], values)

    def in_order(self) -> Entries:
        """The entries in order of their time."""
        return self if is_sorted(self.times) else self.take(np.argsort(self.times, kind="stable"))

    def take(self, order: Ints) -> Entries:
        values = {name: column[order] for name, column in self.values.items()}
        return Entries(self.times[order], self.slots[order], values)

    @property
    def nbytes(self) -> int:
        own = self.times.nbytes + self.slots.nbytes
        return own + sum(column.nbytes for column in self.values.values())


def concat(parts: list[Entries]) -> Entries:
    """Entries one after the other; a value that a part lacks is zero there."""
    if not parts:
        return Entries(np.empty(0, np.int64), np.empty(0, np.int64), {})
    if len(parts) == 1:
        return parts[0]
    dtypes = {name: column.dtype for part in parts for name, column in part.values.items()}
    values = {
        name: np.concatenate([_column(part, name, dtype) for part in parts])
        for name, dtype in dtypes.items()
    }
    times = np.concatenate([part.times for part in parts])
    return Entries(times, np.concatenate([part.slots for part in parts]), values)


def _column(part: Entries, name: str, dtype: np.dtype[np.generic]) -> Array:
    return part.values[name] if name in part.values else np.zeros(len(part), dtype=dtype)


class Calendar:
    """Entries, taken out in order of time.

    Entries that come in order are appended to one queue (windows of one size expire first in,
    first out); others start a queue of their own, and queues are merged when there are too many.
    """

    STATE = ("_queues", "_length")

    def __init__(self) -> None:
        self._queues: list[deque[Entries]] = []
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def push(self, entries: Entries) -> None:
        """Add entries, in any order."""
        if len(entries) == 0:
            return
        self._length += len(entries)
        entries = entries.in_order()
        for queue in self._queues:
            if queue[-1].times[-1] <= entries.times[0]:
                queue.append(entries)
                return
        self._queues.append(deque([entries]))
        if len(self._queues) > _MOST_RUNS:
            self._merge_smallest()

    def pop(self, until: int) -> Entries:
        """Remove and return the entries whose time is before `until`."""
        parts = [part for queue in self._queues for part in _pop_queue(queue, until)]
        self._queues = [queue for queue in self._queues if queue]
        due = concat(parts)
        self._length -= len(due)
        return due.in_order()

    @property
    def next(self) -> int:
        """When the first entry expires."""
        return min((int(queue[0].times[0]) for queue in self._queues), default=OPEN_END)

    def renumber(self, moved: Ints) -> None:
        """Follow slots to their new numbers."""
        for queue in self._queues:
            for index, part in enumerate(queue):
                queue[index] = Entries(part.times, moved[part.slots], part.values)

    def adopt(self, other: Calendar, moved: Ints) -> None:
        """Take the entries of another one whose slots have moved here."""
        for part in (part for queue in other._queues for part in queue):
            slots = moved[part.slots]
            self.push(Entries(part.times, slots, part.values).take(np.flatnonzero(slots >= 0)))

    @property
    def nbytes(self) -> int:
        return sum(part.nbytes for queue in self._queues for part in queue)

    def _merge_smallest(self) -> None:
        self._queues.sort(key=lambda queue: sum(map(len, queue)), reverse=True)
        small = [part for queue in self._queues[-2:] for part in queue]
        merged = concat(small)
        self._queues[-2:] = [deque([merged.in_order()])]


def _pop_queue(queue: deque[Entries], until: int) -> list[Entries]:
    due = []
    while queue and queue[0].times[-1] < until:
        due.append(queue.popleft())
    if queue:
        count = int(np.searchsorted(queue[0].times, until))
        if count:
            due.append(queue[0].part(0, count))
            queue[0] = queue[0].part(count, len(queue[0]))
    return due
