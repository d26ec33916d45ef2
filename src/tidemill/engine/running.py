"""The running graph of an engine, as its users see it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from threading import Event

import polars as pl
import pyarrow as pa

from tidemill.algebra.plan import Plan, render
from tidemill.engine.query import Query
from tidemill.errors import ExecutionError, UnsupportedError
from tidemill.graph.adaptation import Adaptation
from tidemill.graph.manager import ResourceManager
from tidemill.graph.manager.steering import Steering
from tidemill.graph.metadata import Listener, Metadata, NodeMetadata
from tidemill.graph.migration import Migration
from tidemill.graph.migrations import Migrations
from tidemill.graph.quality import SizeSetting
from tidemill.graph.query_graph import GraphQuery, QueryGraph, QueryState
from tidemill.graph.reoptimize import Choice, Reoptimizer
from tidemill.optimize.statistics import Statistics
from tidemill.physical.lowering import lower
from tidemill.physical.operator import Exec
from tidemill.runtime.interface import Job
from tidemill.runtime.progress import Progress, SourceProgress
from tidemill.runtime.run import Run
from tidemill.runtime.ticker import Ticker
from tidemill.timeline import BEGIN

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


class StartedQuery:
    """A query that runs, perhaps with others; its methods are named as those of PySpark's
    StreamingQuery."""

    def __init__(self, host: RunningGraph, query: GraphQuery, definition: Query) -> None:
        self._host = host
        self._query = query
        self._definition = definition
        self.is_alone = False
        """Whether the graph is its own, and ends with it."""

    @property
    def depends_on(self) -> tuple[str, ...]:
        """The streams and relations that it reads."""
        return tuple(sorted(self._definition.depends_on))

    @property
    def name(self) -> str:
        return self._query.name

    @property
    def state(self) -> str:
        """`running`, `stopped`, or `failed`."""
        return self._query.state.value

    @property
    def complete_from(self) -> int:
        """The instant from which on its answers are those of all rows that ever came."""
        return self._query.complete_from

    @property
    def definition(self) -> Query:
        """What it asks for."""
        return self._definition

    def migrate(self, to: Query | str | Plan) -> Migration:
        """Go on with another plan or definition while it runs, without a gap.

        `to` is a query, its text (perhaps with other hints), or a logical plan, with the same
        columns. Answers before an instant, the `split` of what is returned, are those of the old
        plan, and from then on those of the new one, which knows by then all that counts.
        """
        return self._host.migrate(self.name, to)

    def adapt(self, sizes: Mapping[str, int], at: int = BEGIN) -> dict[str, tuple[int, int]]:
        """Set sizes of windows and granules for rows that come; see `RunningGraph.adapt`."""
        return self._host.adapt(sizes, at)

    def optimize(self) -> Migration | None:
        """Plan the query with what is known now, and go on with the new plan if it is better."""
        if self._definition.is_fixed:
            raise UnsupportedError(
                f"the operators of `{self.name}` were chosen by hand and are not optimized",
                help=f"give it a definition that can be planned: ALTER QUERY {self.name} AS ...",
            )
        return self._host.reoptimizer.optimize(self.name)

    @property
    def migration(self) -> Migration | None:
        """The last change of its plan, while it goes on and after."""
        return self._host.migrations.of.get(self.name)

    def redefine(self, definition: Query) -> None:
        """Take note that it asks for something else."""
        self._definition = definition
        definition.runs_as(self)

    def explain(self) -> str:
        """The plan that runs; while that is changing, both, and what remains."""
        migration, run = self.migration, self._host.graph.run
        if migration is not None and migration.is_running:
            return migration.report(run.nodes)
        return "\n".join(["physical", render(self.plan)])

    @property
    def plan(self) -> Exec:
        """The operators that run."""
        return self._query.root.running

    @property
    def is_active(self) -> bool:
        """Whether it gives answers."""
        running = self._query.state is QueryState.RUNNING and self._host.is_active
        ticker = self._host.ticker
        return running and (ticker is None or ticker.is_alive or not self.is_alone)

    @property
    def progress(self) -> Progress:
        """What was done since it was started, at which sizes, and what changes."""
        left = self._query.left
        if left is not None:
            return left[0]
        run, migration = self._host.graph.run, self.migration
        going_on = migration is not None and migration.is_running
        try:
            now = run.progress_of(self.name)
        except ExecutionError:
            left = self._query.left
            if left is None:
                raise
            return left[0]  # it was stopped meanwhile
        return replace(
            now,
            sizes=self._host.adaptation.histories(self.name),
            migration=migration.remaining(run.nodes) if migration and going_on else None,
        )

    def settings(self, start: int, end: int) -> dict[str, list[SizeSetting]]:
        """The sizes of windows and granules that answers were computed with that hold in
        [start, end), where these can be changed."""
        return self._host.adaptation.settings(self.name, start, end)

    def progress_of(self, query: int) -> Progress:
        """The same: the query stands for itself."""
        return self.progress

    def heartbeat(self, source: str, at: int) -> None:
        """Say that a stream has come to an instant, for all queries of the graph."""
        self._host.heartbeat(source, at)

    def results(self, query: int = 0) -> pa.Table:
        """What its sink `memory` holds now, or held when it was stopped."""
        if self._query.left is not None and self._query.left[1] is not None:
            return self._query.left[1]
        return self._host.graph.run.results(self.name)

    def exception(self) -> Exception | None:
        """What stopped the query, if it failed."""
        return self._query.error or self._host.error

    def process_all_available(self) -> None:
        """Come back when everything that is there now has been read."""
        self._host.process_all_available()
        if self._query.error is not None:
            raise self._query.error

    def stop(self) -> None:
        """Let the query go; others go on."""
        if self.is_alone:
            self._host.stop()
        elif self.is_active:
            self._host.remove(self.name)

    def await_termination(self, timeout: float | None = None) -> bool:
        """Wait until the input ends, or the query is stopped or fails."""
        over = self._host.waited(lambda: not (self.is_active or self.is_alone), timeout)
        if (error := self.exception()) is not None:
            raise error
        return over


class StartedQueries:
    """Queries that run together, in a graph of their own; by number, in their order."""

    def __init__(self, graph: RunningGraph, queries: Sequence[StartedQuery]) -> None:
        self._graph = graph
        self._queries = queries

    @property
    def queries(self) -> tuple[StartedQuery, ...]:
        """Each of them, to be looked at, changed or stopped."""
        return tuple(self._queries)

    @property
    def is_active(self) -> bool:
        """Whether any of them gives answers."""
        return any(query.is_active for query in self._queries)

    @property
    def progress(self) -> Progress:
        """What was done since the start, by all of them."""
        every = [query.progress for query in self._queries]
        sources = {name: read for each in every for name, read in each.sources.items()}
        operators = {id(o): o for each in every for o in each.operators}
        rows_out = sum(each.rows_out for each in every)
        return replace(
            every[0], rows_out=rows_out, sources=sources, operators=tuple(operators.values())
        )

    def progress_of(self, query: int) -> Progress:
        """What was done since the start, with the results of one of them."""
        return self._queries[query].progress

    def results(self, query: int = 0) -> pa.Table:
        """What the sink `memory` of a query holds now."""
        return self._queries[query].results()

    def heartbeat(self, source: str, at: int) -> None:
        """Say that a stream has come to an instant."""
        self._graph.heartbeat(source, at)

    def exception(self) -> Exception | None:
        """What stopped one of them, if it failed."""
        errors = (query.exception() for query in self._queries)
        return next((error for error in errors if error is not None), None)

    def process_all_available(self) -> None:
        """Come back when everything that is there now has been read."""
        self._graph.process_all_available()
        if (error := self.exception()) is not None:
            raise error

    def stop(self) -> None:
        """Stop all of them."""
        self._graph.stop()

    def await_termination(self, timeout: float | None = None) -> bool:
        """Wait until the input ends, or all are stopped, or one fails."""
        ended = self._graph.await_termination(timeout)
        if (error := self.exception()) is not None:
            raise error
        return ended


class RunningGraph:
    """Queries that run together; `engine.run` makes one that is open for more.

    Then queries are added and stopped while it runs. Those that have parts in common share them.
    """

    def __init__(self, run: Run, choose: Choose, is_open: bool = True) -> None:
        self.graph = QueryGraph(run, is_open)
        self._is_open = is_open
        self.adaptation = Adaptation(self.graph)
        self.metadata = Metadata(self.graph)
        self.migrations = Migrations(self.graph, self.adaptation.taken)
        self._choose = choose
        self.reoptimizer = Reoptimizer(self.graph, self.migrations, self._choice_for)
        self.manager: ResourceManager | None = None
        self.ticker: Ticker | None = None
        self._started: dict[str, StartedQuery] = {}
        self._is_stopped = False
        self._gone = Event()
        self._failure: Exception | None = None

    @property
    def queries(self) -> Mapping[str, StartedQuery]:
        """All queries that were started, by name."""
        return dict(self._started)

    def query(self, name: str) -> StartedQuery:
        """A query that was started, by name, whatever its case."""
        if name not in self._started:
            named = {known.casefold(): known for known in self._started}
            name = named.get(name.casefold(), name)
        self.graph.find(name)
        return self._started[name]

    @property
    def sources(self) -> Mapping[str, SourceProgress]:
        """What was read of every stream."""
        return self.graph.run.sources

    @property
    def is_active(self) -> bool:
        """Whether the graph can run."""
        return not self._is_stopped

    def start(self, query: Query, name: str | None = None, partial: bool = False) -> StartedQuery:
        """Add a query. It runs from the next tick on."""
        if not self.is_active:
            help = "start another with engine.run()"
            raise ExecutionError("the graph was stopped", help=help)
        label = name or self._free_name()
        meaning = render(query.planned.plan)
        choice = self._choose(query, Statistics())
        job = Job(choice.physical, query.planned.domain, query.sink)
        found = self.graph.add(label, job, partial, meaning)
        started = self._started[label] = StartedQuery(self, found, query)
        query.runs_as(started)
        if not query.is_fixed:
            self.reoptimizer.watch(label, choice)
        return started

    def remove(self, name: str) -> None:
        """Let a query go; a graph that is not open for others ends with its last one."""
        self.graph.remove(name)
        if not self._is_open and not self.graph.running:
            self.stop()

    def forget(self, name: str) -> None:
        """Stop a query, and know nothing more of it."""
        self.graph.forget(name)
        self.reoptimizer.forget(name)
        self.migrations.of.pop(name, None)
        self._started.pop(name, None)

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
        meaning = render(wanted.planned.plan)
        migration = self.migrations.start(started.name, choice.physical, same, meaning)
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
            with self.graph.together():
                yield
        finally:
            known = self.graph.queries  # without those that were refused
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
        Steering(self.graph, self.adaptation, manager, statistics)

    def tick(self, ticks: int = 1) -> None:
        """Make ticks now."""
        for _ in range(ticks):
            self.graph.run.tick()

    def tick_every(
        self, seconds: float, failed: Callable[[Exception], None] | None = None
    ) -> Ticker:
        """Make ticks from now on, in a thread of their own; 0 is as soon as something is new."""
        whole = partial(getattr, self.graph, "is_whole")
        # Where more queries may come, the end of what these read is not the end.
        over = (lambda: False) if self._is_open else partial(getattr, self, "_has_done_its_work")
        self.ticker = Ticker(self.graph.run, seconds, failed, whole, over, self._let_go)
        self.ticker.start()
        return self.ticker

    @property
    def is_ended(self) -> bool:
        """Whether nothing can come any more of what the queries read, and all of it was read."""
        run = self.graph.run
        return self.graph.is_whole and run.is_ended and not run.has_more

    def _let_go(self) -> None:
        """The input has ended, or no tick can be made: let others use the checkpoint."""
        if not self._is_stopped:
            self._is_stopped = True
            self.graph.let_all_go()
            self.graph.run.stop()
            self._gone.set()

    @property
    def error(self) -> Exception | None:
        """Why the last tick could not be made, if so."""
        ended = None if self.ticker is None else self.ticker.error
        return ended or self._failure

    def note_failure(self, error: Exception) -> None:
        """Take note that a tick could not be made; it is tried again."""
        self._failure = error

    def process_all_available(self) -> None:
        """Come back when everything that is there now has been read."""
        if self.graph.run.is_bounded and self.ticker is not None:
            self.await_termination()
        if self.error is not None:
            raise self.error
        if self.is_active:
            self.graph.run.process_all_available()

    def await_termination(self, timeout: float | None = None) -> bool:
        """Wait for the end of the input, or until the graph is stopped."""
        over = self.waited(self._gone.is_set, timeout)
        if self.error is not None:
            raise self.error
        return over

    def waited(self, done: Callable[[], bool], timeout: float | None = None) -> bool:
        """Wait until the input ends or something is done; whether that came in time."""
        until = None if timeout is None else time.monotonic() + timeout
        while not (over := done() or self._is_over):
            if until is not None and time.monotonic() >= until:
                break
            time.sleep(0.01)
        return over

    @property
    def _is_over(self) -> bool:
        """Whether there is nothing to wait for; what was let go of can be used by others."""
        return self.is_ended if self._is_open else self._gone.is_set()

    @property
    def _has_done_its_work(self) -> bool:
        return self.is_ended or (self.graph.is_whole and not self.graph.running)

    def heartbeat(self, source: str, at: int) -> None:
        """Say that a stream has come to an instant: rows that hold earlier, and come from now on,
        are late."""
        self.graph.run.heartbeat(source, at)

    def subscribe(
        self, listener: Listener, every: int = 1, over: float = 0.0
    ) -> Callable[[], None]:
        """Tell a listener about all parts of the graph after every so many ticks.

        Rates are those since it was told before, or if that is longer, `over` so many seconds.
        Returns how to stop that.
        """
        return self.metadata.subscribe(listener, every, over)

    @property
    def nodes(self) -> Mapping[int, NodeMetadata]:
        """The parts of the graph as they stand."""
        return self.metadata.now()

    def stop(self) -> None:
        """Stop all queries, and the graph."""
        if self.ticker is not None:
            self.ticker.stop()
        self._let_go()
