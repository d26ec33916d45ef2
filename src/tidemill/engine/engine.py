"""The engine: streams, relations and functions by name, and SQL over them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from sqlglot import exp
from sqlglot.errors import ParseError

from tidemill.algebra import Scan, Schema, SourceKind, UserAggregate
from tidemill.algebra.types import from_sql
from tidemill.analyze import (
    Catalog,
    Derived,
    Planned,
    SourceInfo,
    plan_query,
    source_from_statement,
)
from tidemill.engine.costs import Costs
from tidemill.engine.query import Query
from tidemill.engine.sources import Rows, Sources
from tidemill.engine.statistics import StatisticsStore
from tidemill.engine.tables import (
    duration,
    is_spark_frame,
    spark_frame_schema,
    time_domain,
    to_tables,
)
from tidemill.errors import CatalogError, TidemillError, UnsupportedError
from tidemill.expressions import UserFunction
from tidemill.optimize import RULES, optimized
from tidemill.physical.lowering import lower
from tidemill.runtime.inprocess.run import Run
from tidemill.runtime.interface import (
    Execution,
    Job,
    LateCallback,
    Running,
    SinkRequest,
    StartRequest,
)
from tidemill.sql import (
    CreateDerived,
    CreateRelation,
    CreateStream,
    DropObject,
    InsertInto,
    QueryStatement,
    Statement,
    parse,
)
from tidemill.timeline import TimeDomain

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tidemill.runtime.spark.execution import SparkExecution

RUNTIMES = ("spark", "inprocess")


class Engine:
    """Runs continuous queries: on a local Spark, on the `spark` session of yours, or in process.

    A local Spark is started when it is first needed. The runtime `"inprocess"` needs no JVM.
    `optimizer` is False to run queries as they are written, or names the rules to leave out.

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
        optimizer: bool | Collection[str] = True,
    ) -> None:
        if runtime not in RUNTIMES:
            help = f"runtimes: {', '.join(RUNTIMES)}"
            raise UnsupportedError(f"there is no runtime `{runtime}`", help=help)
        if spark is not None and runtime != "spark":
            help = "leave out one of the two"
            raise UnsupportedError(f"the runtime `{runtime}` uses no Spark session", help=help)
        self.catalog = Catalog()
        self.statistics = StatisticsStore(self.catalog)
        self._sources = Sources()
        self._runtime = runtime
        self._spark = spark
        self._owns_session = False
        self._partitions = partitions
        self._rules_off = _rules_off(optimizer)
        self._running: list[tuple[Query, Running]] = []

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop what was started here: queries, and the Spark session if no one else uses it."""
        for _, running in self._running:
            running.stop()
        self._running = []
        if self._owns_session:
            self._owns_session = False
            self._spark = None
            release_session()

    def stream(
        self,
        name: str,
        source: Any,
        time: str,
        slack: int | str | timedelta = 0,
        idle: str | timedelta | None = None,
    ) -> None:
        """Register a stream: one table, or a list of tables that arrive one per tick.

        `time` names the column that says when a row is valid: an integer or a timestamp. Rows
        may be out of order by `slack`; later ones are counted and left out. A stream that brings
        no rows for the time `idle` ("30 seconds", on the clock) does not hold others back.
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
            idle=None if idle is None else duration(idle, TimeDomain.MICROSECONDS) / 1_000_000,
            bounded=True,
        )
        self.catalog.add_source(info)
        self._sources.put(info, rows)

    def relation(self, name: str, source: Any, valid: tuple[str, str] | None = None) -> None:
        """Register a relation: constant, or with the two columns that say when rows hold."""
        rows, types = self._rows(name, source)
        for column in valid or ():
            _require(name, types, column)
        info = SourceInfo(
            name=name,
            schema=types.select(column for column in types.names if column not in (valid or ())),
            kind=SourceKind.CONSTANT if valid is None else SourceKind.INTERVALS,
            domain=None if valid is None else time_domain(name, valid[0], types[valid[0]]),
            valid_from=valid[0] if valid else None,
            valid_to=valid[1] if valid else None,
            bounded=True,
            rows=sum(table.num_rows for table in rows) if isinstance(rows, list) else None,
        )
        self.catalog.add_source(info)
        self._sources.put(info, rows)

    def function(self, name: str, call: Callable[..., Any], returns: str | pa.DataType) -> None:
        """Register a scalar function; it is called with one argument per column value."""
        self.catalog.functions[name.lower()] = UserFunction(name, call, _type(returns))

    def aggregate(
        self,
        name: str,
        *,
        init: Callable[[Any], Any],
        merge: Callable[[Any, Any], Any],
        eval: Callable[[Any], Any],
        returns: str | pa.DataType,
    ) -> None:
        """Register an aggregate: `init` a value, `merge` two partial results, `eval` one."""
        function = UserAggregate(name.upper(), init, merge, eval, _type(returns))
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
        return [self._execute(statement) for statement in parse(text)]

    def _execute(self, statement: Statement) -> Query | None:
        match statement:
            case QueryStatement():
                return self._query(statement, statement.tree, SinkRequest())
            case CreateStream() | CreateRelation():
                self.catalog.add_source(source_from_statement(statement))
            case CreateDerived():
                self._derive(statement)
            case DropObject():
                self._drop(statement)
            case InsertInto():
                return self._insert(statement)
        return None

    def _insert(self, statement: InsertInto) -> Query:
        """A query that knows where its results go; `start` sends them there."""
        sink = statement.sink
        options = {name: value for name, value in sink.options.items() if value is not None}
        form = str(options.pop("form", "intervals"))
        return self._query(statement, statement.query, SinkRequest(sink.format, options, form))

    def _query(self, statement: Statement, tree: exp.Expr, sink: SinkRequest) -> Query:
        planned = self._plan(tree, statement.source.text)
        known = self.statistics.known.for_plan(planned.plan, planned.hints)
        domain = planned.domain or TimeDomain.TICKS
        done = optimized(planned.plan, known, self._rules_off, planned.hints, domain)
        physical = lower(done.plan, self.catalog.functions)
        costs = Costs(done.plan, known, self.catalog.functions, planned.domain)
        entries = {name: self.catalog.lookup(name) for name in _scanned(planned)}
        infos = {name: entry for name, entry in entries.items() if isinstance(entry, SourceInfo)}
        job = Job(physical, planned.domain, sink)
        return Query(statement.sql, planned, done, job, infos, self, costs)

    def start(
        self,
        *queries: Query,
        checkpoint: str | None = None,
        available_now: bool = False,
        every: str | None = None,
        late: str | LateCallback | None = None,
    ) -> Running:
        """Run queries together on Spark: every tick reads their sources once.

        Each query sends its results to its own sink (`query.into`, INSERT INTO, or the console).
        The other arguments are those of `query.start`.
        """
        if self._runtime == "inprocess":
            raise UnsupportedError(
                "only queries on Spark can be started",
                help="use Engine(), or read the result with q.collect()",
            )
        if not queries:
            raise TidemillError("there is no query to start", help="engine.start(query, ...)")
        execution = self._on_spark([query.job for query in queries], _common_sources(queries))
        running = execution.start(StartRequest(checkpoint, available_now, every, late))
        for number, query in enumerate(queries):
            query.follow(partial(running.progress_of, number))
            self._running.append((query, running))
        return running

    def execution(self, query: Query) -> Execution:
        """A fresh run of a query over bounded input, in the engine's runtime."""
        if self._runtime == "inprocess":
            feeds = {name: self._sources.feed(info) for name, info in query.sources.items()}
            run = Run(query.job.plan, feeds)
            self.statistics.watch(run.gathering)
            return run
        return self._on_spark([query.job], query.sources)

    def _on_spark(self, jobs: Sequence[Job], infos: Mapping[str, SourceInfo]) -> SparkExecution:
        from tidemill.runtime.spark.execution import SparkExecution

        origins = {name: self._sources.origin(info) for name, info in infos.items()}
        execution = SparkExecution(self.spark, jobs, origins, self._partitions)
        self.statistics.watch(execution.gathering)
        return execution

    @property
    def spark(self) -> SparkSession:
        """The Spark session that queries run on; one on this machine is started if need be."""
        if self._spark is None:
            self._spark = acquire_session()
            self._owns_session = True
        return self._spark

    def _rows(self, name: str, source: Any) -> tuple[Rows, Schema]:
        """What a user handed over, and its columns."""
        if not is_spark_frame(source):
            tables = to_tables(name, source)
            return tables, Schema.from_arrow(tables[0].schema)
        if self._runtime == "inprocess":
            raise CatalogError(
                f"`{name}` is a Spark DataFrame, which this runtime cannot read",
                help="use Engine(spark=session)",
            )
        return source, spark_frame_schema(name, source)

    def _plan(self, tree: exp.Expr, text: str) -> Planned:
        planned = plan_query(tree, text, self.catalog)
        for warning in planned.warnings:
            warnings.warn(warning, stacklevel=5)
        return planned

    def _derive(self, statement: CreateDerived) -> None:
        planned = self._plan(statement.query, statement.source.text)
        self.catalog.add_derived(
            Derived(
                name=statement.name,
                plan=planned.plan,
                schema=planned.plan.schema,
                domain=planned.domain,
                sql=statement.sql,
                depends_on=planned.depends_on,
                relation=statement.kind == "RELATION",
                hints=planned.hints,
            )
        )

    def _hold_what_runs(self) -> None:
        """Streams that running queries read cannot be dropped."""
        for number, (query, running) in enumerate(self._running, 1):
            if running.is_active:
                self.catalog.hold(f"query {number}", query.depends_on)
            else:
                self.catalog.release(f"query {number}")

    def _drop(self, statement: DropObject) -> None:
        self._hold_what_runs()
        entry = self.catalog.find(statement.name)
        if entry is None and statement.if_exists:
            return
        self.catalog.drop(statement.name)
        self._sources.forget(statement.name)
        self.statistics.forget(statement.name)


