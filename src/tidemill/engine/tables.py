"""Rows and durations that a user hands over, as a source has them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pyarrow as pa

from tidemill.algebra.fitting import Misfit, cast_exactly, fitted
from tidemill.algebra.schema import Schema
from tidemill.algebra.tables import normal_schema, to_tables
from tidemill.algebra.types import name_of
from tidemill.catalog import SourceInfo
from tidemill.errors import CatalogError
from tidemill.runtime.validity import Timing, instants
from tidemill.sql import UNIT_MICROS
from tidemill.timeline import TimeDomain


def time_domain(name: str, column: str, data_type: pa.DataType) -> TimeDomain:
    """What a time column counts: ticks or microseconds."""
    if pa.types.is_integer(data_type):
        return TimeDomain.TICKS
    if pa.types.is_timestamp(data_type) or pa.types.is_date(data_type):
        return TimeDomain.MICROSECONDS
    raise CatalogError(
        f"the time column `{column}` of `{name}` is {name_of(data_type)}",
        help="time is an integer (ticks) or a timestamp",
    )


def duration(value: int | str | timedelta, domain: TimeDomain) -> int:
    """A duration in steps of the time axis.

    >>> duration("5 minutes", TimeDomain.MICROSECONDS), duration("20 ms", TimeDomain.MICROSECONDS)
    (300000000, 20000)
    >>> duration(3, TimeDomain.TICKS)
    3
    """
    if isinstance(value, int) and value >= 0:
        return value
    if domain is TimeDomain.MICROSECONDS:
        if isinstance(value, timedelta) and value >= timedelta():
            return value // timedelta(microseconds=1)
        if isinstance(value, str):
            number, _, unit = value.strip().partition(" ")
            word = unit.strip().upper()
            micros = 1000 if word == "MS" else UNIT_MICROS.get(word.removesuffix("S"))
            if micros is not None and number.isdigit():
                return int(number) * micros
    other = ", '5 minutes' or a timedelta" if domain is TimeDomain.MICROSECONDS else " of ticks"
    raise CatalogError(f"{value!r} is not a duration here", help=f"use an integer{other}")


def is_spark_frame(source: Any) -> bool:
    """Whether rows are in a DataFrame of Spark (without asking for Spark to be there)."""
    return type(source).__module__.startswith("pyspark.")


def spark_frame_schema(name: str, frame: Any) -> Schema:
    """The columns of a DataFrame of Spark."""
    from pyspark.sql.pandas.types import to_arrow_schema

    return Schema.from_arrow(normal_schema(name, to_arrow_schema(frame.schema, timezone="UTC")))


def pushed_table(info: SourceInfo, rows: Any) -> pa.Table:
    """Rows that are pushed into a stream, as a table with its columns."""
    wanted = {field.name: field.type for field in info.brought}
    if isinstance(rows, list) and not rows:
        return pa.schema(wanted).empty_table()
    if isinstance(rows, list) and all(isinstance(row, Mapping) for row in rows):
        table = _from_records(info.name, rows, wanted)
    else:
        table = pa.concat_tables(to_tables(info.name, rows))
    missing = [name for name in wanted if name not in table.column_names]
    if missing:
        help = f"columns: {', '.join(wanted)}"
        raise CatalogError(f"rows for `{info.name}` lack {', '.join(missing)}", help=help)
    columns = [_fitting(info.name, name, table.column(name), wanted[name]) for name in wanted]
    fitting = pa.table(columns, schema=pa.schema(wanted))
    # Queries must not fail for rows whose interval is unknown, or whose values cannot be computed.
    checked = Timing.of(info).completed(fitting, info.columns.names)
    if info.time_column is not None:
        instants(checked.column(info.time_column), info.name, info.time_column)
    return fitting


def _from_records(
    source: str, rows: list[Mapping[str, Any]], wanted: Mapping[str, pa.DataType]
) -> pa.Table:
    """Columns of rows; those that no row has are left out."""
    columns = {}
    for name, kind in wanted.items():
        if any(name in row for row in rows):
            try:
                columns[name] = fitted([row.get(name) for row in rows], kind)
            except Misfit as error:
                raise _misfit(source, name, error, kind) from error
    return pa.table(columns)


def _fitting(source: str, name: str, values: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    try:
        return cast_exactly(values, kind)
    except Misfit as error:
        raise _misfit(source, name, error, kind) from error


def _misfit(source: str, name: str, error: Misfit, kind: pa.DataType) -> CatalogError:
    message = f"column `{name}` of `{source}`, {error}"
    return CatalogError(message, help=f"its type is {name_of(kind)}; nothing was pushed")
