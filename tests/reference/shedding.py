"""Star joins under a bound of memory, run step by step; which rows stay is not a matter of meaning.

An instant has five parts: rows expire; rows that the relation has forsaken go; arriving rows that
match nothing in it are left out; every stream drops the rows of least priority that it has no
room for; what arrived meets what arrived or is still there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any

from tidemill.algebra import Policy, Shedding

Key = tuple[Any, ...]
"""The values of the key columns; with a NULL among them it matches nothing."""


@dataclass(frozen=True, eq=False)
class StreamRow:
    """A row that arrives and may meet others until its end.

    `lot` is a number that its content decides: by it, rows that arrive together and that the
    policy cannot tell apart are put in order.
    """

    arrival: int
    end: int
    key: Key
    importance: float = 1.0
    row: Any = None
    lot: int = 0


@dataclass(frozen=True, eq=False)
class Version:
    """A row of the relation from its insertion to its deletion, with a key for every stream."""

    keys: tuple[Key, ...]
    begin: int
    end: int
    row: Any = None

    def meets(self, stream: int, row: StreamRow) -> bool:
        """Whether it is active when a row arrives, and matches it."""
        known = all(None not in key for key in self.keys)
        return known and self.begin <= row.arrival < self.end and self.keys[stream] == row.key


@dataclass(frozen=True)
class Result:
    """A row of each stream, and the row of the relation through which they meet."""

    rows: tuple[StreamRow, ...]
    version: Version

    @property
    def importance(self) -> float:
        return min(row.importance for row in self.rows)

    @property
    def validity(self) -> tuple[int, int]:
        return max(row.arrival for row in self.rows), min(row.end for row in self.rows)


@dataclass(eq=False)
class Candidate:
    """A row that is stored or asks for a place, as its stream judges it."""

    stream: int
    row: StreamRow
    versions: frozenset[Version]
    priority: float = 0.0
    matches: int = 0


@dataclass
class Step:
    """What happened at an instant."""

    instant: int
    expired: list[StreamRow] = field(default_factory=list)
    outdated: list[StreamRow] = field(default_factory=list)
    filtered: list[StreamRow] = field(default_factory=list)
    priorities: dict[StreamRow, float] = field(default_factory=dict)
    dropped: list[StreamRow] = field(default_factory=list)
    windows: list[list[StreamRow]] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)


def run_shedding(
    streams: Sequence[Sequence[StreamRow]], relation: Sequence[Version], shedding: Shedding
) -> list[Step]:
    """All instants at which rows arrive, in their order.

    >>> left, right = StreamRow(1, 5, ("a",), 3.0), StreamRow(2, 6, ("b",), 4.0)
    >>> fact = Version((("a",), ("b",)), 0, 9)
    >>> steps = run_shedding([[left], [right]], [fact], Shedding(2, ("x", "y")))
    >>> [(step.instant, [result.importance for result in step.results]) for step in steps]
    [(1, []), (2, [3.0])]
    """
    run = _Run(len(streams), relation, shedding)
    instants = sorted({row.arrival for stream in streams for row in stream})
    return [
        run.step(t, [[row for row in stream if row.arrival == t] for stream in streams])
        for t in instants
    ]


def matches(candidate: Candidate, present: Sequence[Sequence[Candidate]]) -> int:
    """The number of results with rows of the other streams that are present."""
    others = [rows for stream, rows in enumerate(present) if stream != candidate.stream]
    return sum(
        prod(sum(version in other.versions for other in rows) for rows in others)
        for version in candidate.versions
    )


def is_outdated(candidate: Candidate, t: int) -> bool:
    """Rule (8): all that it matched in the relation was deleted."""
    return all(version.end <= t for version in candidate.versions)


def first_priority(shedding: Shedding, row: StreamRow, matches: int) -> float:
    """The priority of a row that arrives."""
    match shedding.policy:
        case Policy.SIMP:
            return row.importance
        case Policy.RANDOM:
            return float(row.lot)
        case Policy.SEMANTIC:
            return float(matches)
        case Policy.DGL:
            return max(0.0, row.importance * matches)
        case _:
            return row.importance * matches


def later_priority(
    shedding: Shedding, candidate: Candidate, matches: int, t: int, before: int, gives: bool
) -> float:
    """The priority of a stored row, which had its last one at the instant `before`."""
    match shedding.policy:
        case Policy.DIMPPROB | Policy.SEMANTIC:
            return first_priority(shedding, candidate.row, matches)
        case Policy.DGL:
            fallen = t - before - 1 if gives else t - before
            priority = max(0.0, candidate.priority - shedding.beta * fallen)
            if gives:
                left = candidate.row.end - t
                priority += candidate.row.importance * matches * left / shedding.alpha
            return max(0.0, priority)
        case _:
            return candidate.priority


def order_of_going(policy: Policy, candidate: Candidate) -> tuple[float, ...]:
    """Compares as rows go: the first one is dropped first."""
    row = candidate.row
    ties = (row.arrival, row.lot)
    if policy is Policy.SIMP:
        return (candidate.priority, *ties)
    return (candidate.priority, row.importance, candidate.matches, *ties)


class _Run:
    """The windows of all streams, and the instant that was looked at last."""

    def __init__(self, streams: int, relation: Sequence[Version], shedding: Shedding) -> None:
        self._relation = relation
        self._shedding = shedding
        self._share = shedding.rows // streams if streams > 1 else 0
        self._windows: list[list[Candidate]] = [[] for _ in range(streams)]
        self._before = 0

    def step(self, t: int, arrivals: Sequence[Sequence[StreamRow]]) -> Step:
        step = Step(t)
        self._remove(t, step)
        arriving = self._admit(arrivals, step)
        self._assess(t, arriving, step)
        self._evict(arriving, step)
        step.results = list(self._results(arriving))
        self._keep(arriving, step)
        self._before = t
        return step

    def _remove(self, t: int, step: Step) -> None:
        for number, window in enumerate(self._windows):
            alive = [c for c in window if c.row.end > t]
            step.expired += [c.row for c in window if c.row.end <= t]
            step.outdated += [c.row for c in alive if is_outdated(c, t)]
            self._windows[number] = [c for c in alive if not is_outdated(c, t)]

    def _admit(self, arrivals: Sequence[Sequence[StreamRow]], step: Step) -> list[list[Candidate]]:
        arriving: list[list[Candidate]] = [[] for _ in arrivals]
        for stream, rows in enumerate(arrivals):
            for row in rows:
                versions = frozenset(v for v in self._relation if v.meets(stream, row))
                if versions:
                    arriving[stream].append(Candidate(stream, row, versions))
                else:
                    step.filtered.append(row)
        return arriving

    def _assess(self, t: int, arriving: Sequence[Sequence[Candidate]], step: Step) -> None:
        """Priorities, from all that is stored and arrives before anything is dropped."""
        present = [[*old, *new] for old, new in zip(self._windows, arriving, strict=True)]
        static = self._shedding.policy is Policy.SIMPPROB
        for candidate in (c for window in self._windows for c in window):
            found = matches(candidate, present)
            gives = found > matches(candidate, self._windows)
            candidate.priority = later_priority(
                self._shedding, candidate, found, t, self._before, gives
            )
            candidate.matches = candidate.matches if static else found
        for candidate in (c for rows in arriving for c in rows):
            candidate.matches = matches(candidate, present)
            candidate.priority = first_priority(self._shedding, candidate.row, candidate.matches)
        step.priorities = {c.row: c.priority for rows in present for c in rows}

    def _evict(self, arriving: Sequence[Sequence[Candidate]], step: Step) -> None:
        """Drop what there is no room for; with one stream there is no need to keep anything."""
        if len(self._windows) == 1:
            return
        for number, new in enumerate(arriving):
            present = [*self._windows[number], *new]
            present.sort(key=lambda c: order_of_going(self._shedding.policy, c))
            step.dropped += [c.row for c in present[: max(0, len(present) - self._share)]]
        self._windows = [
            [c for c in window if c.row not in step.dropped] for window in self._windows
        ]

    def _results(self, arriving: Sequence[Sequence[Candidate]]) -> Iterator[Result]:
        """Rows that meet, of which at least one arrives, even one that finds no place."""
        new = {c for rows in arriving for c in rows}
        present = [[*old, *rows] for old, rows in zip(self._windows, arriving, strict=True)]
        for version in {version: None for c in new for version in c.versions}:
            parts = [[c for c in rows if version in c.versions] for rows in present]
            for combination in product(*parts):
                if not new.isdisjoint(combination):
                    yield Result(tuple(c.row for c in combination), version)

    def _keep(self, arriving: Sequence[Sequence[Candidate]], step: Step) -> None:
        if len(self._windows) > 1:
            for window, new in zip(self._windows, arriving, strict=True):
                window += [c for c in new if c.row not in step.dropped]
        assert all(len(window) <= self._share for window in self._windows)
        step.windows = [[c.row for c in window] for window in self._windows]
