"""Results as users get to see them."""

from __future__ import annotations

import polars as pl
import pyarrow as pa

from tidemill.algebra.schema import Schema
from tidemill.timeline import OPEN_END, VALID_TO, TimeDomain


def user_table(
    frame: pl.DataFrame, schema: Schema, domain: TimeDomain | None, *times: str
) -> pa.Table:
    """Columns in the types of the plan; time as the user knows it, an open end as NULL.

    >>> rows = pl.DataFrame({"n": [1], "valid_from": [3], "valid_to": [OPEN_END]})
    >>> user_table(rows, Schema.of(n=pa.int64()), None, "valid_from", "valid_to").to_pylist()
    [{'n': 1, 'valid_from': 3, 'valid_to': None}]
    """
    time = pa.timestamp("us") if domain is TimeDomain.MICROSECONDS else pa.int64()
    types = {f.name: f.type for f in schema} | dict.fromkeys(times, time)
    if VALID_TO in frame.columns:
        open_end = pl.col(VALID_TO) == OPEN_END
        frame = frame.with_columns(
            pl.when(open_end).then(None).otherwise(pl.col(VALID_TO)).alias(VALID_TO)
        )
    table = frame.to_arrow()
    return table.cast(pa.schema([(n, types.get(n, pa.string())) for n in table.column_names]))
