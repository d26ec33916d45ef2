"""The engine: streams, relations and functions by name, and SQL over them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from tidemill.algebra import Plan
from tidemill.deadline import UNLIMITED, TickLimits
from tidemill.engine.allow import AllowList
from tidemill.engine.apart import Apart, Desk
from tidemill.engine.asking import QueryReading
from tidemill.engine.checking import Checked, check
from tidemill.engine.environment import Environment
from tidemill.engine.hosting import QueryHost, seconds_of
from tidemill.engine.kept import KeptStore
from tidemill.engine.query import Query
from tidemill.engine.query_table import QueryTable
from tidemill.engine.reports import Report
from tidemill.engine.statements import Statements
from tidemill.errors import UnsupportedError
from tidemill.physical.operator import Exec
from tidemill.sql import Parameters, Statement, parse, parse_one
from tidemill.store import durability_of
from tidemill.table import TableExpr, named_table
from tidemill.timeline import BEGIN, TimeDomain

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Engine(QueryHost):
    """Runs continuous queries: on a local Spark, on the `spark` session of yours, or in process.

    A local Spark is started when it is first needed. The runtime `"inprocess"` needs no JVM.
    While much waits, ticks take as much as is done in about the time of `latency`.
    `optimizer` is False to run queries as they are written, or names the rules to leave out.
    `memory` ("2GB") and `cpu` (0.8 of a core) bound what the running graph needs: it changes the
    sizes of windows and granules, as far as queries allow, and refuses queries beyond that.
    With `keep`, the answers of queries that have a name and no sink are kept there (`kept`). With
    `allow`, statements can name only the files and servers on that list. What is in a checkpoint
    survives the machine, or with `durability="process"` only the process. A query that runs on and
    takes more than the `limits` in one tick fails by itself, beside the others. Plans in statements
    are read by `plans`, which is `tidemill.compose.read_plan`.

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
        limits: TickLimits = UNLIMITED,
        plans: Callable[[Desk, str], Query] | None = None,
    ) -> None:
        durable, bounds = durability_of(durability), (memory, cpu) if memory or cpu else None
        environment = Environment(runtime, spark, partitions, seconds_of(latency), durable, limits)
        super().__init__(environment, optimizer, bounds, keep, allow)
        self._plans = plans or _nobody_reads
        self._statements = Statements(self, self._planning, environment, keep, self.read_plan)

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()

    def sql(self, text: str, *placed: Any, **named: Any) -> Any:
        """Run a script; what its last statement is answered with.

        That is a `Query` for SELECT and INSERT INTO, a `Report` for SHOW, DESCRIBE and EXPLAIN, and
        None for others. Parameters, `:name` and `?`, get values by name and by place: they are
        values of their type, whatever is in them.

        >>> engine = Engine(runtime="inprocess")
        >>> engine.stream("bid", [{"item": "lamp", "price": 30, "at": 3}], time="at")
        >>> q = engine.sql("SELECT item FROM bid WHERE price > :least", least=20)
        >>> q.snapshot(3).to_pylist()
        [{'item': 'lamp'}]
        >>> print(engine.sql("SHOW STREAMS"))
        name  kind
        bid   stream
        """
        answers = self.script(text, *placed, **named)
        return answers[-1] if answers else None

    def table(self, source: str | TableExpr) -> QueryTable:
        """A stream, relation, view or query by name, to make a query of, step by step.

        >>> from tidemill.table import col, count
        >>> engine = Engine(runtime="inprocess")
        >>> engine.stream("bid", [{"item": "lamp", "price": 30, "at": 3}], time="at")
        >>> bids = engine.table("bid").window(range=4).filter(col("price") > 20)
        >>> bids.group_by("item").agg(n=count()).snapshot(5).to_pylist()
        [{'item': 'lamp', 'n': 1}]
        """
        named = named_table(source) if isinstance(source, str) else source
        return QueryTable(named.tree, self)

    def script(self, text: str, *placed: Any, **named: Any) -> list[Query | Report | None]:
        """Run a script; for each of its statements what it is answered with, see `sql`."""
        known = None if placed or named else self.one_of_many(text)
        if known is not None:
            return [known]
        return [self.execute(statement) for statement in parse(text, Parameters(named, placed))]

    def ask(self, text: str, at: int | None = None, *placed: Any, **named: Any) -> pa.Table:
        """The answer, at one instant, to a SELECT over the answers of queries, in its order.

        The queries run, or did, in an engine that keeps their answers. Without `at`, it is the
        newest instant for which all of them are known.

        >>> engine = Engine(runtime="inprocess", keep=KeptStore(rows=1000))
        >>> engine.sql("CREATE STREAM bid (item BIGINT, at BIGINT) ORDERED BY at")
        >>> engine.sql("CREATE QUERY hot AS SELECT item FROM bid WINDOW(RANGE 9); START QUERY hot")
        >>> engine.push("bid", [{"item": 1, "at": 3}, {"item": 1, "at": 5}, {"item": 2, "at": 6}])
        3
        >>> engine.graph.process_all_available()
        >>> engine.ask("SELECT item, COUNT(*) AS n FROM hot GROUP BY item").to_pylist()
        [{'item': 1, 'n': 2}]
        """
        return self.asked(parse_one(text, Parameters(named, placed)), at)[0]

    def asked(self, statement: Statement, at: int | None) -> tuple[pa.Table, int]:
        """What `ask` answers to a statement, and the instant for which that is true."""
        beside, instant = self.beside(statement, at)
        return beside.answer(statement), instant

    def beside(self, statement: Statement, at: int | None) -> tuple[Engine, int]:
        """Another engine that has what `ask` reads, as it is at one instant; and that instant.

        Whatever happens here meanwhile, it can `answer` the statement.
        """
        reading = QueryReading(self, statement)
        instant = reading.instant(at)
        beside = Engine(runtime="inprocess")
        reading.declare(beside, instant)
        return beside, instant

    def answer(self, statement: Statement) -> pa.Table:
        """The answer to a SELECT over what holds at all times; this engine is not used again."""
        with self:
            query = self.execute(statement)
            assert isinstance(query, Query)
            return query.snapshot(BEGIN)

    def resolved(self, statement: Statement) -> Statement | None:
        """What a statement does as things stand; None if that is nothing (IF NOT EXISTS)."""
        return self._statements.resolved(statement)

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

    def apart(self) -> Apart:
        """What is known now: queries can be planned with it, whatever changes meanwhile."""
        return Apart(self, self._planning, self._plans)

    def read_plan(self, text: str) -> Query:
        """The query of a plan in a statement."""
        return self._plans(self, text)

    def checker(self) -> Callable[[str], Checked]:
        """`check` over what there is now, whatever changes while that goes on."""
        catalog, names = self.catalog.copy(), list(self.queries.names)
        return lambda text: check(text, catalog, names, self.allow)

    def execute(self, statement: Statement, planned: Query | None = None) -> Query | Report | None:
        """Run one statement; its query, if it is one. It may be `planned` already: see `apart`."""
        return self._statements.execute(statement, planned)

    def define(self, name: str, query: Query) -> None:
        """Give a query a name, as CREATE QUERY does; its results are kept."""
        self._statements.define(name, query)

    def compose(self, plan: Exec, meaning: Plan, domain: TimeDomain | None, text: str) -> Query:
        """A query with operators that someone chose; `tidemill.compose` makes them."""
        return self._planning.composed(plan, meaning, domain, text, self)


def _nobody_reads(desk: Desk, text: str) -> Query:
    help = "from tidemill.compose import read_plan; Engine(plans=read_plan)"
    raise UnsupportedError("this engine cannot read composed plans", help=help)
