"""Memory-state graphs: every way to keep tuples of a stream in few places, for small data.

The graphs R, S and SA of Towne, Zhu, Zuzarte and Hou (2007). A state says which tuples are in
memory after an instant; what a path of states gives is the best that memory can do. Their number
grows as the combinations of live tuples: `best_join` finds the same optimum without them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

# Positions of the tuples in memory, in the order in which they came.
State = tuple[int, ...]
Path = tuple[State, ...]
By = Literal["importance", "count"]


class Arrival(NamedTuple):
    """A tuple of a stream."""

    ts: int
    value: object
    importance: float


class Fact(NamedTuple):
    """A tuple of the relation, active in `[begin, end)`; None has no bound on that side."""

    r: object
    s: object
    begin: int | None = None
    end: int | None = None

    def active(self, t: int) -> bool:
        """Whether it can be looked up at an instant."""
        return (self.begin is None or self.begin <= t) and (self.end is None or t < self.end)

    def swapped(self) -> Fact:
        """The same, seen from the other stream."""
        return Fact(self.s, self.r, self.begin, self.end)


class Output(NamedTuple):
    """A result: which tuple of the graph's own stream met which of the other stream, and when."""

    time: int
    own: int
    other: int
    importance: float


@dataclass(frozen=True)
class MemoryGraph:
    """The graph of one stream: its tuples wait in so many slots for those of the other stream.

    Both streams are in the order of their instants. Without `prefilter`, tuples that no fact
    matches are kept like others.

    >>> r = [Arrival(0, 1, 5), Arrival(1, 1, 2)]
    >>> s = [Arrival(1, 7, 3), Arrival(2, 7, 9)]
    >>> graph = MemoryGraph(r, s, [Fact(1, 7)], slots=1, life=4)
    >>> graph.layers
    ({(0,): 0}, {(0,): 3, (1,): 0}, {(0,): 8, (1,): 2})
    >>> graph.best, list(graph.paths())
    (8, [((0,), (0,), (0,))])
    """

    own: Sequence[Arrival]
    other: Sequence[Arrival]
    facts: Sequence[Fact]
    slots: int
    life: int
    by: By = "importance"
    prefilter: bool = True

    @cached_property
    def instants(self) -> tuple[int, ...]:
        """All instants at which something arrives."""
        return tuple(sorted({arrival.ts for arrival in (*self.own, *self.other)}))

    @cached_property
    def layers(self) -> tuple[dict[State, float], ...]:
        """For every instant the states after it, and the largest weight of a path to each (MI)."""
        found: list[dict[State, float]] = []
        before: dict[State, float] = {(): 0}
        for t in self.instants:
            before = self._layer(before, t)
            found.append(before)
        return tuple(found)

    def _layer(self, before: dict[State, float], t: int) -> dict[State, float]:
        worth = {own: self.worth(outputs) for own, outputs in self._met.get(t, {}).items()}
        layer: dict[State, float] = {}
        for state, weight in before.items():
            for after in self.successors(state, t):
                total = weight + sum(worth.get(own, 0) for own in after)
                if after not in layer or total > layer[after]:
                    layer[after] = total
        return layer

    @property
    def best(self) -> float:
        """The weight of the best path; the stop vertex follows the states of the last instant."""
        return max(self.layers[-1].values()) if self.layers else 0

    def successors(self, state: State, t: int) -> set[State]:
        """The states that can follow: what has expired goes, then newcomers may take places."""
        found = {tuple(own for own in state if self.own[own].ts + self.life > t)}
        for new in self.newcomers.get(t, ()):
            found = {after for before in found for after in self._admit(before, new)}
        return found

    def _admit(self, state: State, new: int) -> list[State]:
        if len(state) < self.slots:
            return [(*state, new)]
        replaced = [(*state[:at], *state[at + 1 :], new) for at in range(len(state))]
        return [state, *replaced]

    def weight(self, state: State, t: int) -> float:
        """The weight of edges into a state: what its older tuples give with the arrivals of now."""
        met = self._met.get(t, {})
        return sum(self.worth(met.get(own, [])) for own in state)

    def paths(self) -> Iterator[Path]:
        """All paths of the largest weight, each as its states instant by instant."""
        if not self.layers:
            return iter([()])
        ends = [state for state, weight in self.layers[-1].items() if weight == self.best]
        return (path for end in ends for path in self._paths_to(len(self.layers) - 1, end))

    def _paths_to(self, at: int, state: State) -> Iterator[Path]:
        t, before = self.instants[at], self.layers[at - 1] if at else {(): 0}
        rest = self.layers[at][state] - self.weight(state, t)
        for previous, weight in before.items():
            if weight == rest and state in self.successors(previous, t):
                for path in self._paths_to(at - 1, previous) if at else [()]:
                    yield (*path, state)

    def sequences(self) -> int:
        """How many paths there are, good and bad."""
        counts: dict[State, int] = {(): 1}
        for t in self.instants:
            after: dict[State, int] = {}
            for state, count in counts.items():
                for successor in self.successors(state, t):
                    after[successor] = after.get(successor, 0) + count
            counts = after
        return sum(counts.values())

    def outputs(self, path: Path) -> list[Output]:
        """The results along a path, in the order in which they come."""
        return [
            output
            for t, state in zip(self.instants, path, strict=True)
            for own in state
            for output in self._met.get(t, {}).get(own, ())
        ]

    def worth(self, outputs: Sequence[Output]) -> float:
        """What some results count: their importances, or their number."""
        return len(outputs) if self.by == "count" else sum(each.importance for each in outputs)

    @cached_property
    def newcomers(self) -> dict[int, list[int]]:
        """By instant, the tuples that may be kept."""
        found: dict[int, list[int]] = {}
        for number, arrival in enumerate(self.own):
            if not self.prefilter or any(
                fact.r == arrival.value and fact.active(arrival.ts) for fact in self.facts
            ):
                found.setdefault(arrival.ts, []).append(number)
        return found

    @cached_property
    def _met(self) -> dict[int, dict[int, list[Output]]]:
        """By instant and own tuple, what the tuple gives if it is in memory then."""
        times = [arrival.ts for arrival in self.own]
        found: dict[int, dict[int, list[Output]]] = {}
        for number, (t, value, _) in enumerate(self.other):
            facts = [fact for fact in self.facts if fact.s == value and fact.active(t)]
            for own in range(bisect_right(times, t - self.life), bisect_left(times, t)):
                for output in _outputs(self.own, own, self.other, number, facts):
                    found.setdefault(t, {}).setdefault(own, []).append(output)
        return found


