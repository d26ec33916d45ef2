"""Statistics that tasks gather match the data, whatever the partitions and the fabric."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest

import tidemill as tm
from tests.fabrics.answers import query_of
from tests.fabrics.ground import Ground
from tidemill.optimize.statistics import Statistics

ROWS = 3000
RNG = random.Random(4)
BIDS = [
    {"item": RNG.randrange(40), "bidder": RNG.randrange(10**9), "price": n % 10, "at": n // 3 * 10}
    for n in range(ROWS)
]
ASKS = [{"item": RNG.randrange(40), "at": n * 40} for n in range(ROWS // 12)]
KINDS = [{"item": n, "kind": n % 7} for n in range(40)]
TERMS = [{"item": n, "since": n * 5, "until": n * 5 + 60} for n in range(40)]

SQL = """
    SELECT b.bidder, k.kind, t.item AS term
    FROM bid AS b WINDOW(RANGE 100)
    JOIN ask AS a WINDOW(RANGE 100) ON a.item = b.item
    JOIN kind AS k ON k.item = b.item
    JOIN term AS t ON t.item = b.item
"""


def cut(rows: list[dict[str, Any]], ticks: int) -> list[pa.Table]:
    size = -(-len(rows) // ticks)
    return [pa.Table.from_pylist(rows[n : n + size]) for n in range(0, len(rows), size)]


def engine_on(fabric: Ground, partitions: int) -> tm.Engine:
    # Joins of two inputs: what more inputs do to each other, rows do not tell.
    engine = fabric.engine(partitions, optimizer=["order_joins"])
    engine.stream("bid", cut(BIDS, 3), time="at")
    engine.stream("ask", cut(ASKS, 3), time="at")
    engine.relation("kind", KINDS)
    engine.relation("term", TERMS, valid=("since", "until"))
    return engine


def statistics_of(fabric: Ground, sql: str, partitions: int = 3) -> tuple[Statistics, tm.Engine]:
    engine = engine_on(fabric, partitions)
    query = query_of(engine, sql)
    query.collect()
    return query.progress.statistics, engine


@pytest.fixture
def known(fabric: Ground) -> tuple[Statistics, tm.Engine]:
    return statistics_of(fabric, SQL)


def test_progress_carries_what_the_data_has(known: tuple[Statistics, tm.Engine]) -> None:
    seen, _ = known
    bid, ask, kind, term = (seen.of(name) for name in ("bid", "ask", "kind", "term"))
    assert (bid.rate, ask.rate) == (0.3, 1 / 40)
    assert (bid.granularity, ask.granularity) == (10, 40)
    assert bid.distinct == pytest.approx({"item": 40, "bidder": ROWS}, rel=0.15)
    assert (kind.rows, kind.rate) == (40, None)
    assert kind.distinct == pytest.approx({"item": 40, "kind": 7}, rel=0.15)
    assert (term.rows, term.length) == (40, 60)
    assert seen.selectivities["bid.item = ask.item"] == pytest.approx(1 / 40, rel=0.5)


def test_they_are_those_of_one_partition_in_process(known: tuple[Statistics, tm.Engine]) -> None:
    seen, _ = known
    alone, _ = statistics_of(Ground(), SQL, partitions=1)
    assert seen.streams.keys() == alone.streams.keys()
    for name, stream in alone.streams.items():
        assert seen.of(name).rate == stream.rate
        assert seen.of(name).granularity == stream.granularity
        assert seen.of(name).distinct == pytest.approx(stream.distinct), "sketches merge exactly"


def test_the_engine_learns(known: tuple[Statistics, tm.Engine]) -> None:
    seen, engine = known
    assert engine.statistics.of("bid").rate == seen.of("bid").rate


def test_filters_next_to_the_source_are_seen(fabric: Ground) -> None:
    sql = """
        SELECT item, COUNT(*) AS n FROM bid AS b WINDOW(RANGE 100) WHERE price < 3 GROUP BY item
    """
    seen, _ = statistics_of(fabric, sql)
    assert seen.selectivities == pytest.approx({"bid.price < 3": 0.3}, rel=0.01)
    assert seen.of("bid").rate == pytest.approx(0.3, rel=0.01), "of all rows"
    assert seen.of("bid").distinct == pytest.approx({"item": 40, "price": 10}, rel=0.15)


def test_plans_without_stages_tell_only_of_their_filters(fabric: Ground) -> None:
    """To look at values would take longer than all else that is done with them."""
    seen, _ = statistics_of(fabric, "SELECT item FROM bid WHERE price < 3")
    assert seen.selectivities == pytest.approx({"bid.price < 3": 0.3}, rel=0.01)
    assert seen.of("bid").distinct == {}
