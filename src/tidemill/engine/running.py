"""The running graph of an engine, as its users see it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import polars as pl
import pyarrow as pa

from tidemill.algebra.plan import Plan
from tidemill.engine.query import Query
from tidemill.engine.started import StartedQuery
from tidemill.engine.templates import Templates
from tidemill.engine.ticking import Ticking
from tidemill.errors import ExecutionError
from tidemill.graph.adaptation import Adaptation
from tidemill.graph.manager import ResourceManager
from tidemill.graph.manager.steering import Steering
from tidemill.graph.metadata import Listener, Metadata, NodeMetadata
from tidemill.graph.migration import Migration
from tidemill.graph.migrations import Migrations
from tidemill.graph.query_graph import GraphQuery, QueryGraph
from tidemill.graph.reoptimize import Choice, Reoptimizer
from tidemill.graph.shapes import ConstantRelations, Shapes
from tidemill.optimize.statistics import Statistics
from tidemill.physical.lowering import lower
from tidemill.physical.operator import Exec
from tidemill.physical.operators.pick import PickExec
from tidemill.physical.operators.source import SourceExec
from tidemill.runtime.interface import Job
from tidemill.runtime.operator_progress import OperatorProgress
from tidemill.runtime.progress import Progress
from tidemill.runtime.run import Run
from tidemill.timeline import BEGIN, TimeDomain

Choose = Callable[[Query, Statistics], Choice]
"""How a query is planned so that it shares what it can with others, given what is new."""


class Collected:
    """A sink that holds the rows of ticks, as operators give them, until they are taken."""

    form = "intervals"

    def __init__(self) -> None:
        self._rows: list[pl.DataFrame] = []

    def give(self, rows: pl.DataFrame, tick: int) -> None:
        self._rows.append(rows)

    def taken(self) -> list[pl.DataFrame]:
        """What came since the last call."""
        rows, self._rows = self._rows, []
        return rows


class RunningGraph(Ticking):
    """Queries that run together; `engine.run` makes one that is open for more.

    Then queries are added and stopped while it runs. Those that have parts in common share them.
    """

    def __init__(
        self,
        run: Run,
        choose: Choose,
        is_open: bool = True,
        constants: ConstantRelations | None = None,
    ) -> None:
        super().__init__(run, QueryGraph(run, is_open), is_open)
        self.shapes = None if constants is None else Shapes(self._queries, constants)
        self.adaptation = Adaptation(self._queries)
        self.metadata = Metadata(self._queries)
        self.migrations = Migrations(self._queries, self.adaptation.taken)
        self._choose = choose
        self.reoptimizer = Reoptimizer(self._queries, self.migrations, self._choice_for)
        self.manager: ResourceManager | None = None
        self.templates = Templates()
        self._started: dict[str, StartedQuery] = {}

    @property
    def queries(self) -> Mapping[str, StartedQuery]:
        """All queries that were started, by name."""
        return dict(self._started)

    def started(self, name: str) -> StartedQuery | None:
        """A query that was started, by its very name, if there is one."""
        return self._started.get(name)

    def query(self, name: str) -> StartedQuery:
        """A query that was started, by name, whatever its case."""
        if name not in self._started:
            named = {known.casefold(): known for known in self._started}
            name = named.get(name.casefold(), name)
        self._queries.find(name)
        return self._started[name]

    @property
    def operators(self) -> Mapping[Exec, OperatorProgress]:
        """All operators that run, and what each has done."""
        return self._run.nodes

    def readings_of(self, source: str) -> Sequence[SourceExec]:
        """The operators that read a source."""
        return self._run.nodes.readings_of(source)

    @property
    def members(self) -> Mapping[str, GraphQuery]:
        """All queries by name, also those of a checkpoint that were not started again."""
        return self._queries.queries

    @property
    def running(self) -> Mapping[str, GraphQuery]:
        """The queries that give answers."""
        return self._queries.running

    def progress_of(self, name: str) -> Progress:
        """What was done for a query."""
        return self._run.progress_of(name)

    def rows_out(self, name: str) -> int:
        """How many rows a query has given."""
        return self._run.rows_out(name)

    def results(self, name: str) -> pa.Table:
        """What the sink `memory` of a query holds."""
        return self._run.results(name)

    def start(self, query: Query, name: str | None = None, partial: bool = False) -> StartedQuery:
        """Add a query. It runs from the next tick on."""
        if not self.is_active:
            help = "start another with engine.run()"
            raise ExecutionError("the graph was stopped", help=help)
        label = name or self._free_name()
        plan = self._one_of_many(query)
        choice = None if plan is not None else self._choose(query, Statistics())
        if choice is not None:
            plan = self._shared(query, choice) or choice.physical
        assert plan is not None
        found = self._queries.add(
            label, Job(plan, query.domain, query.sink), partial, query.meaning
        )
        started = self._started[label] = StartedQuery(self, found, query)
        query.runs_as(started)
        if isinstance(found.job.plan, PickExec):
            query.forget_plans()
            self.templates.learn(query, found.job.plan)
        elif choice is not None and not query.is_fixed:
            self.reoptimizer.watch(label, choice)
        return started

    def _one_of_many(self, query: Query) -> Exec | None:
        """The plan of a query of which it is known that it is one of a shape that runs."""
        if query.shape is None or self.shapes is None:
            return None
        return self.shapes.again(query.shape.relation, query.shape.constants, query.sources)

    def _shared(self, query: Query, choice: Choice) -> Exec | None:
        """The plan of a query as one of many of its shape."""
        if query.is_fixed or self.shapes is None:
            return None
        return self.shapes.plan_of(choice.logical, choice.functions)

    def remove(self, name: str) -> None:
        """Let a query go; a graph that is not open for others ends with its last one."""
        self._queries.remove(name)
        if not self._is_open and not self._queries.running:
            self.stop()

    def forget(self, name: str) -> None:
        """Stop a query, and know nothing more of it."""
        self._queries.forget(name)
        self.reoptimizer.forget(name)
        self.migrations.of.pop(name, None)
        self._started.pop(name, None)

    def forget_source(self, name: str) -> None:
        """Know nothing more of a stream or relation that no query reads."""
        self._run.forget(name)

    def let_go(self) -> tuple[str, ...]:
        """Stop the queries of a checkpoint that were not started again; which ones."""
        return self._queries.let_go()

    def _choice_for(self, name: str, news: Statistics) -> Choice:
        return self._choose(self.query(name).definition, news)

    def migrate(self, name: str, to: Query | str | Plan) -> Migration:
        """Let a query go on with another plan or definition; see `StartedQuery.migrate`."""
        started = self.query(name)
        wanted = started.definition.like(to) if isinstance(to, str) else to
        if isinstance(wanted, Query):
            return self._redefine(started, wanted)
        functions = self._choose(started.definition, Statistics()).functions
        migration = self.migrations.start(name, lower(wanted, functions), same_meaning=False)
        # Whoever hands over a plan wants that one.
        self.reoptimizer.forget(name)
        return migration

    def _redefine(self, started: StartedQuery, wanted: Query) -> Migration:
        choice = self._choose(wanted, Statistics())
        same = wanted.planned.plan == started.definition.planned.plan
        migration = self.migrations.start(started.name, choice.physical, same, wanted.meaning)
        if wanted.is_fixed:
            self.reoptimizer.forget(started.name)
        else:
            self.reoptimizer.watch(started.name, choice)
        started.redefine(wanted)
        return migration

    def _free_name(self) -> str:
        number = len(self._started) + 1
        while f"q{number}" in self._started:
            number += 1
        return f"q{number}"

    @contextmanager
    def together(self) -> Iterator[None]:
        """Make several changes at once: they take effect with the same tick."""
        try:
            with self._queries.together():
                yield
        finally:
            known = self._queries.queries  # without those that were refused
            self._started = {name: each for name, each in self._started.items() if name in known}

    def adapt(self, sizes: Mapping[str, int], at: int = BEGIN) -> dict[str, tuple[int, int]]:
        """Set sizes of windows and granules for rows that come, from `at` on if that is later.

        Only sizes can be set that all queries allow that depend on them. Returns from which
        instant on which size counts.
        """
        return self.adaptation.adapt(sizes, at)

    def steer(self, manager: ResourceManager, statistics: Callable[[], Statistics]) -> None:
        """Let a resource manager decide which queries are added, and at which sizes they run."""
        self.manager = manager
        Steering(self._queries, self.adaptation, manager, statistics)

    def collected(self, rows: Collected) -> Iterator[pl.DataFrame]:
        """What comes to a sink of the only query, tick by tick, until the input ends."""
        [query] = self._started.values()
        try:
            while not self._run.is_ended:
                self._run.tick_or_wait()
                if (error := query.exception()) is not None:
                    raise error
                yield from rows.taken()
        finally:
            self.stop()

    def before_each_commit(self, hook: Callable[[], None]) -> None:
        """Call a function when sinks have what a tick has brought, before that is written down."""
        self._run.before_commit = hook

    def after_each_tick(self, hook: Callable[[], None]) -> Callable[[], None]:
        """Call a function when a tick is done; returns how to stop that."""
        return self._queries.after_each_tick(hook)

    def after_each_revision(self, hook: Callable[[], None]) -> None:
        """Call a function when queries have come, gone or changed."""
        self._queries.after_revision.append(lambda carried: hook())

    def subscribe(
        self, listener: Listener, every: int = 1, over: float = 0.0
    ) -> Callable[[], None]:
        """Tell a listener about all parts of the graph every few ticks.

        Rates are those since the last call, or over `over` seconds if that is longer.
        Returns how to stop that.
        """
        return self.metadata.subscribe(listener, every, over)

    def _repr_html_(self) -> str:
        from tidemill.notebook.runs import graph_html

        state = "running" if self.is_active else "stopped"
        runs = [(run, run.definition.planned.domain) for run in self._started.values()]
        return graph_html(state, self.ticks, runs, self.sources, self._domain_of)

    def _domain_of(self, source: str) -> TimeDomain | None:
        definitions = (run.definition for run in self._started.values())
        domains = (query.domain_of(source) for query in definitions if source in query.sources)
        return next(domains, None)

    @property
    def nodes(self) -> Mapping[int, NodeMetadata]:
        """The parts of the graph as they stand."""
        return self.metadata.now()
