"""Aggregates: NULLs, exact sums, special floats, groups."""

from __future__ import annotations

import math
from collections import Counter
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from tests.reference.examples import aggregated, leaf, run, stream
from tidemill.algebra import Aggregate, AggregateCall, UserAggregate
from tidemill.errors import ExecutionError
from tidemill.reference import canonical

DOUBLE, LONG, INF = pa.float64(), pa.int64(), math.inf
NAN = canonical(math.nan)
MONEY = pa.decimal128(10, 2)


@pytest.mark.parametrize(
    ("function", "values", "kind", "answer"),
    [
        ("SUM", [1, None, 2], pa.int32(), 3),
        ("SUM", [None], LONG, None),
        ("SUM", [2**63 - 1, 1, -1], LONG, 2**63 - 1),
        ("SUM", [1e100, 1.0, -1e100], DOUBLE, 1.0),
        ("SUM", [0.1] * 10, DOUBLE, 1.0),
        ("SUM", [1e308, 1e308], DOUBLE, INF),
        ("SUM", [1e308, 1e308, -1e308], DOUBLE, 1e308),
        ("SUM", [INF, 1.0], DOUBLE, INF),
        ("SUM", [INF, -INF], DOUBLE, NAN),
        ("SUM", [math.nan, INF], DOUBLE, NAN),
        ("SUM", [0.1, 0.2], pa.float32(), 0.10000000149011612 + 0.20000000298023224),
        ("SUM", [Decimal("0.10"), Decimal("-0.30")], MONEY, Decimal("-0.20")),
        ("AVG", [1, 2, None], LONG, 1.5),
        ("AVG", [2**53 + 1, 2**53 + 1], LONG, float(2**53 + 1)),
        ("AVG", [-INF, 1.0], DOUBLE, -INF),
        ("AVG", [Decimal("0.01"), 0, 0], MONEY, Decimal("0.003333")),
        ("AVG", [Decimal("-0.01"), *[Decimal("-0.02")] * 2], MONEY, Decimal("-0.016667")),
        ("MIN", [math.nan, 3.0, None], DOUBLE, 3.0),
        ("MIN", [math.nan], DOUBLE, NAN),
        ("MAX", [math.nan, INF], DOUBLE, NAN),
        ("MAX", ["a", "B", None], pa.string(), "a"),
        ("MIN", [None], pa.string(), None),
        ("COUNT", [1, None, 1], LONG, 2),
        ("COUNT", [None], LONG, 0),
        ("VAR_POP", [1, 2, 4], LONG, 14 / 9),
        ("VAR_SAMP", [1, 2, 4], LONG, 7 / 3),
        ("VAR_SAMP", [5.0, None], DOUBLE, None),
        ("VAR_POP", [5.0], DOUBLE, 0.0),
        ("VAR_POP", [1.0, INF], DOUBLE, NAN),
        ("VAR_POP", [1e16, 1e16 + 2], DOUBLE, 1.0),
        ("STDDEV_SAMP", [1.0], DOUBLE, None),
        ("STDDEV_SAMP", [1, 3], LONG, math.sqrt(2)),
        ("STDDEV_POP", [1, 3], LONG, 1.0),
    ],
)  # fmt: skip
def test_answer(function: str, values: list[Any], kind: pa.DataType, answer: Any) -> None:
    found = aggregated(function, values, kind)
    # The same number in the same type: 3 is not 3.0, and every NaN is one object.
    assert found is answer or (type(found), found) == (type(answer), answer)


@pytest.mark.parametrize(
    ("function", "values", "kind", "answer"),
    [
        ("COUNT", [0.0, -0.0, math.nan, -math.nan, None], DOUBLE, 2),
        ("SUM", [2, 2, 3, None], LONG, 5),
        ("AVG", [2, 2, 3], LONG, 2.5),
        ("COUNT", [Decimal("1.00"), Decimal("1")], MONEY, 1),
    ],
)
def test_distinct(function: str, values: list[Any], kind: pa.DataType, answer: Any) -> None:
    assert aggregated(function, values, kind, distinct=True) == answer


@pytest.mark.parametrize(
    ("values", "kind", "name"),
    [
        ([2**63 - 1, 1], LONG, "BIGINT"),
        ([-(2**63), -1], LONG, "BIGINT"),
        ([Decimal("9" * 38)] * 2, pa.decimal128(38, 0), r"DECIMAL\(38, 0\)"),
    ],
)
def test_sums_that_do_not_fit(values: list[Any], kind: pa.DataType, name: str) -> None:
    with pytest.raises(ExecutionError, match=f"SUM does not fit in {name}"):
        aggregated("SUM", values, kind)


def test_decimals_with_many_digits_stay_exact() -> None:
    values = [Decimal("12345678901234567890123456789.01"), Decimal("0.01")]
    found = aggregated("SUM", values, pa.decimal128(38, 2))
    assert str(found) == "12345678901234567890123456789.02"


def test_groups_take_null_nan_and_zeros_as_equal() -> None:
    scan = leaf(k=DOUBLE, x=LONG)
    calls = (
        AggregateCall("n", "COUNT", None, LONG),
        AggregateCall("m", "COUNT", "s.x", LONG),
    )
    rows = [(None, 1), (None, None), (math.nan, 1), (-math.nan, 2), (0.0, 1), (-0.0, None)]
    found = run(Aggregate(scan, ("s.k",), calls), stream(scan, *((*row, 2) for row in rows)))
    assert found == {2: Counter([(None, 2, 1), (NAN, 2, 2), (0.0, 2, 1)])}


def test_user_aggregate_leaves_nulls_out() -> None:
    product = UserAggregate("PRODUCT", float, lambda a, b: a * b, lambda p: p, DOUBLE)
    scan = leaf(k=LONG, x=LONG)
    plan = Aggregate(scan, ("s.k",), (AggregateCall("p", "PRODUCT", "s.x", DOUBLE, user=product),))
    found = run(plan, stream(scan, (1, 2, 0), (1, 3, 0), (1, None, 0), (2, None, 0)))
    assert found.at(0) == Counter([(1, 6.0), (2, None)])


def test_distinct_user_aggregate() -> None:
    product = UserAggregate("PRODUCT", float, lambda a, b: a * b, lambda p: p, DOUBLE)
    scan = leaf(x=LONG)
    call = AggregateCall("p", "PRODUCT", "s.x", DOUBLE, distinct=True, user=product)
    assert run(Aggregate(scan, (), (call,)), stream(scan, (3, 0), (3, 0))).at(0) == Counter(
        [(3.0,)]
    )
