"""The comparison of results with snapshots."""

from __future__ import annotations

import math
from collections import Counter
from datetime import datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from tidemill.reference import LogicalStream, canonical
from tidemill.testing import assert_snapshots_equal, elements, endpoints, snapshot_at
from tidemill.timeline import OPEN_END

TABLE = pa.table(
    {
        "x": [math.nan, -0.0, 0.0],
        "d": pa.array([Decimal("1.50")] * 3, pa.decimal128(10, 4)),
        "valid_from": [0, 1, 2],
        "valid_to": pa.array([2, None, OPEN_END], pa.int64()),
    }
)
NAN = canonical(math.nan)
ONE = Decimal("1.5")
EXPECTED = LogicalStream(
    {
        0: Counter({(NAN, ONE): 1}),
        1: Counter({(NAN, ONE): 1, (0.0, ONE): 1}),
        2: Counter({(0.0, ONE): 2}),
        3: Counter({(0.0, ONE): 2}),
    },
    horizon=3,
)


def test_equal_snapshots() -> None:
    assert_snapshots_equal(TABLE, EXPECTED, range(4))


def test_open_ends_are_null_or_the_largest_instant() -> None:
    assert snapshot_at(TABLE, 10**12) == Counter({(0.0, ONE): 2})


def test_differences_are_named() -> None:
    with pytest.raises(AssertionError) as failure:
        assert_snapshots_equal([(("a", 1), 0, 2), (("a", 1), 1, 2)], LogicalStream(
            {0: Counter({("a", 1): 1}), 1: Counter({("a", 1): 1, ("b", None): 2})}, horizon=2
        ), [0, 1, 2])  # fmt: skip
    assert str(failure.value).splitlines() == [
        "snapshots differ at 1 of 3 instants: [1]",
        "at 1:",
        "  missing 2 × ('b', None)",
        "  extra 1 × ('a', 1)",
    ]


def test_instants_after_the_horizon_are_refused() -> None:
    with pytest.raises(ValueError, match="instant 4 is after the horizon 3"):
        assert_snapshots_equal(TABLE, EXPECTED, [4])


def test_endpoints_leave_open_ends_and_negative_instants_out() -> None:
    assert endpoints([(0, 4), (9, OPEN_END), (4, None)]) == [0, 1, 3, 4, 5, 8, 9, 10]


def test_timestamps_are_microseconds() -> None:
    when = datetime(1970, 1, 1, 0, 0, 1)
    times = pa.array([when], pa.timestamp("ms"))
    ends = pa.array([None], pa.timestamp("us"))
    table = pa.table({"x": [1], "valid_from": times, "valid_to": ends})
    assert elements(table) == [((1,), 1_000_000, OPEN_END)]