def acquire_session() -> SparkSession:
    """A session on this machine; Spark is asked for only when it is needed."""
    from tidemill.runtime.spark import session

    return session.acquire()


def release_session() -> None:
    """Give the session back."""
    from tidemill.runtime.spark import session

    session.release()


def _rules_off(optimizer: bool | Collection[str]) -> frozenset[str]:
    """The rules that are not used."""
    known = [rule.name for rule in RULES]
    if isinstance(optimizer, bool):
        return frozenset() if optimizer else frozenset(known)
    for name in optimizer:
        if name not in known:
            help = f"rules: {', '.join(known)}"
            raise UnsupportedError(f"there is no rule `{name}` to leave out", help=help)
    return frozenset(optimizer)


def _common_sources(queries: Iterable[Query]) -> dict[str, SourceInfo]:
    """The sources of queries that run together."""
    found: dict[str, SourceInfo] = {}
    for query in queries:
        for name, info in query.sources.items():
            if found.setdefault(name, info) != info:
                raise TidemillError(
                    f"`{name}` is not the same stream in all queries: it was dropped and made anew",
                    help="make the queries again with engine.sql",
                )
    return found


def _scanned(planned: Planned) -> set[str]:
    return {node.source for node in planned.plan.walk() if isinstance(node, Scan)}


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
