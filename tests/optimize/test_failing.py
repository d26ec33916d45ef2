"""Rules never make a query fail, and never show a user function rows that it would not see."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from sqlglot import parse_one

import tidemill as tm
from tidemill.algebra import Schema
from tidemill.optimize.total import total_type

BIDS = [
    {"item": 0, "price": 10, "note": "x", "at": 1},
    {"item": 2, "price": 10, "note": "7", "at": 2},
    {"item": 5, "price": 10, "note": "y", "at": 3},
]
AUCTIONS = [{"id": 2, "seller": 1, "at": 2}, {"id": 3, "seller": 0, "at": 3}]

# Each divides by zero, or casts a text that is no number, if a condition is shown rows that the
# query keeps from it.
QUERIES = [
    "SELECT item FROM (SELECT * FROM bid WHERE item <> 0) WHERE 10 / item > 4",
    "SELECT item FROM bid b JOIN auction a ON a.id = b.item WHERE 10 / b.item > 4",
    "SELECT item FROM bid b JOIN auction a ON a.id = b.item AND 10 / a.seller > 4",
    "SELECT item FROM bid b, auction a WHERE a.id = b.item AND CAST(b.note AS INT) > 4",
    "SELECT item FROM (SELECT item FROM bid EXCEPT SELECT seller FROM auction WINDOW(RANGE 9)"
    " EXCEPT SELECT 0 FROM bid) WHERE 10 / item > 1",
    "SELECT i FROM (SELECT item AS i FROM bid b WHERE EXISTS (SELECT * FROM auction a WHERE a.id ="
    " b.item)) WHERE 10 / i > 4",
    "SELECT item FROM bid WINDOW(RANGE 1 SLIDE 3) WHERE 10 / item > 4",
    "SELECT 10 / item AS x FROM bid WINDOW(RANGE 1 SLIDE 3)",
]


def _engine(optimizer: bool) -> tm.Engine:
    engine = tm.Engine(runtime="inprocess", optimizer=optimizer)
    engine.stream("bid", BIDS, time="at")
    engine.stream("auction", AUCTIONS, time="at")
    return engine


def _rows(engine: tm.Engine, sql: str) -> list[dict[str, Any]]:
    query = engine.sql(sql)
    assert query is not None
    rows: list[dict[str, Any]] = query.collect(coalesce=True).to_pylist()
    return rows


@pytest.mark.filterwarnings("ignore::tidemill.errors.PlanWarning")
@pytest.mark.parametrize("sql", QUERIES)
def test_no_rule_makes_a_query_fail(sql: str) -> None:
    assert _rows(_engine(optimizer=True), sql) == _rows(_engine(optimizer=False), sql)


@pytest.mark.parametrize(
    ("sql", "seen"),
    [
        # Only rows with a partner, each once for its pair.
        ("SELECT item FROM bid b JOIN auction a ON a.id = b.item WHERE spy(b.item) > 0", [2]),
        # Below a window, the same rows.
        ("SELECT item FROM bid WINDOW(RANGE 2) WHERE spy(item) > 0", [0, 2, 5]),
        # Not once more for a filter that could move below the projection.
        ("SELECT x FROM (SELECT spy(item) AS x FROM bid WINDOW(RANGE 2)) WHERE x > 0", [0, 2, 5]),
        ("SELECT x, x + 1 AS y FROM (SELECT spy(item) AS x FROM bid)", [0, 2, 5]),
    ],
)
@pytest.mark.filterwarnings("ignore::tidemill.errors.PlanWarning")
def test_what_a_user_function_sees(sql: str, seen: list[int]) -> None:
    calls: list[int] = []

    def spy(value: int) -> int:
        calls.append(value)
        return value

    engine = _engine(optimizer=True)
    engine.function("spy", spy, "BIGINT")
    _rows(engine, sql)
    assert sorted(calls) == seen


COLUMNS = Schema.of(
    i=pa.int32(), v=pa.int64(), f=pa.float64(), s=pa.string(), b=pa.bool_(), t=pa.timestamp("us"),
    d=pa.decimal128(10, 2), w=pa.decimal128(38, 2), l=pa.list_(pa.int64()),
)  # fmt: skip

TOTAL = [
    "v > 1", "v = f", "v <=> NULL", "s = 'a'", "s LIKE 'a%'", "b AND NOT (v > 1)", "v IN (1, 2)",
    "v BETWEEN i AND 9", "s IS NULL", "b IS TRUE", "COALESCE(v, 0) > 1", "NULLIF(s, 'a') = 'b'",
    "CASE WHEN v > 1 THEN s ELSE 'x' END = 'y'", "UPPER(s) = LOWER(s)", "LENGTH(s) > 3",
    "CONCAT(s, 'x') = 'ax'", "SUBSTRING(s, 1, 1) = 'a'", "f * 2 + v > 1", "f / 2 > 1", "v / 2 > 1",
    "v % 2 = 0", "CAST(i AS BIGINT) = v", "CAST(v AS STRING) = s", "CAST(i AS DOUBLE) > f",
    "t > TIMESTAMP '2020-01-01 00:00:00'", "d > 1.5", "w = w", "- f > 1",
]  # fmt: skip

MAY_FAIL = [
    "v + 1 > 1", "i * 2 > 1", "- v > 1", "ABS(v) > 1", "1 / v > 1", "v / 0 > 1", "v % i = 0",
    "v % 0 = 0", "d * 2 > 1", "CAST(s AS INT) > 1", "CAST(v AS INT) > 1", "CAST(f AS BIGINT) > 1",
    "s > 1", "t > s", "twice(v) > 1", "w > 1", "w > f", "l[0] > 1", "CASE v WHEN 1 THEN s END = s",
    "v > 1 AND 1 / v > 1", "COALESCE(s, v) = 'a'", "SUBSTRING(s, v, 1) = 'a'",
]  # fmt: skip


@pytest.mark.parametrize("text", TOTAL)
def test_conditions_that_cannot_fail(text: str) -> None:
    assert total_type(parse_one(text, read="spark"), COLUMNS) == pa.bool_()


@pytest.mark.parametrize("text", MAY_FAIL)
def test_conditions_that_may_fail(text: str) -> None:
    assert total_type(parse_one(text, read="spark"), COLUMNS) is None
