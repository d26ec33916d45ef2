"""Whole numbers: NumPy gives what DuckDB gives, or leaves it to it."""

import polars as pl
import pyarrow as pa
import pytest
from sqlglot import parse_one

from tidemill.algebra import Schema
from tidemill.algebra.scalar import Scalar
from tidemill.expressions import compile_items
from tidemill.expressions.integers import IntegerExpression

SCHEMA = Schema.of(a=pa.int64(), b=pa.int64(), f=pa.float64(), i=pa.int32())
ROWS = pl.DataFrame(
    {"a": [-7, 0, 5, 9], "b": [3, 0, 5, -9], "f": [0.5, 1.0, 1.5, 2.0], "i": [1, 2, 3, 4]},
    schema_overrides={"i": pl.Int32},
)


def scalar(text: str, kind: pa.DataType) -> Scalar:
    return Scalar(parse_one(text, dialect="spark"), kind)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("ABS(a - b) < 6", pa.bool_()),
        ("a * 2 + b", pa.int64()),
        ("a % 4", pa.int64()),
        ("(a <= b OR a > 8) AND b <> 5", pa.bool_()),
        ("a = b AND a >= 0", pa.bool_()),
        ("ABS(a) * b - 1", pa.int64()),
    ],
)
def test_values_are_those_of_duckdb(text: str, kind: pa.DataType) -> None:
    expression = scalar(text, kind)
    found = IntegerExpression.make(expression, SCHEMA)
    assert found is not None
    by_duckdb = compile_items([("x", expression)], SCHEMA, {})._compute(ROWS)["x"]
    computed = found.run(ROWS)
    assert computed is not None
    assert computed.to_list() == by_duckdb.to_list()
    assert computed.dtype == by_duckdb.dtype


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("f < 2", pa.bool_()),
        ("i + 1", pa.int32()),
        ("1 + 2", pa.int64()),
        ("a + 1", pa.int32()),
        ("a + 5000000000", pa.int64()),
        ("a IS NULL", pa.bool_()),
        ("a % b", pa.int64()),
        ("a AND b", pa.bool_()),
        ("a / 2", pa.float64()),
    ],
)
def test_other_expressions_are_left_to_duckdb(text: str, kind: pa.DataType) -> None:
    assert IntegerExpression.make(scalar(text, kind), SCHEMA) is None


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a + b", [2**62, 2**62]),
        ("a * b", [2**40, 2**40]),
        ("ABS(a)", [-(2**63), 0]),
        ("a % 0", [1, 1]),
        ("a - b", [None, 1]),
    ],
)
def test_values_that_need_care_are_left_to_duckdb(text: str, values: list[int | None]) -> None:
    found = IntegerExpression.make(scalar(text, pa.int64()), SCHEMA)
    assert found is not None
    rows = pl.DataFrame({"a": values, "b": values}, schema={"a": pl.Int64, "b": pl.Int64})
    assert found.run(rows) is None
