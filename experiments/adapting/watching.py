"""A graph with one query: what it does, and what its operator of a kind keeps, tick by tick."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

import pyarrow as pa

import tidemill as tm
from experiments.adapting.effect import effect_of
from experiments.frame import timed
from tidemill.graph.manager.estimates import GraphEstimates
from tidemill.optimize.cost.usage import Usage
from tidemill.physical.operator import Exec


@dataclass
class Seen:
    """What an operator was measured to keep after every tick, and the seconds of one core that
    the tick took."""

    at: list[float] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def work(self, ticks: int = 15) -> list[float]:
        """The seconds of a tick, each the median of some: other programs disturb single ones."""
        spent = self.seconds
        return [median(spent[max(0, at - ticks + 1) : at + 1]) for at in range(len(spent))]


class Watched:
    """A query in a running graph of its own."""

    def __init__(self, engine: tm.Engine, text: str, kind: type[Exec]) -> None:
        self.engine = engine
        self.graph = engine.run(every=None)
        self.seen = Seen()
        self.results: list[pa.Table] = []
        self._kind = kind
        query = engine.sql(text)
        assert query is not None
        self.query = query.start(lambda rows, tick: self.results.append(rows))

    def tick(self, rows: Mapping[str, pa.Table], until: int) -> None:
        """Push rows, and let time pass until an instant."""
        for name, table in rows.items():
            self.engine.push(name, table)
        self.seen.seconds.append(timed(self.graph.tick))
        for name in self.graph.sources:
            self.graph.heartbeat(name, until)
        self.seen.at.append(until)
        self.seen.memory.append(self.graph.operators[self._node].state_bytes)

    def resize(self, size: int) -> None:
        """Set all sizes that can be set."""
        self.graph.adapt(dict.fromkeys(self.graph.adaptation.sizes, size))

    def estimate(self, size: int) -> Usage:
        """What the operator would need in the long run at a size, by the cost model alone."""
        return self._estimates(size).of(self._node) if size else Usage()

    def rate(self, size: int) -> float:
        """How many rows the operator is estimated to give per instant."""
        return self._estimates(size).rate(self._node)

    def _estimates(self, size: int) -> GraphEstimates:
        estimates = GraphEstimates(self.engine.statistics.known)
        estimates.revise(self.graph.operators)
        estimates.at(dict.fromkeys(estimates.sizes, size))
        return estimates

    @property
    def _node(self) -> Exec:
        return next(n for n in self.graph.operators if isinstance(n, self._kind))


def estimate_at(
    at: float, changes: Sequence[tuple[int, int]], steady: Mapping[int, Usage]
) -> Usage:
    """The estimate at an instant, given those in the long run: a line while a change shows.

    A graph that has just begun fills as if its windows had grown from nothing.
    """
    total = Usage()
    for (_, old), (begin, new) in pairwise([(0, 0), *changes]):
        effect = effect_of(begin, old, new)
        length = max(effect.complete_from - effect.visible_from, 1)
        share = min(max((at - effect.visible_from) / length, 0.0), 1.0)
        for size, part in ((old, -share), (new, share)):
            usage = steady[size]
            total += Usage(0.0, part * usage.state_bytes, part * usage.seconds)
    return total
