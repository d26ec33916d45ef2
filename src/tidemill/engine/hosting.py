"""What runs: queries alone, together, or in the running graph of an engine."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from tidemill.algebra import Plan, Schema, SourceKind
from tidemill.catalog import SourceInfo
from tidemill.connectors.sinks import LateCallback, SinkRequest
from tidemill.engine.allow import AllowList
from tidemill.engine.declared import Declared
from tidemill.engine.describing import entry_columns
from tidemill.engine.environment import Environment
from tidemill.engine.kept import KeptResults, KeptStore
from tidemill.engine.named import Listed, NamedQueries
from tidemill.engine.planning import Planning
from tidemill.engine.query import Query, RunOptions
from tidemill.engine.running import Collected, RunningGraph
from tidemill.engine.sources import is_change_source
from tidemill.engine.started import StartedQueries, StartedQuery
from tidemill.engine.tables import duration
from tidemill.errors import CatalogError, TidemillError
from tidemill.graph.manager import ResourceManager
from tidemill.graph.reoptimize import Choice
from tidemill.graph.shapes import ConstantRelations
from tidemill.optimize.statistics import Statistics
from tidemill.sql import QueryStatement, parse_one
from tidemill.timeline import TimeDomain

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

AT_ONCE = "at once"
"""When ticks are made: as soon as there is something new."""


class QueryHost(Declared):
    """The queries of an engine that run, and those that have a name.

    `bounds` are those of memory and processing for each graph, if there are any.
    """

    def __init__(
        self,
        environment: Environment,
        optimizer: bool | Collection[str],
        bounds: tuple[int | str | None, float | None] | None,
        keep: KeptStore | None,
        allow: AllowList | None,
    ) -> None:
        super().__init__(environment)
        read, running = self._columns_read, self._running_plan
        self._planning = Planning(self.catalog, self.statistics, optimizer, read, running)
        self._running: list[tuple[tuple[Query, ...], RunningGraph]] = []
        self._graph: RunningGraph | None = None
        self._bounds = bounds
        self._keep = keep
        self.allow = allow
        self.confine(allow)
        self.queries = NamedQueries(self.catalog, lambda: self._graph)

    def confine(self, allow: AllowList | None) -> None:
        """Read what is in the folders of a list only if it is there when it is opened.

        Unlike `allow`, that also holds for sources that are known already.
        """
        self._sources.allow = allow

    def close(self) -> None:
        """Stop what was started here: queries, and the Spark session if no one else uses it."""
        if self._graph is not None:
            self._graph.stop()
        for _, graph in self._running:
            graph.stop()
        if self._keep is not None:
            self._keep.close()
        self._running, self._graph = [], None
        self._environment.close()

    def listing(self) -> tuple[Listed, ...]:
        """Everything that has a name, what queries are doing, and what depends on what.

        >>> from tidemill import Engine
        >>> engine = Engine(runtime="inprocess")
        >>> engine.stream("bid", [{"item": 1, "at": 3}], time="at")
        >>> engine.sql("CREATE QUERY hot AS SELECT item FROM bid WINDOW(RANGE 4)")
        >>> for each in engine.listing():
        ...     print(each.name, each.kind, each.state, each.depends_on, each.used_by)
        bid stream  () ('hot',)
        hot query stopped ('bid',) ()
        """
        return self.queries.listing()

    def kept(self, name: str) -> KeptResults:
        """The answer of a query, as far as it is known, if the engine keeps answers.

        >>> from tidemill import Engine
        >>> engine = Engine(runtime="inprocess", keep=KeptStore(rows=1000))
        >>> engine.sql("CREATE STREAM bid (item BIGINT, at BIGINT) ORDERED BY at")
        >>> graph = engine.run()
        >>> engine.sql("CREATE QUERY n AS SELECT COUNT(*) AS n FROM bid WINDOW(RANGE 9)")
        >>> engine.sql("START QUERY n")
        >>> engine.push("bid", [{"item": 1, "at": 3}, {"item": 1, "at": 5}, {"item": 2, "at": 6}])
        3
        >>> graph.tick()
        >>> engine.kept("n").complete_until, engine.kept("n").snapshot().to_pylist()
        (6, [{'n': 2}])
        """
        found = None if self._keep is None else self._keep.of(self.queries.name_of(name))
        if found is None:
            help = "queries without a sink keep theirs, in an engine with keep=KeptStore(...)"
            raise CatalogError(f"the query `{name}` keeps no results", help=help)
        return found

    def run(
        self,
        *,
        checkpoint: str | None = None,
        every: str | None = AT_ONCE,
        late: str | LateCallback | None = None,
    ) -> RunningGraph:
        """Start the running graph: queries that are started from now on run in it, together.

        They, and the streams they read, come and go while it runs. Ticks are made as soon as there
        is something new, or `every` so often ("1 second"), or with None by hand: `graph.tick()`.
        With a `checkpoint`, a graph that was left, or killed, goes on where it was: its queries are
        started again under their names. Rows that come too `late` go where `query.start` says.

        >>> from tidemill import Engine
        >>> engine = Engine(runtime="inprocess")
        >>> engine.sql("CREATE STREAM bid (item BIGINT, at BIGINT) ORDERED BY at")
        >>> graph = engine.run(every=None)
        >>> q = engine.sql("SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 4) GROUP BY item")
        >>> hot = q.start("memory", name="hot")
        >>> engine.push("bid", [{"item": 1, "at": 3}, {"item": 1, "at": 5}, {"item": 2, "at": 6}])
        3
        >>> graph.tick()
        >>> hot.results().to_pylist()
        [{'item': 1, 'n': 1, 'valid_from': 3, 'valid_to': 5}]
        """
        if self._graph is not None and self._graph.is_active:
            help = "it is engine.graph; stop it with engine.graph.stop()"
            raise TidemillError("the graph of this engine is already running", help=help)
        seconds = seconds_of(every)
        self._environment.prepare()
        constants = ConstantRelations()
        run = self._environment.run(checkpoint, late=late, is_open=True, constants=constants)
        self._graph = RunningGraph(run, _choose, constants=constants)
        self._steer(self._graph)
        if self._keep is not None:
            self._graph.after_each_tick(partial(self._keep.complete, self._graph))
            self._graph.before_each_commit(self._keep.write)
        if seconds is not None:
            self._graph.tick_every(seconds, self._graph.note_failure)
        return self._graph

    @property
    def graph(self) -> RunningGraph:
        """The running graph."""
        if self._graph is None or not self._graph.is_active:
            raise TidemillError("no graph is running", help="start it with engine.run()")
        return self._graph

    @property
    def is_running(self) -> bool:
        """Whether queries that are started join a running graph."""
        return self._graph is not None and self._graph.is_active

    def start(
        self,
        *queries: Query,
        checkpoint: str | None = None,
        available_now: bool = False,
        every: str | None = None,
        late: str | LateCallback | None = None,
    ) -> StartedQueries:
        """Run queries together, in a graph of their own: every tick reads their sources once.

        Each query sends its results to its own sink (`query.into`, INSERT INTO, or the console).
        The other arguments are those of `query.start`.
        """
        if not queries:
            raise TidemillError("there is no query to start", help="engine.start(query, ...)")
        options = RunOptions(checkpoint, available_now, every, late)
        graph, started = self._alone(queries, options)
        for query, run in zip(queries, started, strict=True):
            query.runs_as(run)
        graph.tick_every(seconds_of(every or AT_ONCE) or 0)
        return StartedQueries(graph, started)

    def started(self, query: Query, options: RunOptions, name: str | None) -> StartedQuery:
        """A query that runs from now on: in the running graph, or in one of its own."""
        if self.is_running:
            _refuse_own_run(options)
            self._use([query])
            return self.graph.start(query, name, options.partial)
        graph, (started,) = self._alone([query], options)
        graph.tick_every(seconds_of(options.every or AT_ONCE) or 0)
        return started

    def collected(self, query: Query) -> Iterator[pl.DataFrame]:
        """The rows of a query tick by tick, in a graph that ends with its input."""
        rows = Collected()
        # Its windows stay at their best sizes: a table has room for one answer only.
        options = RunOptions(available_now=True)
        graph, (started,) = self._alone([query.into(rows)], options, is_bounded=False)
        query.follow(lambda: started.progress)
        yield from graph.collected(rows)

    def rows_at_hand(self, query: Query) -> int | None:
        """How many rows there are to read, if they were handed over as tables, and if no Spark has
        to be started to read them."""
        if not self._environment.is_ready:
            return None
        found = [self._sources.rows_at_hand(info) for info in query.sources.values()]
        known = [rows for rows in found if rows is not None]
        return sum(known) if len(known) == len(found) else None

    def planned(self, text: str) -> Query:
        """The query of a text that is one."""
        statement = parse_one(text)
        if not isinstance(statement, QueryStatement):
            raise TidemillError("this is not a query", help="write SELECT ...")
        if self.allow is not None:
            self.allow.check(statement)
        return self._planning.query(statement, statement.tree, SinkRequest(), self)

    def one_of_many(self, text: str) -> Query | None:
        """The query of a text like those of queries that run, if that is known without a plan."""
        if self.allow is not None or not self.is_running:
            return None
        return self.graph.templates.query(text, self.catalog)

    def _alone(
        self, queries: Sequence[Query], options: RunOptions, is_bounded: bool = True
    ) -> tuple[RunningGraph, list[StartedQuery]]:
        """A graph of some queries and no others; if it `is_bounded`, by what the engine may use."""
        _refuse_other_sources(queries)
        self._use(queries)
        run = self._environment.run(options.checkpoint, options.available_now, options.late)
        graph = RunningGraph(run, _choose_alone, is_open=False)
        try:
            if is_bounded:
                self._steer(graph)
            with graph.together():
                started = [graph.start(query) for query in queries]
            graph.let_go()
        except BaseException:
            graph.stop()
            raise
        for query in started:
            query.is_alone = len(started) == 1
        self._running = [each for each in self._running if each[1].is_active]
        self._running.append((tuple(queries), graph))
        return graph, started

    def _steer(self, graph: RunningGraph) -> None:
        """Let a resource manager keep a graph within the bounds of the engine, if there are any."""
        if self._bounds is not None:
            graph.steer(ResourceManager(*self._bounds), lambda: self.statistics.known)

    def _use(self, queries: Sequence[Query]) -> None:
        """Relations that change have the time of the queries that use them."""
        for query in queries:
            for info in query.sources.values():
                if info.kind is SourceKind.CHANGING and not is_change_source(info):
                    self._sources.kept(info).use(query.planned.domain)

    @property
    def spark(self) -> SparkSession:
        """The Spark session that queries run on; one on this machine is started if need be."""
        return self._environment.spark

    def prepare(self, quietly: bool = False) -> None:
        """Let Spark get ready in the background, if queries run there: it takes some seconds.

        Quietly, what Java says on the terminal is dropped.
        """
        self._environment.prepare(quietly)

    @property
    def title(self) -> str:
        """Where queries run, in a few words.

        >>> from tidemill import Engine
        >>> Engine(runtime="inprocess").title
        'in this process'
        """
        return self._environment.title

    def _repr_html_(self) -> str:
        from tidemill.notebook.catalogs import engine_html

        place = "on Spark" if self._environment.on_spark else "in this process"
        return engine_html(place, self.listing(), self._columns_of)

    def _columns_of(self, name: str) -> Schema:
        return entry_columns(self.catalog.lookup(name))

    def hold_what_runs(self) -> None:
        """Streams that running queries read cannot be dropped."""
        self.queries.hold_what_runs()
        for number, (queries, graph) in enumerate(self._running, 1):
            reads = frozenset[str]().union(*(query.depends_on for query in queries))
            self.catalog.hold(f"query {number}", reads if graph.is_active else ())

    def _running_plan(self, name: str) -> tuple[Plan, Plan] | None:
        """What a named query of the running graph means, and the plan that runs for it."""
        run = self.graph.started(name) if self.is_running else None
        if run is None or not run.is_active or run.definition.is_fixed:
            return None
        query = run.definition
        return query.planned.plan, query.plan.optimized.plan

    def _columns_read(self, source: str) -> list[Schema]:
        """The columns of a source that queries of the running graph read, in every reading."""
        if not self.is_running:
            return []
        return [leaf.scan.columns for leaf in self.graph.readings_of(source)]


def _choose(query: Query, news: Statistics) -> Choice:
    """The plan of a query in the running graph, made with what is known now."""
    return query.plan.choice if query.is_fixed else query.replan(news)


def _choose_alone(query: Query, news: Statistics) -> Choice:
    return query.plan.choice if query.is_fixed else query.replan(news, shares=False)


def seconds_of(every: str | None) -> float | None:
    """A time on the clock as seconds; 0 is at once, and None never."""
    if every is None or every == AT_ONCE:
        return None if every is None else 0.0
    return duration(every, TimeDomain.MICROSECONDS) / 1_000_000


def _refuse_own_run(options: RunOptions) -> None:
    if options.are_of_a_graph:
        raise TidemillError(
            "checkpoint, available_now, every and late belong to the running graph",
            help="give them to engine.run, or stop the graph with engine.graph.stop()",
        )


def _refuse_other_sources(queries: Iterable[Query]) -> None:
    """Queries that run together must mean the same by a name."""
    found: dict[str, SourceInfo] = {}
    for query in queries:
        for name, info in query.sources.items():
            if found.setdefault(name, info) != info:
                raise TidemillError(
                    f"`{name}` is not the same stream in all queries: it was dropped and "
                    "created again",
                    help="create the queries again with engine.sql",
                )
