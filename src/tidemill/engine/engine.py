"""The engine: streams, relations and functions by name, and SQL over them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa
from sqlglot import exp
from sqlglot.errors import ParseError

from tidemill.algebra import Plan, Range, Recurrence, Schema, SourceKind, UserAggregate
from tidemill.algebra.tables import normal_schema, to_tables
from tidemill.algebra.types import from_sql
from tidemill.analyze import Catalog, SourceInfo
from tidemill.engine.allow import AllowList
from tidemill.engine.checking import Checked, check
from tidemill.engine.kept import KeptResults, KeptStore
from tidemill.engine.named import Listed, NamedQueries
from tidemill.engine.place import Place
from tidemill.engine.planning import Planning
from tidemill.engine.promises import recurrence, value_ranges
from tidemill.engine.query import Query
from tidemill.engine.relations import condition_of
from tidemill.engine.running import Collected, RunningGraph, StartedQueries, StartedQuery
from tidemill.engine.sources import Rows, is_change_source
from tidemill.engine.statements import Statements, query_tree, sink_of
from tidemill.engine.statistics import StatisticsStore
from tidemill.engine.tables import (
    duration,
    is_spark_frame,
    pushed_table,
    spark_frame_schema,
    time_domain,
)
from tidemill.errors import CatalogError, TidemillError
from tidemill.expressions import UserFunction
from tidemill.feeds import Inbox, Receipt
from tidemill.graph.manager import ResourceManager
from tidemill.graph.reoptimize import Choice
from tidemill.optimize.statistics import Statistics
from tidemill.physical.operator import Exec
from tidemill.physical.source import SourceExec
from tidemill.results import LateCallback
from tidemill.sql import InsertInto, Statement, parse, parse_one
from tidemill.store import Store, durability_of
from tidemill.timeline import TimeDomain

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

AT_ONCE = "at once"
"""When ticks are made: as soon as there is something new."""


class Engine:
    """Runs continuous queries: on a local Spark, on the `spark` session of yours, or in process.

    A local Spark is started when it is first needed. The runtime `"inprocess"` needs no JVM.
    While much waits, ticks take as much as is done in about the time of `latency`.
    `optimizer` is False to run queries as they are written, or names the rules to leave out.
    `memory` ("2GB") and `cpu` (0.8 of a core) bound what the running graph needs: it changes the
    sizes of windows and granules, as far as queries allow, and refuses queries beyond that.
    With `keep`, the answers of queries that have a name and no sink are kept there (`kept`). With
    `allow`, statements can name only the files and servers on that list. What is in a checkpoint
    survives the machine, or with `durability="process"` only the process.

    >>> engine = Engine(runtime="inprocess")
    >>> engine.stream("bid", [{"item": 1, "at": 3}, {"item": 1, "at": 5}], time="at")
    >>> q = engine.sql("SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 4) GROUP BY item")
    >>> [tuple(row.values()) for row in q.collect().to_pylist()]
    [(1, 1, 3, 5), (1, 2, 5, 7), (1, 1, 7, 9)]
    """

    def __init__(
        self,
        runtime: str = "spark",
        *,
        spark: SparkSession | None = None,
        partitions: int | None = None,
        latency: str | None = "1 second",
        optimizer: bool | Collection[str] = True,
        memory: int | str | None = None,
        cpu: float | None = None,
        keep: KeptStore | None = None,
        allow: AllowList | None = None,
        durability: str = "machine",
    ) -> None:
        self.catalog = Catalog()
        self.statistics = StatisticsStore(self.catalog)
        self._place = Place(
            runtime,
            spark,
            partitions,
            self.catalog,
            self.statistics,
            _seconds(latency),
            durability_of(durability),
        )
        self._planning = Planning(self.catalog, self.statistics, optimizer, self._columns_read)
        self._sources = self._place.sources
        self._running: list[tuple[tuple[Query, ...], RunningGraph]] = []
        self._graph: RunningGraph | None = None
        self._bounds = (memory, cpu) if memory or cpu else None
        self._keep = keep
        self.allow = allow
        self.confine(allow)
        self.queries = NamedQueries(self.catalog, lambda: self._graph)
        self.plans: Callable[[Engine, str], Query] | None = None
        """How plans in statements are read: `tidemill.compose.read_plan`."""
        self._statements = Statements(self, self._planning, self._place, keep)

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop what was started here: queries, and the Spark session if no one else uses it."""
        if self._graph is not None:
            self._graph.stop()
        for _, graph in self._running:
            graph.stop()
        if self._keep is not None:
            self._keep.close()
        self._running, self._graph = [], None
        self._place.close()

    def stream(
        self,
        name: str,
        source: Any,
        time: str,
        slack: int | str | timedelta = 0,
        idle: str | timedelta | None = None,
        retain: int | str | timedelta | None = None,
        ranges: Mapping[str, Range | tuple[float, float]] | None = None,
        at_most: Mapping[str, int] | Recurrence | None = None,
        ahead: int | str | timedelta | None = None,
    ) -> None:
        """Register a stream: one table, or a list of tables that arrive one per tick.

        Of a stream into which rows are pushed (`push`), the columns are given: a schema of Arrow.

        `time` names the column that says when a row is valid: an integer or a timestamp. Rows
        may be out of order by `slack`; later ones are counted and left out. A stream that brings
        no rows for the time `idle` ("30 seconds", on the clock) does not hold others back. Rows are
        kept for queries that start later until they are older than the time `retain` ("1 hour").
        Rows that are further `ahead` than that, of the clock for timestamps and of the watermark
        for integers, are left out as late ones are.

        Values of columns are held to their `ranges`, `(0, 1)` or `Range(0, 1, clip=True)`. There
        are `at_most` so many rows with one value of a column, as in `{"id": 1}`.
        """
        rows, types = self._rows(name, source)
        _require(name, types, time)
        domain = time_domain(name, time, types[time])
        info = SourceInfo(
            name=name,
            schema=types.select(column for column in types.names if column != time),
            kind=SourceKind.STREAM,
            domain=domain,
            time_column=time,
            time_type=types[time],
            slack=duration(slack, domain),
            retain=None if retain is None else duration(retain, domain),
            ahead=None if ahead is None else duration(ahead, domain),
            idle=None if idle is None else duration(idle, TimeDomain.MICROSECONDS) / 1_000_000,
            bounded=True,
            declared=types,
            ranges=value_ranges(name, types, ranges or {}),
            recurs=recurrence(name, types, at_most),
        )
        self.catalog.add_source(info)
        self._sources.put(info, rows)

    def relation(
        self,
        name: str,
        source: Any,
        valid: tuple[str, str] | None = None,
        changing: bool | tuple[str, str] = False,
    ) -> None:
        """Register a relation: constant, or with the two columns that say when rows hold.

        Into one that is `changing`, rows can be inserted, and deleted from it, while queries run.
        If its past is known, two columns say when rows were inserted and deleted (NULL: not yet).
        """
        if valid and changing:
            help = "give the two columns to one of them"
            raise CatalogError(f"`{name}` is either valid or changing, not both", help=help)
        times = valid or (changing if isinstance(changing, tuple) else None)
        rows, types = self._rows(name, source)
        for column in times or ():
            _require(name, types, column)
        info = SourceInfo(
            name=name,
            schema=types.select(column for column in types.names if column not in (times or ())),
            kind=_kind(valid, changing),
            domain=None if times is None else time_domain(name, times[0], types[times[0]]),
            valid_from=times[0] if times else None,
            valid_to=times[1] if times else None,
            bounded=True,
            declared=types,
            rows=sum(table.num_rows for table in rows) if isinstance(rows, list) else None,
        )
        self.catalog.add_source(info)
        self._sources.put(info, rows)

    def push(self, name: str, rows: Any) -> int:
        """Push rows into a stream; how many. The next tick of the running graph takes them.

        If that graph has a checkpoint and reads the stream, they are in it when this returns.
        """
        return self.hand_in(name, rows).rows

    def hand_in(self, name: str, rows: Any) -> Receipt:
        """Push rows into a stream; what is returned tells when a tick has taken them."""
        info = self._place.source(name)
        return self._sources.pushed(info).push(pushed_table(info, rows))

    def waiting(self, name: str) -> int:
        """How many rows that were pushed into a stream wait to be read."""
        return self._sources.pushed(self.source(name)).waiting

    def source(self, name: str) -> SourceInfo:
        """A stream or relation that comes from outside, by name."""
        return self._place.source(name)

    def insert(self, name: str, rows: Any, at: int | datetime | None = None) -> int:
        """Insert rows into a relation that changes; how many.

        They count from the instant `at` on, but for a query that runs not from before what it has
        seen of its streams; without `at`, from when a running query sees them, and from the
        beginning for one that is started later.

        >>> engine = Engine(runtime="inprocess")
        >>> engine.relation("desk", [{"id": 1}], changing=True)
        >>> engine.insert("desk", [{"id": 2}, {"id": 3}], at=10)
        2
        >>> engine.delete("desk", "id < 3", at=20)
        2
        >>> engine.sql("SELECT id FROM desk").snapshot(20).to_pylist()
        [{'id': 3}]
        """
        return self._sources.kept(self._place.source(name)).insert(rows, at)

    def delete(self, name: str, where: str | None = None, at: int | datetime | None = None) -> int:
        """Delete the rows of a relation for which a condition is true, or all; how many.

        With `at`, those that are there at that instant, from then on; see `insert`.
        """
        kept = self._sources.kept(self._place.source(name))
        if where is None:
            return kept.delete(None, "", self.catalog, at)
        text = f"DELETE FROM `{name}` WHERE {where}"
        return kept.delete(condition_of(parse_one(text)), text, self.catalog, at)

    def keep_relations(self, store: Store) -> None:
        """Keep the changes of relations in a store, so that a restart has them."""
        self._sources.store = store

    def clear_relation(self, name: str) -> None:
        """Delete what is kept of a relation that is no more."""
        if self.catalog.find(name) is None:
            self._sources.clear(name)

    def function(
        self,
        name: str,
        call: Callable[..., Any],
        returns: str | pa.DataType,
        monotone: bool = False,
        version: str | None = None,
    ) -> None:
        """Register a scalar function; it is called with one argument per column value.

        One that is `monotone` never falls when an argument rises, NULL being the least. Rankings
        by such a score can leave out what has no chance. A checkpoint has the name of a function
        and its `version`, or else a digest of its code: queries go on with the same one only.
        """
        function = UserFunction(name, call, _type(returns), monotone, version)
        self.catalog.functions[name.lower()] = function

    def aggregate(
        self,
        name: str,
        *,
        init: Callable[[Any], Any],
        merge: Callable[[Any, Any], Any],
        eval: Callable[[Any], Any],
        returns: str | pa.DataType,
        version: str | None = None,
    ) -> None:
        """Register an aggregate: `init` a value, `merge` two partial results, `eval` one.

        For a checkpoint, partial results must be made of numbers, texts, bytes, dates, tuples,
        lists, dicts and sets; for the `version`, see `function`.
        """
        function = UserAggregate(name.upper(), init, merge, eval, _type(returns), version)
        self.catalog.aggregates[name.lower()] = function

    def hint(
        self,
        stream: str | None = None,
        *,
        rate: float | None = None,
        per: int | str | timedelta | None = None,
        distinct: Mapping[str, float] | None = None,
        rows: float | None = None,
        length: int | str | timedelta | None = None,
        selectivity: Mapping[str, float] | None = None,
    ) -> None:
        """Tell the planner what you know; it wins over what runs have seen.

        `rate` is rows of a stream per second, for integer time per instant, or `per` so much time
        ("1 minute"). `distinct` is the number of different values by column, `rows` the size of a
        relation, `length` how long its rows hold on average. `selectivity` is the share of rows,
        or of pairs of rows, that meet a condition, with names of streams and not of aliases:

        >>> engine = Engine(runtime="inprocess")
        >>> engine.stream("bid", [{"item": 1, "price": 5, "at": 3}], time="at")
        >>> engine.hint("bid", rate=3, distinct={"item": 500}, selectivity={"bid.price > 9": 0.1})
        >>> print(engine.statistics)
        stream  rate           distinct
        bid     3 per instant  item=500
        bid.price > 9: 0.1
        """
        if stream is None and (rate, distinct, rows, length) != (None,) * 4:
            help = 'engine.hint("bid", rate=...)'
            raise TidemillError("a hint about a stream needs its name", help=help)
        if stream is not None:
            self.statistics.tell(stream, rate, per, distinct or {}, rows, length)
        self.statistics.tell_shares(selectivity or {})

    def sql(self, text: str) -> Query | None:
        """Run a script; the query of its last statement, if that is a query."""
        queries = self.script(text)
        return queries[-1] if queries else None

    def script(self, text: str) -> list[Query | None]:
        """Run a script; for each of its statements the query, if it is one."""
        return [self.execute(statement) for statement in parse(text)]

    def check(self, text: str) -> Checked:
        """What is wrong with a script, and what it would do; nothing happens.

        >>> engine = Engine(runtime="inprocess")
        >>> engine.sql("CREATE STREAM bid (item BIGINT, at BIGINT) ORDERED BY at")
        >>> print(engine.check("SELECT itm FROM bid WINDOW(RANGE 4)").errors[0])
        error: unknown column `itm` in stream `bid`
          line 1, column 8
            SELECT itm FROM bid WINDOW(RANGE 4)
                   ^^^
        help: did you mean `item`? columns: item
        """
        return check(text, self.catalog, self.queries.names, self.allow)

    def confine(self, allow: AllowList | None) -> None:
        """Read what is in the folders of a list only if it is there when it is opened.

        Unlike `allow`, that also holds for sources that are known already.
        """
        self._sources.allow = allow

    def planner(self) -> Callable[[Statement], Query | None]:
        """How queries are planned with what is known now, whatever changes while that goes on.

        None if a statement has no query, or one that is a plan already.
        """
        apart = self._planning.apart()

        def plan(statement: Statement) -> Query | None:
            if self.allow is not None:
                self.allow.check(statement)
            tree = query_tree(statement)
            if tree is None:
                return None
            sink = statement.sink if isinstance(statement, InsertInto) else None
            return apart.query(statement, tree, sink_of(sink), self)

        return plan

    def checker(self) -> Callable[[str], Checked]:
        """`check` over what there is now, whatever changes while that goes on."""
        catalog, names = self.catalog.copy(), list(self.queries.names)
        return lambda text: check(text, catalog, names, self.allow)

    def execute(self, statement: Statement) -> Query | None:
        """Run one statement; its query, if it is one."""
        return self._statements.execute(statement)

    def compose(self, plan: Exec, meaning: Plan, domain: TimeDomain | None, text: str) -> Query:
        """A query with operators that someone chose; `tidemill.compose` makes them."""
        return self._planning.composed(plan, meaning, domain, text, self)

    def kept(self, name: str) -> KeptResults:
        """The answer of a query, as far as it is known, if the engine keeps answers.

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

    def listing(self) -> tuple[Listed, ...]:
        """Everything that has a name, what queries are doing, and who depends on whom.

        >>> engine = Engine(runtime="inprocess")
        >>> engine.stream("bid", [{"item": 1, "at": 3}], time="at")
        >>> engine.sql("CREATE QUERY hot AS SELECT item FROM bid WINDOW(RANGE 4)")
        >>> for each in engine.listing():
        ...     print(each.name, each.kind, each.state, each.depends_on, each.used_by)
        bid stream  () ('hot',)
        hot query stopped ('bid',) ()
        """
        return self.queries.listing()

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

        >>> engine = Engine(runtime="inprocess")
        >>> engine.stream("bid", pa.schema({"item": pa.int64(), "at": pa.int64()}), time="at")
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
            raise TidemillError("the graph of this engine is running already", help=help)
        seconds = _seconds(every)
        self._place.prepare()
        run = self._place.run(checkpoint, late=late, is_open=True)
        self._graph = RunningGraph(run, _choose)
        self._steer(self._graph)
        if self._keep is not None:
            queries = self._graph.graph
            queries.after_each_tick(partial(self._keep.complete, queries))
            run.before_commit = self._keep.write
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
        graph, started = self._alone(queries, checkpoint, available_now, late)
        for query, run in zip(queries, started, strict=True):
            query.runs_as(run)
        graph.tick_every(_seconds(every or AT_ONCE) or 0)
        return StartedQueries(graph, started)

    def started(
        self,
        query: Query,
        name: str | None,
        partial: bool,
        checkpoint: str | None,
        available_now: bool,
        every: str | None,
        late: str | LateCallback | None,
    ) -> StartedQuery:
        """A query that runs from now on: in the running graph, or in one of its own."""
        if self.is_running:
            _refuse_own_run(checkpoint, available_now, every, late)
            self._use([query])
            return self.graph.start(query, name, partial)
        graph, (started,) = self._alone([query], checkpoint, available_now, late)
        graph.tick_every(_seconds(every or AT_ONCE) or 0)
        return started

    def collected(self, query: Query) -> Iterator[pl.DataFrame]:
        """The rows of a query tick by tick, in a graph that ends with its input."""
        rows = Collected()
        # Its windows stay at their best sizes: a table has room for one answer only.
        graph, (started,) = self._alone([query.into(rows)], None, True, None, is_bounded=False)
        query.follow(lambda: started.progress)
        run = graph.graph.run
        try:
            while not run.is_ended:
                run.tick_or_wait()
                if (error := started.exception()) is not None:
                    raise error
                yield from rows.taken()
        finally:
            graph.stop()

    def _alone(
        self,
        queries: Sequence[Query],
        checkpoint: str | None,
        available_now: bool,
        late: str | LateCallback | None,
        is_bounded: bool = True,
    ) -> tuple[RunningGraph, list[StartedQuery]]:
        """A graph of some queries and no others; if it `is_bounded`, by what the engine may use."""
        _refuse_other_sources(queries)
        self._use(queries)
        run = self._place.run(checkpoint, available_now, late)
        graph = RunningGraph(run, _choose_alone, is_open=False)
        try:
            if is_bounded:
                self._steer(graph)
            with graph.together():
                started = [graph.start(query) for query in queries]
            graph.graph.let_go()
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
        return self._place.spark

    def _columns_read(self, source: str) -> list[Schema]:
        """The columns of a source that queries of the running graph read, in every reading."""
        if not self.is_running:
            return []
        leaves = (node for node in self.graph.graph.run.nodes if isinstance(node, SourceExec))
        return [leaf.scan.columns for leaf in leaves if leaf.scan.source == source]

    def prepare(self, quietly: bool = False) -> None:
        """Let Spark get ready in the background, if queries run there: it takes some seconds.

        Quietly, what Java says on the terminal is dropped.
        """
        self._place.prepare(quietly)

    @property
    def title(self) -> str:
        """Where queries run, in a few words.

        >>> Engine(runtime="inprocess").title
        'in this process'
        """
        return self._place.title

    def _rows(self, name: str, source: Any) -> tuple[Rows, Schema]:
        """What a user handed over, and its columns."""
        if isinstance(source, pa.Schema):
            columns = Schema.from_arrow(normal_schema(name, source))
            return Inbox(name, columns), columns
        if not is_spark_frame(source):
            tables = to_tables(name, source)
            return tables, Schema.from_arrow(tables[0].schema)
        if not self._place.on_spark:
            raise CatalogError(
                f"`{name}` is a Spark DataFrame, which this runtime cannot read",
                help="use Engine(spark=session)",
            )
        return source, spark_frame_schema(name, source)

    def hold_what_runs(self) -> None:
        """Streams that running queries read cannot be dropped."""
        self.queries.hold_what_runs()
        for number, (queries, graph) in enumerate(self._running, 1):
            reads = frozenset[str]().union(*(query.depends_on for query in queries))
            self.catalog.hold(f"query {number}", reads if graph.is_active else ())


def _choose(query: Query, news: Statistics) -> Choice:
    """The plan of a query in the running graph, made with what is known now."""
    return query.plan.choice if query.is_fixed else query.replan(news)


def _choose_alone(query: Query, news: Statistics) -> Choice:
    return query.plan.choice if query.is_fixed else query.replan(news, shares=False)


def _seconds(every: str | None) -> float | None:
    if every is None or every == AT_ONCE:
        return None if every is None else 0.0
    return duration(every, TimeDomain.MICROSECONDS) / 1_000_000


def _refuse_own_run(*choices: object) -> None:
    if any(choices):
        raise TidemillError(
            "checkpoint, available_now, every and late are those of the running graph",
            help="give them to engine.run, or stop the graph with engine.graph.stop()",
        )


def _refuse_other_sources(queries: Iterable[Query]) -> None:
    """Queries that run together must mean the same by a name."""
    found: dict[str, SourceInfo] = {}
    for query in queries:
        for name, info in query.sources.items():
            if found.setdefault(name, info) != info:
                raise TidemillError(
                    f"`{name}` is not the same stream in all queries: it was dropped and made anew",
                    help="make the queries again with engine.sql",
                )


def _kind(valid: object, changing: object) -> SourceKind:
    if changing:
        return SourceKind.CHANGING
    return SourceKind.INTERVALS if valid else SourceKind.CONSTANT


def _require(name: str, schema: Schema, column: str) -> None:
    if column not in schema:
        raise CatalogError(
            f"`{name}` has no column `{column}`", help=f"columns: {', '.join(schema.names)}"
        )


def _type(returns: str | pa.DataType) -> pa.DataType:
    if isinstance(returns, pa.DataType):
        return returns
    try:
        return from_sql(exp.DataType.build(returns, dialect="spark"))
    except (ValueError, ParseError) as error:
        raise TidemillError(f"unknown type `{returns}`", help="for example DOUBLE") from error
