"""Better plans for queries that run: when they are looked for, and when they are worth a change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from tidemill.algebra.nodes import MultiJoin, Scan
from tidemill.algebra.plan import Plan
from tidemill.errors import TidemillError
from tidemill.expressions.functions import Functions
from tidemill.graph.migration import Migration
from tidemill.graph.migrations import Migrations
from tidemill.graph.normal import normal
from tidemill.graph.query_graph import QueryGraph
from tidemill.optimize.cost.estimates import Estimator
from tidemill.optimize.cost.usage import NANOSECOND, CostModel
from tidemill.optimize.joins.choice import join_windows
from tidemill.optimize.joins.probing import probing_cost
from tidemill.optimize.statistics import Statistics, StreamStatistics
from tidemill.physical.lowering import operators_of
from tidemill.physical.operator import Exec
from tidemill.runtime.rate_meter import RateMeter


@dataclass(frozen=True)
class Choice:
    """A plan for a query, as the optimizer sees it and as it runs, and what it was made with."""

    logical: Plan
    physical: Exec
    estimator: Estimator
    functions: Functions

    @cached_property
    def sources(self) -> frozenset[str]:
        """What the plan reads."""
        return frozenset(node.source for node in self.logical.walk() if isinstance(node, Scan))


@dataclass(frozen=True)
class ReoptimizePolicy:
    """When plans are changed.

    After `every` ticks, queries are planned again if a rate has become `moved` times what it was,
    or one such part; `most` of them at once. A plan must promise a `gain` of the processing time,
    `looks` times in a row; after a change, a query is left alone for `rest` looks.
    """

    every: int = 64
    moved: float = 1.5
    most: int = 5
    gain: float = 0.2
    looks: int = 2
    rest: int = 4


@dataclass
class _Watched:
    """A query: its present plan, what was known at the last look, how often a better plan was
    seen in a row, and its rest."""

    present: Choice
    known: Statistics
    seen: int = 0
    rest: int = 0

    @classmethod
    def of(cls, present: Choice, rest: int = 0) -> _Watched:
        return cls(present, present.estimator.statistics, rest=rest)


class Reoptimizer:
    """Plans queries again with what is known now, and migrates them if that pays."""

    def __init__(
        self,
        graph: QueryGraph,
        migrations: Migrations,
        plan: Callable[[str, Statistics], Choice],
        policy: ReoptimizePolicy | None = None,
    ) -> None:
        self.policy = policy or ReoptimizePolicy()
        self._graph = graph
        self._migrations = migrations
        self._plan = plan
        self._rates: dict[str, RateMeter] = {}
        self._watched: dict[str, _Watched] = {}
        graph.after_each_tick(self._after_tick)

    def watch(self, name: str, present: Choice) -> None:
        """Look after a query that runs by this plan."""
        self._watched[name] = _Watched.of(present)

    def forget(self, name: str) -> None:
        """Leave a query alone."""
        self._watched.pop(name, None)

    def optimize(self, name: str) -> Migration | None:
        """Plan a query now, and let it go on with a plan that promises anything at all."""
        with self._graph.lock:
            found = self._plan(name, self._recent)
            if self.gain(name, found) <= 0:
                return None
            return self._migrate(name, found)

    def gain(self, name: str, found: Choice) -> float:
        """The share of the processing time of its present plan that a query would save.

        What others need anyway costs nothing. Of a plan that was handed over, nothing is known:
        then any other is better.
        """
        watched = self._watched.get(name)
        if watched is None:
            return 1.0

        def runs_anyway(part: Exec) -> bool:
            return any(query != name for query in self._graph.uses.queries(part))

        now = seconds(watched.present, found.estimator, runs_anyway)
        return 1 - seconds(found, found.estimator, runs_anyway) / now if now else 0.0

    def _after_tick(self) -> None:
        if self._graph.run.ticks % self.policy.every == 0:
            self.look()

    def look(self) -> None:
        """Consider queries whose streams have changed, those that had to wait longest first."""
        names = [name for name in self._watched if self._graph.is_running(name)]
        self._watched = {name: self._watched[name] for name in names}
        self._note_rates()
        moved = [name for name in names if self._has_moved(name)][: self.policy.most]
        for name in moved:
            watched = self._watched.pop(name)
            self._watched[name] = watched
            self._consider(name, watched)

    def _note_rates(self) -> None:
        """Take note of the rows since the last look: streams may become faster or slower."""
        for name, source in self._graph.run.sources.items():
            if source.watermark is not None:
                self._rates.setdefault(name, RateMeter()).note(source.rows, source.watermark)

    @property
    def _recent(self) -> Statistics:
        """Rows per instant between the last two looks at a stream that has moved."""
        rates = {name: meter.rate() for name, meter in self._rates.items()}
        return Statistics(
            {name: StreamStatistics(rate=rate) for name, rate in rates.items() if rate}
        )

    def _has_moved(self, name: str) -> bool:
        """Whether a stream has another rate than the plan was made for, or a change was near."""
        watched, migration = self._watched[name], self._migrations.of.get(name)
        if migration is not None and migration.is_running:
            return False
        now = self._recent.only(watched.present.sources)
        moved = watched.known.moved(now, self.policy.moved)
        return bool(watched.seen or watched.rest or moved)

    def _consider(self, name: str, watched: _Watched) -> None:
        if watched.rest:
            watched.rest -= 1
            return
        found = self._plan(name, self._recent)
        watched.known = found.estimator.statistics
        better = found.physical != watched.present.physical
        better = better and self.gain(name, found) >= self.policy.gain
        watched.seen = watched.seen + 1 if better else 0
        if watched.seen >= self.policy.looks:
            try:
                self._migrate(name, found)
            except TidemillError:
                # It needs what came before: the present plan has to do.
                self._watched[name] = _Watched.of(watched.present, self.policy.rest)

    def _migrate(self, name: str, found: Choice) -> Migration:
        migration = self._migrations.start(name, found.physical)
        self._watched[name] = _Watched.of(found, self.policy.rest)
        return migration


def seconds(choice: Choice, estimator: Estimator, free: Callable[[Exec], bool]) -> float:
    """What the parts of a plan will cost that are not free: seconds per instant."""
    model, parts = CostModel(estimator), operators_of(choice.logical, choice.functions)
    paid = [part for part in choice.logical.walk() if not free(normal(parts[id(part)]))]
    return sum(model.of(part).seconds + _probing(part, estimator) for part in paid)


def _probing(part: Plan, estimator: Estimator) -> float:
    """What a join of several inputs looks at in its orders."""
    if not isinstance(part, MultiJoin) or not part.orders:
        return 0.0
    orders = {str(order[0]): tuple(map(str, order)) for order in part.orders}
    return probing_cost(join_windows(part, estimator), orders) * NANOSECOND
