"""Rankings as the text defines them: one arrival at a time, every pair of instances compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

Seen = tuple[int, ...]
"""How often an object was seen in each stream."""

Expected = Callable[[Seen, int], float]
"""How much of the largest value a stream is still expected to bring to an object seen so."""


@dataclass(frozen=True)
class Row:
    """A value of an object."""

    time: int
    stream: int
    value: float


@dataclass(frozen=True)
class Instance:
    """An object without its rows before a time."""

    id: str
    time: int
    current: float
    best: float

    def dominates(self, other: Instance) -> bool:
        """Whether it is the larger one for as long as the other lives."""
        return self.time > other.time and self.current > other.best


@dataclass
class Known:
    """What is remembered of an object."""

    seen: Counter[int] = field(default_factory=Counter)
    rows: list[Row] = field(default_factory=list)
    times: list[int] = field(default_factory=list)  # of its instances


def at_most(most: int) -> Expected:
    """The exact bound: as many more rows as are promised at most, each the largest."""
    return lambda seen, stream: most - seen[stream]


class OneByOne:
    """The instances that are not dominated by k objects, after every arrival.

    The score is the sum of the values times the weight of their stream.
    """

    def __init__(self, k: int, size: int, weights: list[float], expected: Expected) -> None:
        self._k, self._size, self._weights = k, size, weights
        self.expected = expected
        self._known: dict[str, Known] = {}

    def arrive(self, id: str, row: Row) -> None:
        """Take a row that is later than all others."""
        self._expire(row.time)
        known = self._known.setdefault(id, Known())
        known.seen[row.stream] += 1
        known.rows.append(row)
        self._prune()

    def advance(self, now: int) -> None:
        """Let go what the window no longer holds."""
        self._expire(now)
        self._prune()

    def _expire(self, now: int) -> None:
        for known in self._known.values():
            known.rows = [row for row in known.rows if row.time > now - self._size]
        self._known = {id: known for id, known in self._known.items() if known.rows}

    @property
    def instances(self) -> list[Instance]:
        """All that are kept."""
        return [one for one in self._possible() if one.time in self._known[one.id].times]

    def _possible(self) -> list[Instance]:
        """All that the rows allow. (An estimate may rise, so that an instance comes back.)"""
        return [
            self._instance(id, known, row.time)
            for id, known in self._known.items()
            for row in known.rows
        ]

    def first(self, k: int) -> list[str]:
        """The objects with the largest scores; that of an object is its largest one."""
        scores: dict[str, float] = {}
        for instance in self.instances:
            scores[instance.id] = max(instance.current, scores.get(instance.id, 0))
        return sorted(scores, key=lambda id: (-scores[id], id))[:k]

    def _instance(self, id: str, known: Known, time: int) -> Instance:
        rows = [row for row in known.rows if row.time >= time]
        current = sum(row.value * self._weights[row.stream] for row in rows)
        seen = tuple(known.seen[stream] for stream in range(len(self._weights)))
        missing = [w * self.expected(seen, at) for at, w in enumerate(self._weights)]
        return Instance(id, time, current, current + sum(missing))

    def _prune(self) -> None:
        instances = self._possible()
        for known in self._known.values():
            known.times = []
        for instance in instances:
            dominators = {other.id for other in instances if other.dominates(instance)}
            if len(dominators) < self._k:
                self._known[instance.id].times.append(instance.time)
        self._forget()

    def _forget(self) -> None:
        """Rows that no instance needs, and objects that have none."""
        self._known = {id: known for id, known in self._known.items() if known.times}
        for known in self._known.values():
            known.rows = [row for row in known.rows if row.time >= known.times[0]]
