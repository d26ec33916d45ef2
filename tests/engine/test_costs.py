"""`explain("cost")`: estimates per part of the plan, and measurements beside them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest

import tidemill as tm
from tidemill.algebra.plan import Plan
from tidemill.engine.costs import Costs
from tidemill.explain import text_of
from tidemill.optimize.statistics import Statistics, StreamStatistics
from tidemill.runtime.progress import Progress
from tidemill.timeline import TimeDomain

KNOWN = Statistics(
    {
        "bid": StreamStatistics(rate=0.5, distinct={"item": 50, "price": 1000}),
        "auction": StreamStatistics(rate=0.25, distinct={"item": 50, "seller": 5}),
    },
    {"b.price > 500": 0.5},
)

SELLERS = """
    SELECT a.seller, COUNT(*) AS n FROM bid WINDOW(RANGE 100) AS b, auction WINDOW(RANGE 200) AS a
    WHERE a.item = b.item AND b.price > 500 GROUP BY a.seller
"""
UNWANTED = """
    SELECT b.item FROM bid WINDOW(RANGE 100) AS b
    WHERE NOT EXISTS (SELECT 1 FROM auction WINDOW(RANGE 20) AS a WHERE a.item = b.item)
"""


def tables(rate: float, seed: int, **columns: int) -> Iterator[pa.Table]:
    """Ten tables of a thousand instants each."""
    rng = np.random.default_rng(seed)
    for number in range(10):
        at = np.sort(rng.integers(number * 1000, (number + 1) * 1000, round(1000 * rate)))
        values = {name: rng.integers(0, top, len(at)) for name, top in columns.items()}
        yield pa.table({**values, "at": at})


@pytest.fixture(scope="module")
def engine() -> tm.Engine:
    engine = tm.Engine(runtime="inprocess")
    engine.stream("bid", list(tables(0.5, 1, item=50, price=1000)), time="at")
    engine.stream("auction", list(tables(0.25, 2, item=50, seller=5)), time="at")
    engine.relation("label", [{"item": item, "name": f"item {item}"} for item in range(50)])
    engine.relation("offer", [{"item": item} for item in range(50)], changing=True)
    return engine


def query_of(engine: tm.Engine, sql: str) -> tm.Query:
    query = engine.sql(sql)
    assert query is not None
    return query


def plan_of(query: tm.Query) -> Plan:
    return query.costs.plan


def report(query: tm.Query, progress: Progress) -> list[list[str]]:
    """The cells of the numbers of every line."""
    costs = Costs(plan_of(query), KNOWN, {}, TimeDomain.TICKS)
    return [line.split() for line in text_of(costs.lines(progress))]


def test_before_a_run_there_are_estimates_only(engine: tm.Engine) -> None:
    title, head, *lines = query_of(engine, SELLERS).explain("cost").splitlines()
    assert title == "cost"
    assert head.split()[-1] == "state"
    assert "measured" not in head
    assert lines[0].startswith("01 Project")
    assert lines[-2].startswith("all")
    assert lines[-1] == "rates are guessed for: auction, bid"


def test_known_rates_are_not_guessed(engine: tm.Engine) -> None:
    assert report(query_of(engine, SELLERS), Progress())[-1][0] == "all"


@pytest.mark.parametrize("sql", [SELLERS, UNWANTED], ids=["join", "anti-join"])
def test_a_run_comes_out_as_estimated(engine: tm.Engine, sql: str) -> None:
    query = query_of(engine, sql)
    query.collect()
    _, _, *lines = report(query, query.progress)
    for line in lines[:-1]:
        at = line.index("|")
        expected, found = (float(line[n].replace(",", "")) for n in (at - 1, at + 1))
        assert expected == pytest.approx(found, rel=0.15), line


def test_state_of_all_operators_of_a_part_is_measured(engine: tm.Engine) -> None:
    query = query_of(engine, UNWANTED)
    query.collect()
    lines = list(text_of(query.costs.lines(query.progress)))
    (line,) = (line for line in lines if "AntiJoin" in line)
    measured = line.partition("|")[2].split()
    everything = sum(operator.most_rows for operator in query.progress.operators)
    assert int(measured[1].replace(",", "")) == everything > 0


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT price, name FROM bid WINDOW(RANGE 9) b, label l WHERE b.item = l.item",
        "SELECT price FROM bid b WHERE NOT EXISTS (SELECT 1 FROM label l WHERE b.item = l.item)",
        "SELECT price FROM bid WINDOW(RANGE 9) WHERE item IN (SELECT item FROM offer)",
    ],
)
def test_a_relation_is_all_that_a_lookup_keeps(engine: tm.Engine, sql: str) -> None:
    query = query_of(engine, sql)
    query.collect()
    lines = [line.split() for line in query.explain("cost").splitlines()]
    (line,) = (line for line in lines if line[1:2] and line[1].endswith("Join"))
    at = line.index("|")
    assert (line[at - 4], line[at + 2]) == ("50", "50")


def test_time_of_day_is_shown_per_second() -> None:
    engine = tm.Engine(runtime="inprocess")
    times = pa.array([0, 1_000_000], pa.timestamp("us"))
    engine.stream("bid", pa.table({"item": [1, 2], "at": times}), time="at")
    text = query_of(
        engine, "SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 1 MINUTE) GROUP BY item"
    ).explain("cost")
    assert "rows/s" in text
    (scan,) = (line for line in text.splitlines() if "Scan" in line)
    assert scan.split()[-3:] == ["1,000", "0.001", "0.00%"]


@pytest.mark.parametrize("step", [1_000_000, 1_000_001], ids=["seconds", "odd steps"])
def test_a_window_over_whole_seconds_is_no_larger_than_over_others(step: int) -> None:
    engine = tm.Engine(runtime="inprocess")
    times = pa.array(np.arange(2000) * step, pa.timestamp("us"))
    bids = pa.table({"item": np.arange(2000) % 10, "at": times})
    engine.stream("bid", [bids[at : at + 200] for at in range(0, 2000, 200)], time="at")
    query = query_of(
        engine, "SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 600 SECONDS) GROUP BY item"
    )
    query.collect()
    lines = query.explain("cost").splitlines()
    (window,) = (line.split() for line in lines if "TimeWindow" in line)
    (counts,) = (line.split() for line in lines if "Aggregate" in line)
    at = window.index("|")
    assert window[at - 4 : at - 2] == ["1", "600"]
    at = counts.index("|")
    estimated, measured = (float(counts[n]) for n in (at - 4, at + 2))
    assert estimated == pytest.approx(measured, rel=0.05)


def test_what_a_run_has_measured_is_not_guessed() -> None:
    """Also of a query that was planned before its first rows came."""
    engine = tm.Engine(runtime="inprocess")
    engine.stream("bid", list(tables(0.5, 1, item=50, price=1000)), time="at")
    query = query_of(engine, "SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 9) GROUP BY item")
    assert query.explain("cost").splitlines()[-1] == "rates are guessed for: bid"
    query.collect()
    *_, scan, total = query.explain("cost").splitlines()
    assert total.startswith("all")
    assert scan[scan.index("]") :].split()[1] == "0.5"


def test_a_window_without_bound_grows(engine: tm.Engine) -> None:
    with pytest.warns(tm.PlanWarning):
        query = query_of(
            engine,
            "SELECT b.price FROM bid WINDOW(RANGE UNBOUNDED) AS b, auction AS a "
            "WHERE a.item = b.item",
        )
    (line,) = (line for line in query.explain("cost").splitlines() if "Join" in line)
    assert line.split()[-2:] == ["grows", "grows"]
