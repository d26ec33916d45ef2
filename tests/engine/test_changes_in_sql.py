"""INSERT INTO and DELETE FROM a relation, as SQL."""

from __future__ import annotations

from datetime import datetime

import pytest

import tidemill as tm
from tidemill.errors import TidemillError


@pytest.fixture
def engine() -> tm.Engine:
    engine = tm.Engine(runtime="inprocess")
    engine.sql(
        "CREATE RELATION blocked (address STRING, reason STRING, n INT) CHANGING;"
        "INSERT INTO blocked VALUES ('a', 'spam', 1), ('ü', NULL, 2 + 3);"
    )
    return engine


def rows(engine: tm.Engine, at: int) -> list[tuple[object, ...]]:
    query = engine.sql("SELECT * FROM blocked")
    assert query is not None
    return sorted(tuple(row.values()) for row in query.snapshot(at).to_pylist())


def test_rows_come_and_go(engine: tm.Engine) -> None:
    engine.sql("INSERT INTO blocked (n, address) VALUES (7, 'b') AT 7")
    engine.sql("DELETE FROM blocked WHERE reason = 'spam' AT 9")
    first = [("a", "spam", 1), ("ü", None, 5)]
    assert rows(engine, 6) == first
    assert rows(engine, 8) == [first[0], ("b", None, 7), first[1]]
    assert rows(engine, 9) == [("b", None, 7), first[1]]
    engine.sql("DELETE FROM blocked AT 12")
    assert rows(engine, 12) == []


def test_a_row_that_is_unknown_is_not_deleted(engine: tm.Engine) -> None:
    engine.sql("DELETE FROM blocked WHERE reason <> 'spam'")  # NULL is not true
    assert len(rows(engine, 3)) == 2


def test_instants_are_times_where_streams_have_times() -> None:
    engine = tm.Engine(runtime="inprocess")
    stamps = [datetime(2026, 1, 1, 12), datetime(2026, 1, 1, 14)]
    engine.stream("hit", [{"page": 1, "at": at} for at in stamps], time="at")
    engine.sql("CREATE RELATION page (id INT, name STRING) CHANGING")
    engine.sql("INSERT INTO page VALUES (1, 'home') AT TIMESTAMP '2026-01-01 13:00:00'")
    query = engine.sql("SELECT name FROM hit WINDOW(RANGE 5 HOURS) h, page p WHERE h.page = p.id")
    assert query is not None
    (found,) = query.collect().to_pylist()
    assert (found["name"], found["valid_from"].replace(tzinfo=None)) == ("home", stamps[1])


WRONG = {
    "INSERT INTO blocked VALUES (1)": (28, "a row has 1 values for 3 columns"),
    "INSERT INTO blocked VALUES ('b', 'c', 1), ('a', 'b', 'c')": (54, "`n` is INT: cannot cast"),
    "INSERT INTO blocked VALUES ('a', 'b', x)": (39, "a value cannot mention columns"),
    "INSERT INTO blocked (adress) VALUES ('a')": (13, "`blocked` has no column `adress`"),
    "INSERT INTO blocked VALUES ('a', 'b', 99999999999)": (39, "`n` is INT"),
    "INSERT INTO blocked VALUES ('a', 'b', 1) AT 'noon'": (45, "AT takes an instant, not STRING"),
    "DELETE FROM blocked WHERE reson = 1": (27, "unknown column `reson`"),
    "DELETE FROM blocked WHERE n": (27, "WHERE"),
    "DELETE FROM nothing": (None, "unknown stream or relation `nothing`"),
    "DELETE FROM blocked AT -1": (None, "-1 is not an instant"),
}


@pytest.mark.parametrize("sql", WRONG)
def test_what_is_wrong_changes_nothing(engine: tm.Engine, sql: str) -> None:
    column, message = WRONG[sql]
    before = rows(engine, 5)
    with pytest.raises(TidemillError) as caught:
        engine.sql(sql)
    assert message in str(caught.value)
    assert caught.value.column == column
    assert rows(engine, 5) == before


@pytest.mark.parametrize(
    ("create", "message"),
    [
        ("CREATE RELATION r (a INT) SOURCE csv(path => 'x.csv')", "`r`"),
        ("CREATE RELATION r AS SELECT n FROM blocked", "`r` is derived"),
    ],
)
def test_only_relations_that_change_can_be_changed(
    engine: tm.Engine, create: str, message: str
) -> None:
    engine.sql(create)
    with pytest.raises(TidemillError) as caught:
        engine.sql("INSERT INTO r VALUES (1)")
    assert message in str(caught.value)
