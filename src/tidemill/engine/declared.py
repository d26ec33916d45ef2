"""What an engine knows by name: streams, relations, functions, and what is known of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa
from sqlglot import exp
from sqlglot.errors import ParseError

from tidemill.algebra import Range, Recurrence, Schema, SourceKind, UserAggregate
from tidemill.algebra.tables import normal_schema, to_tables
from tidemill.algebra.types import from_sql
from tidemill.catalog import SourceInfo
from tidemill.connectors.feeds import Inbox, Receipt
from tidemill.engine.environment import Environment
from tidemill.engine.promises import recurrence, value_ranges
from tidemill.engine.relations import condition_of
from tidemill.engine.sources import Rows
from tidemill.engine.tables import (
    duration,
    is_spark_frame,
    pushed_table,
    spark_frame_schema,
    time_domain,
)
from tidemill.errors import CatalogError, TidemillError
from tidemill.expressions import UserFunction
from tidemill.sql import parse_one
from tidemill.store import Store
from tidemill.timeline import TimeDomain


class Declared:
    """The sources and functions of an engine, in the place where its queries run."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self.catalog = environment.catalog
        self.statistics = environment.statistics
        self._sources = environment.sources

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
        are `at_most` this number of rows with one value of a column, as in `{"id": 1}`.
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
            raise CatalogError(f"`{name}` cannot have both valid= and changing=", help=help)
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
        info = self._environment.source(name)
        return self._sources.pushed(info).push(pushed_table(info, rows))

    def waiting(self, name: str) -> int:
        """How many rows that were pushed into a stream wait to be read."""
        return self._sources.pushed(self.source(name)).waiting

    def source(self, name: str) -> SourceInfo:
        """A stream or relation that comes from outside, by name."""
        return self._environment.source(name)

    def insert(self, name: str, rows: Any, at: int | datetime | None = None) -> int:
        """Insert rows into a relation that changes; how many.

        They count from the instant `at` on, but for a query that runs not from before what it has
        seen of its streams; without `at`, from when a running query sees them, and from the
        beginning for one that is started later.

        >>> from tidemill import Engine
        >>> engine = Engine(runtime="inprocess")
        >>> engine.relation("desk", [{"id": 1}], changing=True)
        >>> engine.insert("desk", [{"id": 2}, {"id": 3}], at=10)
        2
        >>> engine.delete("desk", "id < 3", at=20)
        2
        >>> engine.sql("SELECT id FROM desk").snapshot(20).to_pylist()
        [{'id': 3}]
        """
        return self._sources.kept(self._environment.source(name)).insert(rows, at)

    def delete(self, name: str, where: str | None = None, at: int | datetime | None = None) -> int:
        """Delete the rows of a relation for which a condition is true, or all; how many.

        With `at`, those that are there at that instant, from then on; see `insert`.
        """
        kept = self._sources.kept(self._environment.source(name))
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

        >>> from tidemill import Engine
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

    def _rows(self, name: str, source: Any) -> tuple[Rows, Schema]:
        """What a user handed over, and its columns."""
        if isinstance(source, pa.Schema):
            columns = Schema.from_arrow(normal_schema(name, source))
            return Inbox(name, columns), columns
        if not is_spark_frame(source):
            tables = to_tables(name, source)
            return tables, Schema.from_arrow(tables[0].schema)
        if not self._environment.on_spark:
            raise CatalogError(
                f"`{name}` is a Spark DataFrame, which this runtime cannot read",
                help="use Engine(spark=session)",
            )
        return source, spark_frame_schema(name, source)


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
