"""Statistics that tasks gather match the data, whatever the partitions."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from tests.spark.driving import query_of

import tidemill as tm
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


def engine_on(session: SparkSession | None) -> tm.Engine:
    # Joins of two inputs: what more inputs do to each other, rows do not tell.
    options: dict[str, Any] = {"optimizer": ["order_joins"]}
    engine = (
        tm.Engine("inprocess", **options)
        if session is None
        else tm.Engine(spark=session, partitions=3, **options)
    )
    engine.stream("bid", cut(BIDS, 3), time="at")
    engine.stream("ask", cut(ASKS, 3), time="at")
    engine.relation("kind", KINDS)
    engine.relation("term", TERMS, valid=("since", "until"))
    return engine


def statistics_of(session: SparkSession | None, sql: str) -> tuple[Statistics, tm.Engine]:
    engine = engine_on(session)
    query = query_of(engine, sql)
    query.collect()
    return query.progress.statistics, engine


@pytest.fixture(scope="module")
def known(session: SparkSession) -> tuple[Statistics, tm.Engine]:
    return statistics_of(session, SQL)


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


def test_they_are_those_of_a_run_in_process(known: tuple[Statistics, tm.Engine]) -> None:
    seen, _ = known
    alone, _ = statistics_of(None, SQL)
    assert seen.streams.keys() == alone.streams.keys()
    for name, stream in alone.streams.items():
        assert seen.of(name).rate == stream.rate
        assert seen.of(name).granularity == stream.granularity
        assert seen.of(name).distinct == pytest.approx(stream.distinct), "sketches merge exactly"


def test_the_engine_learns(known: tuple[Statistics, tm.Engine]) -> None:
    seen, engine = known
    assert engine.statistics.of("bid").rate == seen.of("bid").rate


def test_filters_next_to_the_source_are_seen(session: SparkSession) -> None:
    sql = """
        SELECT item, COUNT(*) AS n FROM bid AS b WINDOW(RANGE 100) WHERE price < 3 GROUP BY item
    """
    seen, _ = statistics_of(session, sql)
    assert seen.selectivities == pytest.approx({"bid.price < 3": 0.3}, rel=0.01)
    assert seen.of("bid").rate == pytest.approx(0.3, rel=0.01), "of all rows"
    assert seen.of("bid").distinct == {}, "nothing is known of rows that tasks did not see"


def test_what_spark_drops_itself_tells_nothing(session: SparkSession) -> None:
    seen, _ = statistics_of(session, "SELECT item FROM bid WHERE price < 3")
    assert seen == Statistics()
    seen, _ = statistics_of(session, "SELECT item FROM bid")
    assert seen.of("bid").rate == pytest.approx(0.3, rel=0.01)
