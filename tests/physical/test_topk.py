"""The first rows of every instant, against the reference; and the numbers that order rows."""

from __future__ import annotations

import math
from collections import Counter
from decimal import Decimal
from itertools import pairwise
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.physical.running import run_plan
from tests.reference.examples import leaf, stream
from tidemill.algebra import SortKey, TimeWindow, TopK
from tidemill.physical.operators.topk.labels import Labels
from tidemill.physical.operators.topk.order import RowOrder
from tidemill.reference import canonical, evaluate

HORIZON = 14
FLOATS = st.sampled_from([None, -math.inf, -1.5, -0.0, 0.0, 2.0, math.nan])
STRINGS = st.none() | st.text("ab\0é", max_size=3)
LONGS = st.none() | st.sampled_from([-(2**63), -(2**63) + 1, 0, 1, 2**63 - 2, 2**63 - 1])
KEYS = st.permutations(["s.x", "s.y", "s.z"]).flatmap(
    lambda names: st.lists(st.tuples(st.booleans(), st.booleans()), max_size=3).map(
        lambda flags: tuple(SortKey(n, *f) for n, f in zip(names, flags, strict=False))
    )
)
ROWS = st.lists(st.tuples(FLOATS, STRINGS, LONGS, st.integers(0, 9)), max_size=12)


def check(plan: TopK, data: Any, rows_per_tick: int) -> None:
    """Compare the physical plan with the reference at every instant."""
    expected = evaluate(plan, {"s": data}, HORIZON)
    found = run_plan(plan, {"s": data}, rows_per_tick).rows()
    for t in range(HORIZON):
        rows = [tuple(map(canonical, row[:-2])) for row in found if row[-2] <= t < row[-1]]
        assert Counter(rows) == expected.at(t), f"at {t}"


@settings(max_examples=120, deadline=None)
@given(ROWS, KEYS, st.integers(0, 4), st.integers(0, 2), st.integers(1, 5))
def test_top_k_is_that_of_the_reference(
    rows: list[Any], keys: tuple[SortKey, ...], limit: int, offset: int, rows_per_tick: int
) -> None:
    scan = leaf(x=pa.float64(), y=pa.string(), z=pa.int64())
    rows.sort(key=lambda row: row[-1])
    check(TopK(TimeWindow(scan, 4), keys, limit, offset), stream(scan, *rows), rows_per_tick)


VALUES = {
    pa.bool_(): [False, None, True],
    pa.decimal128(9, 2): [Decimal("-1.5"), None, Decimal("0.01")],
    pa.decimal128(38, 1): [Decimal(-(10**36)), None, Decimal(10**36), Decimal(10**36 + 1)],
    pa.binary(): [b"\xff", b"", None, b"\0"],
    pa.list_(pa.float64()): [[1.0, None], [], None, [math.nan], [-0.0, 2.0], [0.0, 1.0], [None]],
    pa.list_(pa.decimal128(20, 1)): [[Decimal(7)], None, [Decimal(-7)], [Decimal(1)]],
    pa.struct([("p", pa.int32()), ("q", pa.string())]): [
        {"p": 1, "q": None},
        None,
        {"p": None, "q": "b"},
        {"p": 1, "q": "a"},
    ],
    pa.null(): [None, None],
}


@pytest.mark.parametrize("kind", VALUES, ids=str)
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("nulls_first", [False, True])
def test_all_types_have_an_order(kind: pa.DataType, descending: bool, nulls_first: bool) -> None:
    scan = leaf(x=kind, i=pa.int64())
    rows = [(value, n // 2, n) for n, value in enumerate(VALUES[kind])]
    for limit in (1, 2, 3):
        plan = TopK(TimeWindow(scan, 6), (SortKey("s.x", descending, nulls_first),), limit)
        check(plan, stream(scan, *rows), 1)


def test_state_goes_with_the_rows() -> None:
    scan = leaf(x=pa.string(), i=pa.int64())
    rows = [(f"{n * 7919 % 5000:04}", n, n // 500) for n in range(5000)]
    check(TopK(TimeWindow(scan, 2), (SortKey("s.x"),), 3), stream(scan, *rows), 700)


def test_labels_are_renewed_where_there_is_no_room() -> None:
    labels, seen = Labels(pl.String()), ["a", "b"]
    labels.of(pl.Series(seen))
    for n in range(100):
        seen.append("a" * (n % 2) + "ab" + "b" * n)
        labels.of(pl.Series(seen[-1:]))
    assert 0 < labels.renewals < 10
    ordered = labels.of(pl.Series(sorted(seen))).tolist()
    assert all(one < other for one, other in pairwise(ordered))


def test_labels_have_room_at_both_ends() -> None:
    labels = Labels(pl.Binary())
    for n in range(300):
        labels.of(pl.Series([b"b" * (n + 1), b"a" * (300 - n)]))
    assert labels.renewals == 0
    assert labels.of(pl.Series([None, b"a", b"b"])).tolist()[0] == 0


def test_rows_without_columns_are_all_alike() -> None:
    order = RowOrder(pl.DataFrame({"x": pl.Series([None], dtype=pl.Null)}), [SortKey("x")])
    assert order.levels(pl.DataFrame({"x": [None, None]})).tolist() == [[0], [0]]


def test_rows_stay_in_order_when_labels_are_renewed() -> None:
    scan = leaf(y=pa.string())
    rows = [("a", 0), ("b", 0), *(("a" * (n % 2) + "ab" + "b" * n, n // 10) for n in range(100))]
    check(TopK(TimeWindow(scan, 20), (SortKey("s.y", True),), 5, 20), stream(scan, *rows), 1)
