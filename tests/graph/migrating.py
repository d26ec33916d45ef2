"""Queries that change their plans while they run, on random plans and data."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random

import pyarrow as pa

from tests.checking.plans import Inputs, reference_of
from tests.checking.sources import opener
from tidemill.algebra import Plan
from tidemill.connectors.sinks import SinkRequest
from tidemill.errors import PlanError
from tidemill.graph.migration import Migration
from tidemill.graph.migrations import Migrations
from tidemill.graph.query_graph import QueryGraph
from tidemill.optimize import RULES, optimized
from tidemill.optimize.statistics import Statistics
from tidemill.physical.lowering import lower
from tidemill.physical.operator import Exec
from tidemill.runtime.fabric import InProcess
from tidemill.runtime.interface import Job
from tidemill.runtime.run import Run
from tidemill.testing.reference import check_result
from tidemill.testing.snapshots import Elements
from tidemill.timeline import TimeDomain

QUERY = "q"


@dataclass
class Collected:
    """What a query has put out, tick by tick."""

    ticks: list[pa.Table] = field(default_factory=list)

    def __call__(self, rows: pa.Table, tick: int) -> None:
        self.ticks.append(rows)

    @property
    def rows(self) -> Elements:
        return [
            (tuple(list(row.values())[:-2]), row["valid_from"], row["valid_to"])
            for table in self.ticks
            for row in table.to_pylist()
        ]


@dataclass
class Running:
    """A graph over some inputs, and its migrations."""

    inputs: Inputs
    graph: QueryGraph = field(init=False)
    migrations: Migrations = field(init=False)
    run: Run = field(init=False)

    def __post_init__(self) -> None:
        self.run = Run(InProcess(), opener(self.inputs.sources()))
        self.graph = QueryGraph(self.run)
        self.migrations = Migrations(self.graph)

    def add(self, plan: Exec) -> Collected:
        collected = Collected()
        self.graph.add(QUERY, Job(plan, TimeDomain.TICKS, SinkRequest(collected)))
        return collected

    def finish(self, each: Callable[[], None] = lambda: None) -> None:
        """Make ticks until all is read."""
        while True:
            self.run.tick()
            if not self.run.has_more:
                return
            each()


def variants(random: Random, plan: Plan) -> list[Exec]:
    """Plans with the same meaning: with and without rules."""
    names = [rule.name for rule in RULES]
    off = [frozenset(), frozenset(names), frozenset(random.sample(names, len(names) // 2))]
    known = Statistics()
    plans = [lower(optimized(plan, known, without).plan, {}) for without in off]
    return list(dict.fromkeys(plans))


def check_migrations(plan: Plan, inputs: Inputs, seed: int) -> list[Migration]:
    """Fail unless a query that changes its plan at random gives the answers of the reference."""
    random = Random(seed)
    plans = variants(random, plan)
    running, found = Running(inputs), list[Migration]()
    collected = running.add(random.choice(plans))

    def perhaps() -> None:
        known = running.migrations.of.get(QUERY)
        if random.random() < 0.4 and not (known is not None and known.is_running):
            with suppress(PlanError):  # it remembers for ever
                found.append(running.migrations.start(QUERY, random.choice(plans)))

    running.finish(perhaps)
    assert not running.run.failures, running.run.failures
    check_result(collected.rows, reference_of(plan, inputs))
    return found
