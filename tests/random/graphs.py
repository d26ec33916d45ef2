"""Random lives of a running graph: queries come, change their plans and go, and each must answer
as if alone."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import count
from random import Random
from typing import Any
from warnings import catch_warnings, filterwarnings

import polars as pl
import pyarrow as pa

from tests.checking.changes import from_changes
from tests.checking.plans import Inputs, reference_of
from tests.checking.sources import opener
from tests.fabrics.simulated import Elsewhere, Rough
from tests.random.adapting import with_histories
from tests.random.case import Case
from tests.random.plans import LONGEST, PlanGenerator
from tidemill.algebra import Plan, render
from tidemill.algebra.adjusting import Bounds
from tidemill.algebra.nodes import Adjustable, CountWindow, TimeWindow
from tidemill.connectors.sinks import SinkRequest
from tidemill.errors import ExecutionError, PlanError, TidemillError
from tidemill.graph.adaptation import Adaptation
from tidemill.graph.migrations import Migrations
from tidemill.graph.quality import Histories, SizeSetting
from tidemill.graph.query_graph import GraphQuery, QueryGraph
from tidemill.optimize import RULES, optimized
from tidemill.optimize.statistics import Statistics
from tidemill.physical.adjusting import AdjustableExec
from tidemill.physical.lowering import lower
from tidemill.physical.operator import Exec
from tidemill.runtime.codec import KnownFunctions
from tidemill.runtime.fabric import Fabric, InProcess
from tidemill.runtime.interface import Job
from tidemill.runtime.run import Run
from tidemill.runtime.sources import Source
from tidemill.store import Part, Store
from tidemill.testing.snapshots import Element, assert_snapshots_equal, elements
from tidemill.timeline import OPEN_END, TimeDomain

_MOST_TICKS = 200

KNOWN = KnownFunctions(aggregates={LONGEST.name.lower(): LONGEST})

_FORMS = ("intervals", "live", "changes")
"""Those that tell all of an answer."""


@dataclass
class Life:
    """A query that ran for a while: its answers, and the instants for which they are complete."""

    name: str
    plan: Plan
    job: Job
    query: GraphQuery
    tables: dict[int, pa.Table]
    until: int = OPEN_END
    has_ticked: bool = False
    histories: dict[str, tuple[SizeSetting, ...]] = field(default_factory=dict)

    def note(self, histories: Histories) -> None:
        """Take note of the sizes that were set."""
        self.histories.update(histories)

    def check(self, inputs: Inputs) -> int:
        """Fail unless its answers are those of the reference; at how many instants."""
        expected = reference_of(self._plan_in_force, inputs)
        found = self._found
        instants = range(self.query.complete_from, min(self.until, expected.horizon + 1))
        assert_snapshots_equal(found, expected, instants)
        early = [start for _, start, _ in found if start < self.query.root.since]
        assert not early, f"answers for instants before {self.query.root.since}: {early}"
        return len(instants)

    @property
    def _found(self) -> list[Element]:
        """The rows of its answers, whatever their form."""
        tables = [self.tables[tick] for tick in sorted(self.tables)]
        if tables and self.job.sink.form == "changes":
            log = pl.DataFrame(pa.concat_tables(tables))
            tables = [from_changes(log).to_arrow()]
        return [element for table in tables for element in elements(table)]

    @property
    def _plan_in_force(self) -> Plan:
        """What the query means at the sizes that it had."""
        nodes = [node for node in self.query.job.plan.walk() if isinstance(node, AdjustableExec)]
        knobs = {node.bounds.window: node.knob for node in nodes if node.bounds is not None}

        def with_knob(node: Plan) -> Plan:
            if not isinstance(node, Adjustable) or node.bounds is None:
                return node
            return replace(node, knob=knobs.get(node.bounds.window, ""))

        return with_histories(self.plan.rewrite(with_knob), self.histories)


class Crash(BaseException):
    """The process is gone. (No operator or sink can catch that.)"""


_LEFT: dict[str, int] = {}
"""How many files may still be written to stores of this process; those of tasks are the same."""


class CrashingStore(Store):
    """A store at which a process may die: before it writes a file, the `left` one from now on."""

    @property
    def left(self) -> int | None:
        """How many files can be written before the crash, if there is to be one."""
        return _LEFT.get(self.uri)

    @left.setter
    def left(self, left: int | None) -> None:
        _LEFT.pop(self.uri, None)
        if left is not None:
            _LEFT[self.uri] = left

    def put(self, name: str, *parts: Part, **how: Any) -> int:
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                raise Crash
        return super().put(name, *parts, **how)


MakeFabric = Callable[[int, Random], Fabric]
"""A fabric with so many partitions."""


def in_process(partitions: int, random: Random) -> Fabric:
    """One of the fabrics of this process, with parcels that travel, or tasks, or all goes wrong."""
    direct = random.choice([-1, 1 << 30])
    plain = InProcess(partitions, packs=partitions > 1, direct=direct)
    return random.choice([plain, plain, Elsewhere(partitions, direct), Rough(partitions, random)])


class GraphLife:
    """A graph over random inputs, and the lives of its queries.

    It has some partitions, and keeps rows of its streams for a while, or not.
    """

    def __init__(self, inputs: Inputs, random: Random, folder: str, make: MakeFabric) -> None:
        self.inputs = inputs
        self.random = random
        self.folder = folder
        self._make = make
        self.partitions = random.choice([1, 1, 2, 3])
        self.retain = random.choice([None, None, 5, OPEN_END])
        self.lives: dict[str, Life] = {}
        self.story: list[str] = [f"{self.partitions} partitions, kept for {self.retain}"]
        self._open()

    def _open(self) -> None:
        self.store = CrashingStore(self.folder)
        self.store.left = None
        fabric = self._make(self.partitions, self.random)
        self.run = Run(fabric, self._opener(), self.store, known=KNOWN, partitions=self.partitions)
        self.graph = QueryGraph(self.run)
        self.adaptation = Adaptation(self.graph)
        self.migrations = Migrations(self.graph, self.adaptation.taken)

    def _opener(self) -> Callable[[str], Source]:
        return opener(self.inputs.sources(self.store, self.retain))

    def add(self, plan: Plan) -> None:
        """Start a query, if it can ever be complete."""
        name = f"q{len(self.lives)}"
        # A tick whose answers come again, after a crash, takes the place of the first.
        tables: dict[int, pa.Table] = {}
        form = self.random.choice(_FORMS)
        sink = SinkRequest(lambda table, tick: tables.update({tick: table}), form=form)
        job = Job(self._planned(plan), TimeDomain.TICKS, sink)
        try:
            query = self.graph.add(name, job)
        except TidemillError as error:
            if "never be complete" not in error.message:
                raise
            self.story.append(f"{name} can never be complete")
            return
        self.lives[name] = Life(name, plan, job, query, tables)
        self.lives[name].note(self.adaptation.histories(name))
        self.story.append(
            f"add {name} as {form} (complete from {query.complete_from}):\n{render(plan)}"
        )

    def remove(self) -> None:
        """Stop one of the running queries."""
        if not self.graph.running:
            return
        name = self.random.choice(sorted(self.graph.running))
        query = self.graph.find(name)
        life = self.lives[name]
        # Next to its source, a part is where the stream is, even before its first tick.
        life.until = self.run.nodes[query.root.running].watermark if life.has_ticked else 0
        self.graph.remove(name)
        self.story.append(f"remove {name}")

    def adapt(self) -> None:
        """Set some of the sizes that may be changed."""
        allowed = self.adaptation.allowed
        knobs = self.random.sample(sorted(allowed), self.random.randint(0, len(allowed)))
        sizes = {knob: allowed[knob].nearest(self.random.randint(1, 12)) for knob in knobs}
        changes = self.adaptation.adapt(sizes)
        self.story.append(f"adapt {changes}")

    def crash(self) -> None:
        """Lose everything but the store, and go on from there."""
        self.run.stop()
        running = list(self.graph.running)
        if self.random.random() < 0.5:
            self.partitions = self.random.choice([1, 2, 3, 4])
            self.story.append(f"{self.partitions} partitions from now on")
        self._open()
        assert sorted(self.graph.running) == sorted(running)
        for name in running:
            life = self.lives[name]
            life.query = self.graph.add(name, life.job)
        self.story.append("crash")

    def tick_until_it_crashes(self) -> None:
        """A crash at any of the writes of a tick."""
        self.store.left = self.random.randrange(2 + 3 * self.partitions)
        try:
            self.tick()
        except Crash:
            self.story.append("crash in a tick")
        self.crash()

    def migrate(self) -> None:
        """Let one of the running queries go on with another plan of the same meaning."""
        if not self.graph.running:
            return
        name = self.random.choice(sorted(self.graph.running))
        plan = self._planned(self.lives[name].plan)
        try:
            migration = self.migrations.start(name, plan)
        except (PlanError, ExecutionError) as error:
            self.story.append(f"{name} does not migrate: {error.message}")
            return
        self.story.append(f"migrate {name}, split={migration.split}")

    def _planned(self, plan: Plan) -> Exec:
        """One of many plans for the same."""
        names = [rule.name for rule in RULES]
        off = self.random.choice([[], [], names, self.random.sample(names, len(names) // 2)])
        return lower(optimized(plan, Statistics(), frozenset(off)).plan, {})

    def tick(self) -> None:
        for name in self.graph.running:
            self.lives[name].note(self.adaptation.histories(name))
        self.run.tick()
        assert not self.run.failures, self.run.failures
        for name in self.graph.running:
            self.lives[name].has_ticked = True
        self.story.append("tick")

    @property
    def goes_on(self) -> bool:
        return self.run.has_more and self.run.ticks < _MOST_TICKS


@dataclass(frozen=True)
class GraphCase(Case):
    """A life of a graph, on some fabric."""

    plans: tuple[Plan, ...]
    random: Random
    make: MakeFabric = in_process

    def check(self) -> None:
        with tempfile.TemporaryDirectory(prefix="tidemill-") as folder, catch_warnings():
            # What cannot be repartitioned stays where it is, and that is told.
            filterwarnings("ignore", "the checkpoint goes on with")
            life = self._begun(folder)
            try:
                self._live(life)
                for each in life.lives.values():
                    each.check(self.inputs)
            except AssertionError as error:
                raise AssertionError("\n".join([str(error), *life.story])) from error
            finally:
                life.run.stop()

    def _begun(self, folder: str) -> GraphLife:
        return GraphLife(self.inputs, self.random, folder, self.make)

    def _live(self, life: GraphLife) -> None:
        life.add(self.plans[0])
        while True:
            for _ in range(self.random.choice([0, 0, 1, 1, 2])):
                self._change(life)
            if not life.goes_on:
                break
            self.random.choices([life.tick, life.tick_until_it_crashes], [9, 1])[0]()
            if self.random.random() < 0.1:
                life.crash()

    def _change(self, life: GraphLife) -> None:
        match self.random.choice(["add", "add", "migrate", "adapt", "adapt", "remove"]):
            case "adapt":
                life.adapt()
            case "add":
                life.add(self.random.choice(self.plans))
            case "migrate":
                life.migrate()
            case "remove":
                life.remove()

    @property
    def text(self) -> str:
        return "\n\n".join(map(render, self.plans))


def random_graph(random: Random, inputs: Inputs) -> GraphCase:
    """Plans with parts in common, and a random life of a graph that runs them."""
    whole = [PlanGenerator(random).plan(random.choice([1, 2, 2, 3])) for _ in range(3)]
    whole = [_with_bounds(plan, random) for plan in whole]
    parts = [part for plan in whole for part in plan.walk()]
    chosen = [random.choice(parts) for _ in range(3)]
    return GraphCase(inputs, (*whole, *chosen), random)


def _with_bounds(plan: Plan, random: Random) -> Plan:
    """The plan with sizes that may be changed."""
    numbers = count(1)

    def bounded(node: Plan) -> Plan:
        if not isinstance(node, TimeWindow | CountWindow) or node.first is None:
            return node
        if random.random() < 0.5:
            return node
        low = random.randint(1, node.first)
        return replace(node, bounds=Bounds(low, node.first, f"w{next(numbers)}"))

    return plan.rewrite(bounded)
