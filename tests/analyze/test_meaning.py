"""A continuous query gives, at every instant, what an ordinary database gives.

The queries of `meaning.sql` run over random rows of one instant, with many NULLs and equal
values, through the reference and through DuckDB. The answers below them are worked out by hand.
"""

from __future__ import annotations

import random
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.analyze.world import catalog, plan
from tidemill.reference import SourceData, evaluate

QUERIES = [
    line.strip().rstrip(";")
    for line in (Path(__file__).parent / "meaning.sql").read_text().splitlines()
    if line.strip()
]
TABLES = {
    "bid": {"item": "BIGINT", "price": "DOUBLE", "bidder": "VARCHAR"},
    "auction": {"item": "BIGINT", "seller": "BIGINT", "reserve": "DECIMAL(10, 2)"},
    "category": {"id": "BIGINT", "name": "VARCHAR"},
}
SPELLINGS = {
    "<=>": "IS NOT DISTINCT FROM",
    "* EXCEPT": "* EXCLUDE",
    "ARRAY(": "list_value(",
    "bidder LIKE ANY ('a%', '%b')": "(bidder LIKE 'a%' OR bidder LIKE '%b')",
    "bidder NOT LIKE ANY ('a%', '%b')": "(bidder NOT LIKE 'a%' OR bidder NOT LIKE '%b')",
    "bidder NOT LIKE ALL ('%', 'a')": "(bidder NOT LIKE '%' AND bidder NOT LIKE 'a')",
}
ROUNDS = 6

Rows = list[tuple[Any, ...]]
Data = dict[str, Rows]


def random_data(seed: int) -> Data:
    rng = random.Random(seed)
    sizes = {name: rng.randint(0, 4) if seed else 0 for name in TABLES}
    return {
        name: [tuple(_value(rng, kind) for kind in columns.values()) for _ in range(sizes[name])]
        for name, columns in TABLES.items()
    }


def _value(rng: random.Random, kind: str) -> Any:
    if rng.random() < 0.25:
        return None
    number = rng.randint(1, 3)
    if kind == "VARCHAR":
        return "abc"[number - 1]
    return {"BIGINT": int, "DOUBLE": float}.get(kind, Decimal)(number)


def by_duckdb(sql: str, data: Data) -> Counter[tuple[Any, ...]]:
    connection = duckdb.connect()
    for name, columns in TABLES.items():
        fields = ", ".join(f"{column} {kind}" for column, kind in columns.items())
        connection.execute(f"CREATE TABLE {name} ({fields})")
        for row in data[name]:
            connection.execute(f"INSERT INTO {name} VALUES ({', '.join('?' * len(row))})", row)
    text = sql
    for ours, theirs in SPELLINGS.items():
        text = text.replace(ours, theirs)
    return Counter(map(_plain, connection.execute(text).fetchall()))


def by_reference(sql: str, data: Data) -> Counter[tuple[Any, ...]]:
    known = catalog()
    planned = plan(sql, known)
    sources: dict[str, SourceData] = {
        name: [(dict(zip(TABLES[name], row, strict=True)), 0) for row in rows]
        for name, rows in data.items()
    }
    sources["category"] = [
        dict(zip(TABLES["category"], row, strict=True)) for row in data["category"]
    ]
    result: Counter[tuple[Any, ...]] = Counter()
    for row, copies in evaluate(planned.plan, sources, 0, known.functions).at(0).items():
        result[_plain(row)] += copies
    return result


def _plain(row: Any) -> tuple[Any, ...]:
    return tuple(float(v) if isinstance(v, (int, Decimal)) and v is not True else v for v in row)


@pytest.mark.parametrize("sql", QUERIES)
def test_as_in_a_database(sql: str) -> None:
    for seed in range(ROUNDS):
        data = random_data(seed)
        assert by_reference(sql, data) == by_duckdb(sql, data), data


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        # DuckDB takes two NULLs inside of rows for equal; the standard does not.
        (
            "SELECT item FROM bid WHERE (item, bidder) NOT IN ((1, 'a'), (2, 'b'))",
            "SELECT item FROM bid"
            " WHERE NOT (item = 1 AND bidder = 'a') AND NOT (item = 2 AND bidder = 'b')",
        ),
        (
            "SELECT item FROM bid WHERE (item, price) < (2, 3) OR (price, bidder) >= (item, 'b')",
            "SELECT item FROM bid WHERE item < 2 OR (item = 2 AND price < 3)"
            " OR price > item OR (price = item AND bidder >= 'b')",
        ),
        (
            "SELECT item, price FROM bid ORDER BY price DESC LIMIT 1 WITH TIES",
            "SELECT item, price FROM bid QUALIFY RANK() OVER (ORDER BY price DESC NULLS LAST) <= 1",
        ),
        (
            "SELECT item FROM bid ORDER BY price, bidder FETCH FIRST 2 ROWS WITH TIES",
            "SELECT item FROM bid"
            " QUALIFY RANK() OVER (ORDER BY price NULLS FIRST, bidder NULLS FIRST) <= 2",
        ),
        (
            "SELECT DISTINCT item, price FROM bid ORDER BY item"
            " OFFSET 1 ROW FETCH FIRST ROW WITH TIES",
            "SELECT item, price FROM (SELECT DISTINCT item, price FROM bid)"
            " QUALIFY RANK() OVER (ORDER BY item NULLS FIRST) <= 2"
            " AND ROW_NUMBER() OVER (ORDER BY item NULLS FIRST, price NULLS FIRST) > 1",
        ),
        (
            "SELECT b.price, x.seller FROM bid b, LATERAL (SELECT seller FROM auction a"
            " WHERE a.item = b.item ORDER BY reserve FETCH FIRST ROW WITH TIES) x",
            "SELECT b.price, x.seller FROM bid b, LATERAL (SELECT seller FROM auction a"
            " WHERE a.item = b.item QUALIFY RANK() OVER (ORDER BY reserve NULLS FIRST) <= 1) x",
        ),
    ],
)
def test_with_ties(ours: str, theirs: str) -> None:
    """DuckDB has no WITH TIES, but ranks."""
    for seed in range(ROUNDS):
        data = random_data(seed)
        assert by_reference(ours, data) == by_duckdb(theirs, data), data


