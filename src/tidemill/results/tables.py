"""Results as users get to see them: their types, their time, their order."""

from __future__ import annotations

import polars as pl
import pyarrow as pa

from tidemill.algebra.schema import Schema
from tidemill.timeline import OPEN_END, VALID_TO, TimeDomain


def time_type(domain: TimeDomain | None) -> pa.DataType:
    """The type of instants in results; timestamps have no zone and mean UTC, everywhere.

    >>> time_type(TimeDomain.MICROSECONDS), time_type(None)
    (TimestampType(timestamp[us]), DataType(int64))
    """
    return pa.timestamp("us") if domain is TimeDomain.MICROSECONDS else pa.int64()


def user_table(
    frame: pl.DataFrame, schema: Schema, domain: TimeDomain | None, *times: str
) -> pa.Table:
    """Columns in the types of the plan; time as the user knows it, an open end as NULL.

    >>> rows = pl.DataFrame({"n": [1], "valid_from": [3], "valid_to": [OPEN_END]})
    >>> user_table(rows, Schema.of(n=pa.int64()), None, "valid_from", "valid_to").to_pylist()
    [{'n': 1, 'valid_from': 3, 'valid_to': None}]
    """
    types = {f.name: f.type for f in schema} | dict.fromkeys(times, time_type(domain))
    if VALID_TO in frame.columns:
        is_known = pl.col(VALID_TO) != OPEN_END
        frame = frame.with_columns(pl.when(is_known).then(VALID_TO).alias(VALID_TO))
    table = frame.to_arrow()
    return table.cast(pa.schema([(n, types.get(n, pa.string())) for n in table.column_names]))


def in_order(rows: pl.DataFrame, *times: str) -> pl.DataFrame:
    """Rows by their time and then by their values, so that equal answers look equal.

    >>> in_order(pl.DataFrame({"v": ["b", "a", None], "at": [1, 1, 0]}), "at").rows()
    [(None, 0), ('a', 1), ('b', 1)]
    """
    flat = [name for name, dtype in rows.schema.items() if not dtype.is_nested()]
    keys = [*times, *(name for name in flat if name not in times)]
    return rows.sort(keys, nulls_last=False) if keys else rows
