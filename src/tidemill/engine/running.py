"""The running graph of an engine, as its users see it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from threading import Event, Thread
from typing import Protocol

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
from tidemill.graph.quality import Setting
from tidemill.graph.query_graph import GraphQuery, QueryGraph, State
from tidemill.graph.reoptimize import Choice, Reoptimizer
from tidemill.optimize.statistics import Statistics
from tidemill.physical.lowering import lower
from tidemill.runtime.interface import GraphRun
from tidemill.runtime.progress import Progress, SourceProgress
from tidemill.timeline import BEGIN

Choose = Callable[[Query, Statistics], Choice]
"""How a query is planned so that it shares what it can with others, given what is new."""


class Ticking(GraphRun, Protocol):
    """A run whose ticks are made by whoever holds it."""

    def tick(self) -> None: ...


class StartedQuery:
    """A query of the running graph; its methods are those of a query that runs alone."""

    def __init__(self, host: RunningGraph, query: GraphQuery, definition: Query) -> None:
        self._host = host
        self._query = query
        self._definition = definition

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

    def optimize(self) -> Migration | None:
        """Plan the query with what is known now, and go on with the new plan if it is better."""
        if self._definition.is_fixed:
            raise UnsupportedError(
                f"the operators of `{self.name}` were chosen by hand, and stay",
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

    def explain(self) -> str:
        """The plan that runs; while that is changing, both, and what remains."""
        migration, run = self.migration, self._host.graph.run
        if migration is not None and migration.is_running:
            return migration.report(run.nodes)
        return "\n".join(["physical", render(self._query.job.plan)])

    @property
    def is_active(self) -> bool:
        """Whether it gives answers."""
        return self._query.state is State.RUNNING

    @property
    def progress(self) -> Progress:
        """What was done since it was started, at which sizes, and what changes."""
        if self._query.left is not None:
            return self._query.left[0]
        run, migration = self._host.graph.run, self.migration
        going_on = migration is not None and migration.is_running
        return replace(
            run.progress_of(self.name),
            sizes=self._host.adaptation.histories(self.name),
            migration=migration.remaining(run.nodes) if migration and going_on else None,
        )

    def settings(self, start: int, end: int) -> dict[str, list[Setting]]:
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
        return self._query.error

    def process_all_available(self) -> None:
        """Wait until everything that is there now has been read."""
        self._host.process_all_available()

    def stop(self) -> None:
        """Let the query go; others go on."""
        if self.is_active:
            self._host.graph.remove(self.name)

    def await_termination(self, timeout: float | None = None) -> bool:
        """Wait until the query is stopped or fails."""
        until = None if timeout is None else time.monotonic() + timeout
        while self.is_active and (until is None or time.monotonic() < until):
            time.sleep(0.02)
        if self._query.error is not None:
            raise self._query.error
        return not self.is_active


class RunningGraph:
    """All queries of an engine that run together; `engine.run` makes it.

    Queries are added and stopped while it runs. Those that have parts in common share them.
    """

    def __init__(self, run: GraphRun, choose: Choose) -> None:
        self.graph = QueryGraph(run)
        self.adaptation = Adaptation(self.graph)
        self.metadata = Metadata(self.graph)
        self.migrations = Migrations(self.graph, self.adaptation.taken)
        self._choose = choose
        self.reoptimizer = Reoptimizer(self.graph, self.migrations, self._choice_for)
        self.manager: ResourceManager | None = None
        self._started: dict[str, StartedQuery] = {}
        self._stopping = Event()
        self._ticker: Thread | None = None
        self._begun = False

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
        return not self._stopping.is_set()

    def start(self, query: Query, name: str | None = None, partial: bool = False) -> StartedQuery:
        """Add a query. It runs from the next tick on."""
        if not self.is_active:
            help = "start another with engine.run()"
            raise ExecutionError("the graph was stopped", help=help)
        label = name or self._free_name()
        meaning = render(query.planned.plan)
        choice = self._choose(query, Statistics())
        job = replace(query.job, plan=choice.physical)
        found = self.graph.add(label, job, partial, meaning)
        self._started[label] = StartedQuery(self, found, query)
        if not query.is_fixed:
            self.reoptimizer.watch(label, choice)
        self._begin()
        return self._started[label]

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

    def _begin(self) -> None:
        """Let the run read, once there is a query for what it reads."""
        run = self.graph.run
        if not self._begun and self.graph.is_whole:
            self._begun = True
            run.start()

    def _free_name(self) -> str:
        number = len(self._started) + 1
        while f"q{number}" in self._started:
            number += 1
        return f"q{number}"

    @contextmanager
    def together(self) -> Iterator[None]:
        """Make several changes at once: they take effect with the same tick."""
        with self.graph.together():
            yield
        self._begin()

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
        """Make ticks, where the runtime leaves that to its user."""
        run = self._ticking
        for _ in range(ticks):
            run.tick()

    @property
    def _ticking(self) -> Ticking:
        run = self.graph.run
        if not hasattr(run, "tick"):
            raise UnsupportedError(
                "Spark makes the ticks of this graph", help="wait with process_all_available()"
            )
        return run  # type: ignore[return-value]

    def tick_every(self, seconds: float) -> None:
        """Make ticks from now on, in a thread of their own."""
        run = self._ticking

        def go_on() -> None:
            while not self._stopping.wait(seconds):
                with self.graph.lock:
                    run.tick()

        self._ticker = Thread(target=go_on, name="tidemill-ticks", daemon=True)
        self._ticker.start()

    def process_all_available(self) -> None:
        """Wait until everything that is there now has been read."""
        self.graph.run.process_all_available()

    def heartbeat(self, source: str, at: int) -> None:
        """Say that a stream has come to an instant: rows that hold earlier are late from now on."""
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
        self._stopping.set()
        if self._ticker is not None:
            self._ticker.join()
        self.graph.run.stop()