def _outputs(
    own: Sequence[Arrival], first: int, other: Sequence[Arrival], second: int, facts: list[Fact]
) -> list[Output]:
    """Results of two tuples: one through each fact that was active when the first one came, too."""
    mine, theirs = own[first], other[second]
    output = Output(theirs.ts, first, second, min(mine.importance, theirs.importance))
    return [output for fact in facts if fact.r == mine.value and fact.active(mine.ts)]


@dataclass(frozen=True)
class StarGraphs:
    """The graphs of two streams that meet through a relation: R, S, and SA for what meets at once.

    >>> r, s = [Arrival(0, 1, 5), Arrival(1, 1, 2)], [Arrival(1, 7, 3), Arrival(2, 7, 9)]
    >>> graphs = StarGraphs(r, s, [Fact(1, 7)], memory=2, life=4)
    >>> graphs.r.best, graphs.s.best, [output.importance for output in graphs.together]
    (8, 0, [2])
    >>> graphs.best
    10
    """

    left: Sequence[Arrival]
    right: Sequence[Arrival]
    facts: Sequence[Fact]
    memory: int
    life: int
    by: By = "importance"

    @cached_property
    def r(self) -> MemoryGraph:
        """Tuples of R wait."""
        return self._graph(self.left, self.right, self.facts)

    @cached_property
    def s(self) -> MemoryGraph:
        """Tuples of S wait."""
        return self._graph(self.right, self.left, [fact.swapped() for fact in self.facts])

    @cached_property
    def together(self) -> list[Output]:
        """What meets on arrival, and needs no memory: the path of graph SA; R is its own stream."""
        return [
            output
            for second, (t, value, _) in enumerate(self.right)
            for first, arrival in enumerate(self.left)
            if arrival.ts == t
            for output in _outputs(
                self.left,
                first,
                self.right,
                second,
                [fact for fact in self.facts if fact.s == value and fact.active(t)],
            )
        ]

    @property
    def best(self) -> float:
        """The best total of the three graphs."""
        return self.r.best + self.s.best + self.r.worth(self.together)

    def _graph(
        self, own: Sequence[Arrival], other: Sequence[Arrival], facts: Sequence[Fact]
    ) -> MemoryGraph:
        return MemoryGraph(own, other, facts, self.memory // 2, self.life, self.by)
