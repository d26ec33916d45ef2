"""Rows of results, as operators give them, and how they look in each form."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import polars as pl
import pyarrow as pa

from tidemill.algebra.schema import Schema
from tidemill.physical.mechanisms.changes import AT as AT_COLUMN
from tidemill.physical.mechanisms.changes import CHANGE, to_changes
from tidemill.physical.operators.net_changes import SIGN
from tidemill.timeline import OPEN_END, TimeDomain

MICROSECONDS = TimeDomain.MICROSECONDS

SCHEMA = Schema.of(k=pa.int64(), s=pa.string())

FORMS = ("intervals", "live", "changes", "snapshot")


def rows(*values: tuple[Any, ...], schema: Schema = SCHEMA) -> pl.DataFrame:
    """Values of the columns, then the start and the end, which is open if it is None."""
    ends = [(*value[:-1], OPEN_END if value[-1] is None else value[-1]) for value in values]
    columns = [*schema.to_arrow(), ("valid_from", pa.int64()), ("valid_to", pa.int64())]
    table = pa.schema(columns).empty_table()
    if ends:
        arrays = zip(zip(*ends, strict=True), table.schema, strict=True)
        table = pa.table([pa.array(column, f.type) for column, f in arrays], table.schema)
    return pl.DataFrame(table)


TWO = rows((1, "a", 3, 5), (2, None, 4, None))
"""A row that ends, and one that does not."""


def given(form: str, frame: pl.DataFrame = TWO) -> pl.DataFrame:
    """Rows of a result as the plan of a form gives them."""
    if form != "changes":
        return frame
    told = to_changes(frame).rename({AT_COLUMN: "valid_from", CHANGE: SIGN})
    return told.with_columns((pl.col("valid_from") + 1).alias("valid_to"))


LOOKS: dict[str, list[tuple[Any, ...]]] = {
    "intervals": [(1, "a", 3, 5), (2, None, 4, None)],
    "live": [(1, "a", 3, 5), (2, None, 4, None)],
    "changes": [(1, "a", 3, "+"), (2, None, 4, "+"), (1, "a", 5, "-")],
    "snapshot": [(1, "a", 3), (2, None, None)],
}
"""The two rows in each form."""

NAMES = {
    "intervals": ["k", "s", "valid_from", "valid_to"],
    "live": ["k", "s", "valid_from", "valid_to"],
    "changes": ["k", "s", "changed_at", "change"],
    "snapshot": ["k", "s", "snapshot_at"],
}


def tuples(table: pa.Table) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in table.to_pylist()]


FLAT = Schema.of(
    truth=pa.bool_(),
    tiny=pa.int8(),
    small=pa.int16(),
    middle=pa.int32(),
    big=pa.int64(),
    single=pa.float32(),
    double=pa.float64(),
    text=pa.string(),
    day=pa.date32(),
    at=pa.timestamp("us"),
    price=pa.decimal128(20, 3),
)
"""A column of every type that all formats know."""

NESTED = Schema.of(
    data=pa.binary(),
    list=pa.list_(pa.int32()),
    struct=pa.struct([("a", pa.int64()), ("at", pa.timestamp("us"))]),
    map=pa.map_(pa.string(), pa.decimal128(5, 1)),
    deep=pa.list_(pa.struct([("m", pa.map_(pa.string(), pa.list_(pa.float64())))])),
)

AT = dt.datetime(2024, 2, 29, 23, 59, 59, 123456)
TEXTS = ["", "x,y", 'say "hi"', "back\\slash", 'both \\" of them', "#x", " a ", "é €", "NULL", "\\"]

_FLAT_ROWS: list[tuple[Any, ...]] = [
    (True, 127, -(2**15), 2**31 - 1, -(2**63), 0.1, 1e300, "a", AT.date(), AT, Decimal("-0.050")),
    (None,) * 11,
]
_FLAT_ROWS += [
    (False, 0, 0, 0, 0, 1.5, 1e-7, text, dt.date(1, 1, 1), dt.datetime(1970, 1, 1), Decimal(10**16))
    for text in TEXTS
]
FLAT_ROWS = rows(*((*row, 1, 2) for row in _FLAT_ROWS), schema=FLAT)

NESTED_ROWS = rows(
    (
        b"\xff\x00",
        [1, None, 3],
        {"a": 1, "at": AT},
        [("x", Decimal("1.5")), ("y", None)],
        [{"m": [("k", [0.5, None])]}, None],
        1,
        2,
    ),
    (b"", [], {"a": None, "at": None}, [], [], 1, 2),
    (None, None, None, None, None, 1, None),
    schema=NESTED,
)
