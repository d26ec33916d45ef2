"""Statistics: which of several win, for which plan they are, and when they have moved."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tidemill.algebra import Join, Scan, Schema
from tidemill.catalog import Hints
from tidemill.optimize.conditions import localized
from tidemill.optimize.statistics import Statistics, StreamStatistics

COLUMNS = Schema.of(item=pa.int64(), price=pa.int64())
INNER = Join(Scan("bid", "c", COLUMNS), Scan("ask", "a", COLUMNS), None)
PLAN = Join(Scan("bid", "b", COLUMNS), INNER, None)


def rates(**values: float | None) -> Statistics:
    return Statistics({name: StreamStatistics(rate=value) for name, value in values.items()})


@pytest.mark.parametrize(
    ("before", "now", "moved"),
    [
        ({"bid": 10}, {"bid": 20}, set()),
        ({"bid": 10}, {"bid": 21}, {"bid"}),
        ({"bid": 10}, {"bid": 5}, set()),
        ({"bid": 10}, {"bid": 4}, {"bid"}),
        ({"bid": 10, "ask": 1}, {"bid": 11, "ask": 9}, {"ask"}),
        ({}, {"bid": 4}, {"bid"}),
        ({"bid": 10}, {"bid": None}, set()),
        ({"bid": 10}, {}, set()),
    ],
)
def test_moved(before: dict[str, float], now: dict[str, float | None], moved: set[str]) -> None:
    assert rates(**before).moved(rates(**now), threshold=2) == moved


def test_the_winner_leaves_what_it_does_not_know() -> None:
    told = StreamStatistics(rate=5, distinct={"item": 3})
    seen = StreamStatistics(rate=7, length=2, granularity=4, distinct={"item": 9, "price": 8})
    both = Statistics({"bid": told}, {"a": 0.1}).over(Statistics({"bid": seen}, {"a": 1, "b": 1}))
    assert both.of("bid") == StreamStatistics(5, 2, 4, None, {"item": 3, "price": 8})
    assert both.selectivities == {"a": 0.1, "b": 1}


def test_for_a_plan_hints_win_and_conditions_get_aliases() -> None:
    known = Statistics(
        {
            "bid": StreamStatistics(rate=5, distinct={"item": 3, "price": 4}),
            "person": StreamStatistics(rate=1),
        },
        {"bid.price > 3": 0.5, "bid.item = ask.item": 0.25, "person.age > 3": 0.1},
    )
    hints = Hints(
        rates={"bid": 6.0, "ask": 2.0},
        distinct={("bid", "item"): 7.0},
        selectivities={"b.price > 3": 0.9},
    )
    found = known.for_plan(PLAN, hints)
    assert found.streams == {
        "bid": StreamStatistics(rate=6, distinct={"item": 7, "price": 4}),
        "ask": StreamStatistics(rate=2),
    }
    assert found.selectivities == {
        "b.price > 3": 0.9,
        "c.price > 3": 0.5,
        "b.item = a.item": 0.25,
        "a.item = b.item": 0.25,
        "c.item = a.item": 0.25,
        "a.item = c.item": 0.25,
    }


def test_conditions_that_cannot_be_read_are_left_out() -> None:
    scans = [Scan("bid", "b", COLUMNS)]
    assert localized({"bid.a b > ": 0.5, "1 = 1": 0.5, "price > 3": 0.1}, scans) == {}
