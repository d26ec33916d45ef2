"""Results as users get to see them: their types, their time, their order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl
import pyarrow as pa

from tidemill.algebra.nodes import SortKey
from tidemill.algebra.order import value_key
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


def in_order(rows: pl.DataFrame, *times: str, order: Sequence[SortKey] = ()) -> pl.DataFrame:
    """Rows by their time and then by their values, so that equal answers look equal.

    Those that start at the same time are in an `order`, if there is one.

    >>> rows = pl.DataFrame({"v": ["b", "a", None], "at": [1, 1, 0]})
    >>> in_order(rows, "at").rows()
    [(None, 0), ('a', 1), ('b', 1)]
    >>> in_order(rows, "at", order=[SortKey("v", descending=True)]).rows()
    [(None, 0), ('b', 1), ('a', 1)]
    """
    wanted = {key.column: key for key in order}
    first = times[:1] if order else times
    rest = [name for name, dtype in rows.schema.items() if not dtype.is_nested()]
    names = tuple(dict.fromkeys([*first, *wanted, *times, *rest]))
    if not names:
        return rows
    keys = [wanted.get(name, SortKey(name)) for name in names]
    return rows.sort(
        [_sortable(rows[name]) for name in names],
        descending=[key.descending for key in keys],
        nulls_last=[not key.nulls_first for key in keys],
    )


def _sortable(column: pl.Series) -> pl.Expr:
    """A column, or the places of its values if Polars does not order such values."""
    if not column.dtype.is_nested():
        return pl.col(column.name)
    keys = [None if value is None else value_key(_plain(value)) for value in column.to_list()]
    places = {key: place for place, key in enumerate(sorted({k for k in keys if k is not None}))}
    return pl.lit(pl.Series([None if key is None else places[key] for key in keys], dtype=pl.Int64))


def _plain(value: Any) -> Any:
    parts = value.values() if isinstance(value, dict) else value
    return tuple(map(_plain, parts)) if isinstance(value, dict | list) else value