BY_HAND: Data = {
    "bid": [(1, 10.0, "a"), (2, 20.0, "b"), (None, 30.0, "c"), (3, None, "a")],
    "auction": [(1, 7, Decimal(15)), (1, 8, Decimal(5)), (2, None, None)],
    "category": [(7, "a")],
}


@pytest.mark.parametrize(
    ("sql", "answer"),
    [
        # Item 3 has no partner; for NULL there might be one, so it is in neither answer.
        ("SELECT item FROM bid WHERE item IN (SELECT item FROM auction)", [1, 2]),
        ("SELECT item FROM bid WHERE item NOT IN (SELECT item FROM auction)", [3]),
        # The seller of auction 2 is unknown, so nothing is surely absent.
        ("SELECT item FROM bid WHERE item NOT IN (SELECT seller FROM auction)", []),
        ("SELECT item FROM bid WHERE (item NOT IN (SELECT item FROM auction)) IS NULL", [None]),
        # Prices 10, 20, 30, NULL against 15, 5, NULL.
        ("SELECT item FROM bid WHERE price > ALL (SELECT reserve FROM auction)", []),
        ("SELECT item FROM bid WHERE NOT price > ALL (SELECT reserve FROM auction)", [1]),
        ("SELECT item FROM bid WHERE price > ANY (SELECT reserve FROM auction)", [1, 2, None]),
        # ALL of nothing is true, even for NULL; ANY of nothing is false.
        (
            "SELECT item FROM bid WHERE price > ALL (SELECT reserve FROM auction WHERE seller = 0)",
            [1, 2, None, 3],
        ),
        (
            "SELECT item FROM bid WHERE price > ANY (SELECT reserve FROM auction WHERE seller = 0)",
            [],
        ),
        (
            "SELECT item FROM bid b WHERE price > 25"
            " OR EXISTS (SELECT * FROM auction a WHERE a.item = b.item AND a.reserve < b.price)",
            [1, None],
        ),
        # COUNT of nothing is 0, MAX of nothing is NULL.
        (
            "SELECT (SELECT COUNT(*) FROM auction a WHERE a.item = b.item) AS n FROM bid b",
            [2, 1, 0, 0],
        ),
        (
            "SELECT (SELECT MAX(seller) FROM auction a WHERE a.item = b.item) AS m FROM bid b",
            [8, None, None, None],
        ),
        (
            "SELECT item FROM bid b"
            " WHERE 1 > (SELECT COUNT(*) FROM auction a WHERE a.item = b.item)",
            [None, 3],
        ),
        # The largest reserve of nothing is NULL, and no comparison with it holds.
        (
            "SELECT item FROM bid b"
            " WHERE price > ALL (SELECT MAX(reserve) FROM auction a WHERE a.item = b.item)",
            [],
        ),
    ],
)
def test_by_hand(sql: str, answer: list[Any]) -> None:
    assert by_reference(sql, BY_HAND) == Counter(_plain((value,)) for value in answer)


def test_over_time() -> None:
    """A subquery's answer changes with its window: item 1 is on auction in [2, 5)."""
    sql = """
        SELECT item, (SELECT COUNT(*) FROM auction a WINDOW(RANGE 3) WHERE a.item = b.item) AS n
        FROM bid b WINDOW(RANGE 6)
    """
    sources: dict[str, SourceData] = {
        "bid": [({"item": 1, "price": 1.0, "bidder": "a"}, 1)],
        "auction": [({"item": 1, "seller": 1, "reserve": None}, 2)],
    }
    found = evaluate(plan(sql).plan, sources, 9)
    counts = {t: [tuple(row) for row in found.at(t)] for t in range(9)}
    assert counts == {t: [(1, int(2 <= t < 5))] if 1 <= t < 7 else [] for t in range(9)}
