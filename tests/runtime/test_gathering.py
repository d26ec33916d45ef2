"""What a run finds out about its sources and conditions."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl
import pytest

from tidemill.algebra.nodes import SourceKind
from tidemill.engine import Engine, Query
from tidemill.optimize.statistics import Statistics
from tidemill.runtime.statistics import sources as module
from tidemill.runtime.statistics.sources import SourceStatistics

START = dt.datetime(2024, 5, 1)


def run(engine: Engine, sql: str) -> Statistics:
    query = engine.sql(sql)
    assert isinstance(query, Query)
    query.collect()
    return query.progress.statistics


def integers() -> Engine:
    """Three bids at every second instant, and one ask at every tenth."""
    engine = Engine(runtime="inprocess")
    bids = [{"item": n % 30, "price": n % 10, "at": n // 3 * 2} for n in range(900)]
    engine.stream("bid", [bids[:400], bids[400:]], time="at")
    engine.stream("ask", [{"item": n % 30, "at": n * 10} for n in range(60)], time="at")
    return engine


def test_rates_of_integer_time() -> None:
    seen = run(integers(), "SELECT b.item FROM bid b, ask a WHERE a.item = b.item")
    assert (seen.of("bid").rate, seen.of("ask").rate) == (1.5, 0.1)
    assert (seen.of("bid").granularity, seen.of("ask").granularity) == (2, 10)


def test_rates_of_timestamps() -> None:
    engine = Engine(runtime="inprocess")
    rows = [{"v": n, "at": START + dt.timedelta(seconds=n / 4)} for n in range(1_000)]
    engine.stream("s", rows, time="at")
    seen = run(engine, "SELECT COUNT(*) AS n FROM s WINDOW(RANGE 1 MINUTE)")
    assert seen.of("s").rate == pytest.approx(4 / 1_000_000)
    assert seen.of("s").granularity == 250_000
    assert "4 per second" in repr(engine.statistics)


def test_late_rows_do_not_count() -> None:
    engine = Engine(runtime="inprocess")
    ticks = [[{"v": 1, "at": n} for n in range(100, 200)], [{"v": 2, "at": 5}]]
    engine.stream("s", ticks, time="at")
    seen = run(engine, "SELECT v, COUNT(*) AS n FROM s WINDOW(RANGE 5) GROUP BY v")
    assert seen.of("s").rate == 1.0
    assert seen.of("s").distinct == pytest.approx({"v": 1}, rel=0.01)


def test_distinct_values_are_those_of_columns_that_are_read() -> None:
    seen = run(integers(), "SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 5) GROUP BY item")
    assert seen.of("bid").distinct == pytest.approx({"item": 30}, rel=0.1)
    seen = run(integers(), "SELECT item FROM bid WHERE price > 3")
    assert seen.of("bid").distinct == {}, "a filter alone is too cheap for it"


def test_relations() -> None:
    engine = integers()
    engine.relation("kind", [{"item": n, "kind": n % 3} for n in range(30)])
    terms = [{"item": n, "since": n, "until": None if n == 3 else n + 20} for n in range(30)]
    engine.relation("term", terms, valid=("since", "until"))
    seen = run(
        engine,
        "SELECT k.kind FROM bid b, kind k, term t WHERE b.item = k.item AND b.item = t.item",
    )
    kind, term = seen.of("kind"), seen.of("term")
    assert (kind.rows, kind.rate, kind.length) == (30, None, None)
    assert (term.rows, term.rate, term.length) == (30, 1.0, 20)


def test_shares_of_filters() -> None:
    engine = integers()
    engine.function("thrice", lambda x: 3 * x, "BIGINT")
    seen = run(engine, "SELECT item FROM bid AS b WHERE price < 3")
    assert seen.selectivities == pytest.approx({"bid.price < 3": 0.3}, rel=0.01)
    seen = run(engine, "SELECT q.i FROM (SELECT item AS i FROM bid) AS q WHERE q.i < 3")
    assert seen.selectivities == pytest.approx({"bid.item < 3": 0.1}, rel=0.02)


@pytest.mark.parametrize(("left", "right"), [(100, 100), (100, 1), (1, 40), (5_000, 5_000)])
def test_shares_of_joins_are_those_of_pairs_that_hold_together(left: int, right: int) -> None:
    random = np.random.default_rng(3)
    engine = Engine(runtime="inprocess")
    for name, count in (("x", 3_000), ("y", 2_000)):
        rows = {"k": random.integers(0, 20, count), "at": np.sort(random.integers(0, 3_000, count))}
        engine.stream(name, pl.DataFrame(rows), time="at")
    sql = f"SELECT x.k FROM x WINDOW(RANGE {left}) JOIN y WINDOW(RANGE {right}) ON x.k = y.k"
    assert run(engine, sql).selectivities == pytest.approx({"x.k = y.k": 1 / 20}, rel=0.3)


def test_conditions_that_have_no_name_of_a_source_are_not_kept() -> None:
    engine = integers()
    seen = run(
        engine,
        "SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 5) GROUP BY item HAVING COUNT(*) > 1",
    )
    assert seen.selectivities == {}
    seen = run(engine, "SELECT x.item FROM bid x, bid y WHERE x.item = y.item")
    assert seen.selectivities == {}, "of a join with itself"


def test_a_rate_follows_the_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_RECENT_ROWS", 100)
    bids = SourceStatistics(SourceKind.STREAM)
    assert bids.statistics.rate is None
    bids.arrived(100, first=0, last=99)
    assert bids.statistics.rate == 1
    for start in (100, 110, 120):
        bids.arrived(100, first=start, last=start + 9)
    assert bids.statistics.rate == 10


def test_a_single_instant_has_no_rate() -> None:
    facts = SourceStatistics(SourceKind.STREAM)
    facts.arrived(10, 7, 7)
    assert facts.statistics.rate is None
