"""ORDER BY is the order in which people see the rows of an instant, wherever they look."""

from __future__ import annotations

import pytest

import tidemill as tm
from tidemill.engine.kept import KeptStore

STREAM = "CREATE STREAM bid (item STRING, price BIGINT, at BIGINT) ORDERED BY at;"
ROWS = [("a", 3, 1), ("b", 9, 2), ("c", None, 3), ("d", 5, 4)]
BIDS = [dict(zip(("item", "price", "at"), row, strict=True)) for row in ROWS]
TOP = "SELECT item, price FROM bid WINDOW(RANGE 10) ORDER BY price DESC LIMIT 3"
ALL = "SELECT item, price FROM bid WINDOW(RANGE 10) ORDER BY price DESC NULLS FIRST"


def _engine(**options) -> tm.Engine:
    engine = tm.Engine(runtime="inprocess", **options)
    engine.stream("bid", BIDS, time="at")
    return engine


def _items(table) -> str:
    return "".join(table.column("item").to_pylist())


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (TOP, "bda"),
        (ALL, "cbda"),
        ("SELECT item FROM bid WINDOW(RANGE 10) ORDER BY item DESC", "dcba"),
        ("(SELECT item FROM bid WINDOW(RANGE 10) ORDER BY 1 DESC)", "dcba"),
        (f"SELECT item FROM ({TOP}) ORDER BY item DESC", "dba"),
        (
            "SELECT item FROM bid WINDOW(RANGE 10) UNION ALL "
            "SELECT item FROM bid WINDOW(RANGE 2) ORDER BY item DESC",
            "ddcba",
        ),
        (
            "SELECT COALESCE(item, 'all') AS item, COUNT(*) AS n FROM bid WINDOW(RANGE 10) "
            "GROUP BY ROLLUP (item) ORDER BY n DESC, item DESC",
            "alldcba",
        ),
        ("SELECT item, ARRAY(price, at) AS l FROM bid WINDOW(RANGE 10) ORDER BY l DESC", "bdac"),
    ],
)
def test_a_snapshot_is_in_order(sql, expected):
    assert _items(_engine().sql(sql).snapshot(5)) == expected


def test_an_answer_is_listed_by_time_and_rows_of_one_instant_in_order():
    engine = tm.Engine(runtime="inprocess")
    engine.stream("bid", [bid | {"at": bid["at"] // 4} for bid in BIDS], time="at")
    assert _items(engine.sql(ALL).collect()) == "cbad"


def test_an_order_that_nobody_could_see_is_refused():
    engine = _engine()
    with pytest.raises(tm.TidemillError, match="ORDER BY needs a LIMIT here"):
        engine.sql(f"SELECT item FROM ({ALL})")
    with pytest.raises(tm.TidemillError, match="ORDER BY needs a LIMIT here"):
        engine.sql(f"CREATE STREAM s AS {ALL}")
    assert engine.check(f"CREATE STREAM s AS {ALL}").errors
    with pytest.raises(tm.TidemillError, match="takes columns of the select list"):
        engine.sql("SELECT item FROM bid WINDOW(RANGE 10) ORDER BY price")


def test_what_a_running_query_keeps_is_in_order_also_by_another_definition():
    engine = tm.Engine(runtime="inprocess", keep=KeptStore(100))
    engine.sql(STREAM)
    engine.run(every=None)
    engine.sql(f"CREATE QUERY q AS {ALL}; START QUERY q")
    engine.push("bid", [*BIDS, {"item": "e", "price": 1, "at": 6}])
    engine.graph.tick()
    kept = engine.kept("q")
    assert _items(kept.snapshot()) == _items(kept.holding(5)) == "cbda"
    engine.sql(f"ALTER QUERY q AS {ALL.replace('DESC NULLS FIRST', 'ASC')}")
    assert _items(kept.snapshot()) == "cadb"
