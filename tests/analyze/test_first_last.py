"""FIRST and LAST over time, with DuckDB's ordered aggregates as the judge."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import duckdb
import pytest

from tests.analyze.world import plan
from tidemill.reference import evaluate

HORIZON = 12
OURS = """
    SELECT item, FIRST(price) AS a, LAST(price) AS b, FIRST(price) IGNORE NULLS AS c,
           LAST_VALUE(bidder) IGNORE NULLS AS d, FIRST_VALUE(bidder) FILTER (WHERE price > 1) AS e
    FROM bid WINDOW(RANGE 4) GROUP BY item
"""
THEIRS = """
    SELECT item, first(price ORDER BY ts, price NULLS FIRST),
           first(price ORDER BY ts DESC, price NULLS FIRST),
           first(price ORDER BY ts, price) FILTER (WHERE price IS NOT NULL),
           first(bidder ORDER BY ts DESC, bidder) FILTER (WHERE bidder IS NOT NULL),
           first(bidder ORDER BY ts, bidder NULLS FIRST) FILTER (WHERE price > 1)
    FROM bid WHERE ts > ? - 4 AND ts <= ? GROUP BY item
"""


def _rows(seed: int) -> list[tuple[Any, ...]]:
    """Rows with NULLs and equal times."""
    rng = random.Random(seed)
    prices, bidders = (None, 1.0, 2.0, 3.0), (None, "a", "b")
    return [
        (rng.randint(1, 2), rng.choice(prices), rng.choice(bidders), rng.randint(0, 8))
        for _ in range(14)
    ]


@pytest.mark.parametrize("seed", range(8))
def test_as_in_duckdb(seed: int) -> None:
    rows = _rows(seed)
    connection = duckdb.connect()
    connection.execute("CREATE TABLE bid (item BIGINT, price DOUBLE, bidder VARCHAR, ts BIGINT)")
    connection.executemany("INSERT INTO bid VALUES (?, ?, ?, ?)", rows)
    names = ("item", "price", "bidder", "ts")
    stream = [(dict(zip(names, row, strict=True)), row[-1]) for row in rows]
    found = evaluate(plan(OURS).plan, {"bid": stream}, HORIZON)
    for t in range(HORIZON):
        expected = Counter(connection.execute(THEIRS, [t, t]).fetchall())
        assert Counter(map(tuple, found.at(t).elements())) == expected, (t, rows)
