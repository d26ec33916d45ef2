"""One meter for all rates: on the clock, and per instant of event time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemill.runtime.rate_meter import RateMeter


def test_without_time_there_is_no_rate() -> None:
    meter = RateMeter()
    assert meter.rate() is None
    meter.note(10, at=7)
    assert meter.rate() is None
    meter.note(20, at=7)
    assert meter.rate() is None


def test_the_last_two_notes_tell_if_nothing_more_is_wanted() -> None:
    meter = RateMeter()
    for total, at in ((100, 10), (160, 30), (160, 30)):
        meter.note(total, at)
    assert meter.rate() == 3
    meter.note(200, at=40)
    assert meter.rate() == 4


def test_a_window_of_rows_is_as_long_as_it_takes_them_to_come() -> None:
    meter = RateMeter(rows=120)
    meter.note(0, at=0)
    for tick in range(1, 11):
        meter.note(30 * tick, at=100 * tick)
    assert meter.rate() == 0.3
    meter.note(300 + 500, at=1100)
    assert meter.rate() == 5
    meter.note(800, at=1500)
    assert meter.rate() == 1  # nothing came since


def test_rows_that_lie_on_granules_began_before_the_first() -> None:
    meter = RateMeter(rows=1 << 16)
    meter.begin(10)
    meter.note(30, at=100)
    assert meter.rate(granule=10) == 0.3


def test_a_beginning_may_be_found_out_later() -> None:
    meter = RateMeter(rows=1000)
    meter.begin(100)
    meter.note(50, at=199)
    meter.begin(0)
    meter.note(100, at=99)  # other rows of the same tick, which came from another task
    assert meter.rate(granule=1) == 0.5


@given(
    over=st.sampled_from([0.0, 1.0, 3.0]),
    rows=st.sampled_from([0, 50]),
    steps=st.lists(st.tuples(st.integers(0, 40), st.floats(0.01, 0.5)), min_size=2, max_size=300),
)
def test_the_rate_is_one_of_a_window_that_is_just_long_enough(
    over: float, rows: int, steps: list[tuple[int, float]]
) -> None:
    """And whatever comes, few marks are kept."""
    meter, total, at = RateMeter(over, rows), 0, 0.0
    seen = [(at, total)]
    meter.note(total, at)
    for came, passed in steps:
        total, at = total + came, at + passed
        meter.note(total, at)
        seen.append((at, total))
    assert len(meter._marks) <= 64
    counted, span = meter.since()
    begin = min(seen, key=lambda mark: abs(mark[0] - (at - span)))
    assert begin[0] == pytest.approx(at - span)
    assert counted == total - begin[1]
    is_first = begin == seen[0]
    assert is_first or (span >= over and counted >= rows)
