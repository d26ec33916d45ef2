"""Graphs that change while they run and go on from a checkpoint, step by step."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from sqlglot import parse_one

from tests.checking.plans import Inputs, reference_of
from tests.checking.sources import opener
from tests.graph.migrating import Collected
from tests.random.data import RandomStream
from tidemill.algebra import Plan, Scan, Schema, TimeWindow
from tidemill.algebra.adjusting import Bounds
from tidemill.algebra.aggregates import AggregateCall
from tidemill.algebra.nodes import Aggregate, Filter
from tidemill.algebra.scalar import Scalar
from tidemill.connectors.sinks import SinkRequest
from tidemill.graph.adaptation import Adaptation
from tidemill.graph.migrations import Migrations
from tidemill.graph.query_graph import QueryGraph
from tidemill.physical.lowering import lower
from tidemill.runtime.fabric import InProcess
from tidemill.runtime.interface import Job
from tidemill.runtime.run import Run
from tidemill.store import Store
from tidemill.testing.reference import check_result
from tidemill.testing.snapshots import snapshot_at
from tidemill.timeline import TimeDomain

SCAN = Scan("s", "s", Schema.of(k=pa.int32()))
HELD = TimeWindow(SCAN, 5)
ADJUSTABLE = TimeWindow(SCAN, 5, bounds=Bounds(2, 5, "w"))
TICKS = [[{"k": k, "at": at} for k in (at % 3, 100 + at)] for at in range(30)]
MUCH_LATER = 1000
END = 30


class Life:
    """A graph with a checkpoint, and what its queries gave."""

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder)
        self._jobs: dict[str, Job] = {}
        self.found: dict[str, Collected] = {}
        self._open()

    def _open(self) -> None:
        ticks = tuple(tuple(rows) for rows in [*TICKS[:10], [], *TICKS[10:]])
        self.inputs = Inputs({"s": RandomStream(ticks, slack=0)})
        store = Store(self._folder)
        self.run = Run(InProcess(), opener(self.inputs.sources(store)), store)
        self.graph = QueryGraph(self.run)
        self.adaptation = Adaptation(self.graph)
        self.migrations = Migrations(self.graph, self.adaptation.taken)

    def restart(self) -> None:
        self.run.stop()
        self._open()
        for name, job in self._jobs.items():
            self.graph.add(name, job)

    def add(self, name: str, plan: Plan, partial: bool = False) -> int:
        """Start a query; from when on it is complete."""
        self.found[name] = Collected()
        sink = SinkRequest(self.found[name])
        self._jobs[name] = Job(lower(plan, {}), TimeDomain.TICKS, sink)
        return self.graph.add(name, self._jobs[name], partial=partial).complete_from

    def tick(self, times: int = 1) -> None:
        for _ in range(times):
            self.run.tick()

    def finish(self) -> None:
        while self.run.has_more:
            self.run.tick()
        self.run.stop()

    def check_late(self, plan: Plan) -> None:
        """A query that is partial shows until when it lacks something: no longer than is said."""
        complete_from = self.add("late", plan, partial=True)
        self.finish()
        expected, rows = reference_of(plan, self.inputs), self.found["late"].rows
        wrong = [at for at in range(END) if snapshot_at(rows, at) != expected.at(at)]
        assert wrong[-1] + 1 == complete_from


def where(plan: Plan, condition: str) -> Filter:
    return Filter(plan, Scalar(parse_one(condition, read="spark"), pa.bool_()))


def test_a_change_may_follow_another_after_a_restart(tmp_path: Path) -> None:
    """Before the first tick with the other size, the groups are known by what they were."""
    life = Life(tmp_path)
    counts = Aggregate(ADJUSTABLE, ("s.k",), (AggregateCall("n", "COUNT", None, pa.int64()),))
    life.add("counts", counts)
    life.tick(9)
    life.adaptation.adapt({"range of s": 3}, at=MUCH_LATER)
    life.restart()
    life.add("other", SCAN, partial=True)
    life.finish()
    check_result(life.found["counts"].rows, reference_of(counts, life.inputs))


@pytest.mark.parametrize("restarts", [False, True])
def test_what_a_window_gave_is_known_after_a_change(tmp_path: Path, restarts: bool) -> None:
    life = Life(tmp_path)
    life.add("first", ADJUSTABLE)
    life.tick(10)
    life.adaptation.adapt({"range of s": 3}, at=MUCH_LATER)
    if restarts:
        life.restart()
    life.check_late(ADJUSTABLE)


def test_what_a_part_gave_in_a_stage_is_known_next_to_the_source(tmp_path: Path) -> None:
    """While a plan is handed over, the filter above it has to be in a stage."""
    old, new = (where(where(HELD, test), "`s.k` <> 7") for test in ("`s.k` >= 0", "`s.k` > -1"))
    life = Life(tmp_path)
    life.add("first", old)
    life.tick(4)
    migration = life.migrations.start("first", lower(new, {}))
    while migration.is_running:
        life.tick()
    life.check_late(new)


def test_what_a_part_gave_is_known_when_its_rows_are_not_kept(tmp_path: Path) -> None:
    """A window remembers nothing, so that its rows are not read again after a restart."""
    moving = TimeWindow(SCAN, 5, slide=2)
    life = Life(tmp_path)
    life.add("first", moving)
    life.tick(10)
    life.restart()
    life.tick()  # in which nothing comes
    life.check_late(moving)
