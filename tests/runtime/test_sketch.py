"""Sketches of distinct values: how exact they are, that they merge, and that old values fade."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
import pytest

from tidemill.runtime.statistics import sketch as module
from tidemill.runtime.statistics.sketch import STANDARD_ERROR, RecentDistinct, Sketch

RANDOM = np.random.default_rng(7)


def different(count: int) -> pl.Series:
    """So many different integers."""
    return pl.Series(RANDOM.integers(0, 2**62, count))  # twice the same is hardly possible


def sketch_of(*parts: pl.Series) -> Sketch:
    sketch = Sketch()
    for part in parts:
        sketch.add(part)
    return sketch


@pytest.mark.parametrize("count", [0, 1, 2, 10, 100, 1_000, 3_000, 10_000, 100_000, 1_000_000])
def test_the_error_is_within_four_standard_errors(count: int) -> None:
    assert sketch_of(different(count)).estimate == pytest.approx(count, rel=4 * STANDARD_ERROR)


def test_estimates_have_no_bias() -> None:
    """The mean of many is much nearer than each; a bias would stay."""
    for count in (500, 2_500, 5_000, 20_000):
        estimates = [sketch_of(different(count)).estimate for _ in range(60)]
        assert np.mean(estimates) == pytest.approx(count, rel=4 * STANDARD_ERROR / 60**0.5)


@pytest.mark.parametrize(
    "values",
    [
        ["a", "b", "ab", None],
        [1.5, float("nan"), float("inf"), None],
        [True, False, None],
        [dt.date(2020, 1, 1), dt.date(2020, 1, 2), None],
        [dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 2)],
        [Decimal("1.50"), Decimal("2.50"), Decimal("3.50")],
        [b"x", b"y"],
        [None],
    ],
)
def test_types(values: list[Any]) -> None:
    column = pl.Series(values * 50)
    assert sketch_of(column).estimate == pytest.approx(len(values), abs=0.1)


def test_many_values_or_many_rows_are_told_apart() -> None:
    rows = pl.Series(RANDOM.integers(0, 300, 400_000))
    assert sketch_of(rows).estimate == pytest.approx(300, rel=4 * STANDARD_ERROR)


def test_small_batches_count_as_much_as_large_ones() -> None:
    rows = different(300_000)
    small = RecentDistinct()
    for part in rows.to_frame().iter_slices(1_000):
        small.merge(sketch_of(part.to_series()), part.height)
    assert small.estimate == pytest.approx(300_000, rel=4 * STANDARD_ERROR)


def test_a_column_that_falls_quiet_is_heard_again() -> None:
    """Rows are left out when nothing new came, but not for ever."""
    sketch = sketch_of(pl.Series(np.zeros(200_000, np.int64)), different(600_000))
    assert sketch.estimate > 50_000


def test_sketches_of_parts_merge_into_that_of_all() -> None:
    rows = different(5_000)
    whole = sketch_of(rows)
    merged = sketch_of(rows[:3_000])
    merged.merge(Sketch.load(sketch_of(rows[2_000:]).dump()))
    assert merged.dump() == whole.dump()


def test_old_values_fade(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_RECENT_ROWS", 30_000)
    recent = RecentDistinct()
    recent.merge(sketch_of(different(30_000)), 30_000)
    assert recent.estimate == pytest.approx(30_000, rel=4 * STANDARD_ERROR)
    recent.merge(sketch_of(pl.Series(np.arange(30_000) % 10)), 30_000)
    assert recent.estimate == pytest.approx(30_000, rel=4 * STANDARD_ERROR), "the second to last"
    recent.merge(sketch_of(pl.Series([1])), 1)
    assert recent.estimate == pytest.approx(10, rel=0.05)
