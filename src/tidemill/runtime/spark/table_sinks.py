"""Sinks in the driver: functions, memory, the console and PostgreSQL take results as tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl
import pyarrow as pa
from pyspark.sql import DataFrame

from tidemill.algebra.schema import Schema
from tidemill.errors import ExecutionError
from tidemill.physical.changes import AT, CHANGE, to_changes
from tidemill.postgres import PostgresSink
from tidemill.runtime.interface import SinkRequest
from tidemill.runtime.spark.forms import SNAPSHOT, SNAPSHOT_AT, check_form
from tidemill.runtime.spark.memory import MemorySink
from tidemill.timeline import OPEN_END, VALID_FROM, VALID_TO, TimeDomain

Take = Callable[[pa.Table, int], None]


@dataclass(frozen=True)
class TableSink:
    """Takes the result rows of a tick, with their validity as instants, in the form asked for."""

    form: str
    schema: Schema
    domain: TimeDomain | None
    take: Take

    def __call__(self, rows: DataFrame, tick: int) -> None:
        self.give(pl.DataFrame(rows.toArrow()), tick)

    def give(self, rows: pl.DataFrame, tick: int) -> None:
        """Take rows that are in the driver already."""
        self.take(shaped(rows, self.form, self.schema, self.domain), tick)


def make_table_sink(
    request: SinkRequest, domain: TimeDomain | None, schema: Schema, identity: Callable[[], str]
) -> TableSink | None:
    """The sink that a user asked for, if it is one of these."""
    check_form(request.form, schema.names)
    take = _take(request, domain, schema, identity)
    return None if take is None else TableSink(request.form, schema, domain, take)


def results_of(sink: object) -> pa.Table:
    """What a sink holds, if it is one that keeps results."""
    if not isinstance(sink, TableSink) or not isinstance(sink.take, MemorySink):
        help = "start the query with sink='memory'"
        raise ExecutionError("only the sink memory keeps results", help=help)
    return sink.take.results()


def _take(
    request: SinkRequest, domain: TimeDomain | None, schema: Schema, identity: Callable[[], str]
) -> Take | None:
    whole, options = request.form == SNAPSHOT, request.options
    nothing = shaped(pl.DataFrame(_columns(schema).empty_table()), request.form, schema, domain)
    match request.target:
        case "memory":
            return MemorySink(whole, nothing, options)
        case "console":
            return lambda rows, tick: _show(rows, tick, even_nothing=whole)
        case "postgres":
            return _postgres(whole, nothing, options, identity())
        case str():
            return None
        case call:
            return call


def _postgres(whole: bool, nothing: pa.Table, options: Mapping[str, Any], identity: str) -> Take:
    # The time of a snapshot would change every row with every tick.
    left_out = [SNAPSHOT_AT] if whole else []
    sink = PostgresSink(options, identity, nothing.drop_columns(left_out).schema, whole)
    return lambda rows, tick: sink(rows.drop_columns(left_out), tick)


def _show(rows: pa.Table, tick: int, even_nothing: bool) -> None:
    if rows.num_rows or even_nothing:
        print(f"tick {tick}")
        for row in rows.to_pylist():
            print("  " + ", ".join(f"{name}={value}" for name, value in row.items()))


def shaped(
    rows: pl.DataFrame, form: str, schema: Schema, domain: TimeDomain | None = None
) -> pa.Table:
    """Rows with their validity in a form; time becomes what the user knows it as.

    >>> rows = pl.DataFrame({"v": [7], "valid_from": [3], "valid_to": [OPEN_END]})
    >>> shaped(rows, "changes", Schema.of(v=pa.int64())).to_pylist()
    [{'v': 7, 'changed_at': 3, 'change': '+'}]
    >>> shaped(rows, "intervals", Schema.of(v=pa.int64())).to_pylist()
    [{'v': 7, 'valid_from': 3, 'valid_to': None}]
    """
    is_open = pl.col(VALID_TO) == OPEN_END
    if form == "changes":
        changes = to_changes(rows).select(*schema.names, AT, CHANGE)
        return _typed(changes, schema, domain, (AT,))
    if form == SNAPSHOT:
        at = pl.when(~is_open).then(VALID_FROM).alias(SNAPSHOT_AT)
        return _typed(rows.select(*schema.names, at), schema, domain, (SNAPSHOT_AT,))
    end = pl.when(~is_open).then(VALID_TO).alias(VALID_TO)
    intervals = rows.select(*schema.names, VALID_FROM, end)
    return _typed(intervals, schema, domain, (VALID_FROM, VALID_TO))


def _typed(
    rows: pl.DataFrame, schema: Schema, domain: TimeDomain | None, times: tuple[str, ...]
) -> pa.Table:
    stamp = pa.timestamp("us", "UTC") if domain is TimeDomain.MICROSECONDS else pa.int64()
    types = {field.name: field.type for field in schema} | dict.fromkeys(times, stamp)
    table = rows.to_arrow()
    wanted = [(name, types.get(name, pa.string())) for name in table.column_names]
    return table.cast(pa.schema(wanted))


def _columns(schema: Schema) -> pa.Schema:
    return pa.schema([*schema.to_arrow(), (VALID_FROM, pa.int64()), (VALID_TO, pa.int64())])
