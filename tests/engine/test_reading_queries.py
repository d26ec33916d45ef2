"""The answers of queries are relations for others: while they run, and at one instant."""

from __future__ import annotations

import pytest

import tidemill as tm
from tidemill.engine.kept import KeptStore
from tidemill.errors import CatalogError, ExecutionError, UnsupportedError
from tidemill.physical.operators.aggregate import AggregateExec

STREAM = "CREATE STREAM bid (item STRING, price BIGINT, at BIGINT) ORDERED BY at"
HOT = "SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 10) GROUP BY item"
ROWS = [("a", 3, 1), ("b", 9, 2), ("a", 1, 3), ("d", 5, 4), ("b", 1, 5), ("e", 5, 8), ("e", 1, 30)]
BIDS = [dict(zip(("item", "price", "at"), row, strict=True)) for row in ROWS]
READERS = [
    "SELECT item FROM hot WHERE n > 1",
    "SELECT item, n FROM hot WHERE item <> 'a'",
    "SELECT MAX(n) AS n FROM hot WHERE item <> 'a'",
    "SELECT h.item, c.kind FROM hot AS h JOIN category AS c ON h.item = c.item",
    "SELECT item FROM hot ORDER BY n DESC LIMIT 1",
]


@pytest.fixture
def engine() -> tm.Engine:
    engine = tm.Engine(runtime="inprocess", keep=KeptStore(1000))
    engine.sql(STREAM)
    engine.relation("category", [{"item": "a", "kind": "x"}, {"item": "b", "kind": "y"}])
    engine.run(every=None)
    engine.sql(f"CREATE QUERY hot AS {HOT}; START QUERY hot")
    return engine


def _push(engine: tm.Engine, rows: list[dict]) -> None:
    for row in rows:
        engine.push("bid", [row])
        engine.graph.tick()


def _expected(sql: str, at: int) -> list[dict]:
    whole = tm.Engine(runtime="inprocess")
    whole.stream("bid", BIDS, time="at")
    whole.relation("category", [{"item": "a", "kind": "x"}, {"item": "b", "kind": "y"}])
    whole.sql(f"CREATE VIEW hot AS {HOT}")
    return whole.sql(sql).snapshot(at).to_pylist()


@pytest.mark.parametrize("sql", READERS)
def test_a_query_reads_another_at_every_instant_and_shares_it(engine, sql):
    engine.sql(f"CREATE QUERY reader AS {sql}; START QUERY reader")
    counts = [n for n in engine.graph.operators if isinstance(n, AggregateExec) and n.keys]
    assert len(counts) == 1
    _push(engine, BIDS)
    kept = engine.kept("reader")
    for at in range(1, 30):
        assert kept.snapshot(at).to_pylist() == _expected(sql, at)
        assert engine.ask(sql, at=at).to_pylist() == _expected(sql, at)


def test_one_that_comes_later_is_complete_by_what_the_other_has_seen(engine):
    _push(engine, BIDS[:5])
    engine.sql("CREATE QUERY reader AS SELECT MAX(n) AS n FROM hot; START QUERY reader")
    _push(engine, BIDS[5:])
    assert engine.kept("reader").snapshot(7).to_pylist() == [{"n": 2}]


def test_questions_go_through_views_and_take_parameters(engine):
    engine.sql("CREATE VIEW many AS SELECT item, n FROM hot WHERE n > 1")
    _push(engine, BIDS)
    asked = (
        "SELECT m.item FROM many AS m JOIN category AS c ON m.item = c.item WHERE c.kind = :kind"
    )
    assert engine.ask(asked, at=6, kind="y").to_pylist() == [{"item": "b"}]
    assert engine.ask("SELECT item FROM hot").to_pylist() == []  # at 29, the newest instant


def test_what_is_not_known_is_refused(engine):
    _push(engine, BIDS)
    with pytest.raises(ExecutionError, match="not known at 99") as caught:
        engine.ask("SELECT item FROM hot", at=99)
    assert caught.value.help == "it is known from 0 to 29"
    with pytest.raises(UnsupportedError, match="stream `bid` are not kept"):
        engine.ask("SELECT item FROM bid")
    with pytest.raises(tm.TidemillError, match="reads no query"):
        engine.ask("SELECT item FROM category")


def test_a_query_that_others_read_stays_as_it_is(engine):
    engine.sql("CREATE QUERY reader AS SELECT item FROM hot")
    for sql in ("DROP QUERY hot", f"ALTER QUERY hot AS {HOT} HAVING COUNT(*) > 1"):
        with pytest.raises(CatalogError, match="`query reader` depends on it"):
            engine.sql(sql)
    engine.sql("ALTER QUERY hot OPTIMIZE; DROP QUERY reader; DROP QUERY hot")
