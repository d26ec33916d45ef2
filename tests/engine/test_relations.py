"""Relations that change, in process: what queries see of insertions and deletions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

import tidemill as tm
from tests.runtime.change_sources import Script
from tidemill.engine import sources
from tidemill.runtime.progress import RelationProgress

BIDS = [{"item": item, "at": at} for at, item in enumerate([1, 2, 1, None, 1, 2, 1, 2, 1, 2])]
FOUND = "SELECT b.item, o.note FROM bid WINDOW(RANGE 2) b, offer o WHERE b.item = o.item"


def engine_with(rows: Any, changing: Any = True) -> tm.Engine:
    engine = tm.Engine(runtime="inprocess")
    engine.stream("bid", BIDS, time="at")
    engine.relation("offer", rows, changing=changing)
    return engine


def rows_of(table: pa.Table) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in table.to_pylist()]


def found(engine: tm.Engine, sql: str = FOUND) -> list[tuple[Any, ...]]:
    query = engine.sql(sql)
    assert query is not None
    return rows_of(query.collect())


def test_a_row_of_a_stream_finds_what_is_there_when_it_arrives() -> None:
    engine = engine_with([{"item": 1, "note": "first"}])
    assert engine.insert("offer", [{"item": 2, "note": "later"}], at=5) == 1
    assert engine.delete("offer", "item = 1", at=4) == 1
    engine.insert("offer", [{"item": 1, "note": "again"}], at=7)
    assert found(engine) == [
        (1, "first", 0, 2),
        (1, "first", 2, 4),
        (2, "later", 5, 7),
        (2, "later", 7, 9),
        (1, "again", 8, 10),
        (2, "later", 9, 11),
    ]


def test_without_an_instant_a_later_query_sees_it_from_the_beginning() -> None:
    engine = engine_with([{"item": 1, "note": "a"}])
    engine.insert("offer", {"item": [2], "note": ["b"]})
    engine.delete("OFFER", "note = 'a'")
    assert [row[:3] for row in found(engine)] == [(2, "b", at) for at in (1, 5, 7, 9)]
    engine.delete("offer")
    assert found(engine) == []
    engine.insert("offer", pl.DataFrame({"item": [1], "note": ["c"]}), at=8)
    assert found(engine) == [(1, "c", 8, 10)]
    engine.delete("offer")
    assert found(engine) == [], "it was deleted before it was inserted"


def test_a_past_that_is_known() -> None:
    rows = {
        "item": [1, 1, 2, 2, 2],
        "note": ["a", "b", "c", "never", "open"],
        "since": [0, 2, 4, 5, 9],
        "until": [3, 5, 8, 5, None],
    }
    engine = engine_with(pa.table(rows), changing=("since", "until"))
    assert [(row[1], row[2]) for row in found(engine)] == [
        ("a", 0),
        ("a", 2),
        ("b", 2),
        ("b", 4),
        ("c", 5),
        ("c", 7),
        ("open", 9),
    ]
    assert engine.insert("offer", [{"item": 1, "note": "new"}], at=8) == 1
    assert engine.delete("offer", at=9) == 2, "the others had gone before"
    assert ("new", 8) in [(row[1], row[2]) for row in found(engine)]
    with pytest.raises(tm.CatalogError, match="used with integer time"):
        engine.delete("offer", at=datetime(2026, 1, 1))


def test_only_what_is_there_at_an_instant_is_deleted_at_it() -> None:
    engine = engine_with([{"item": 1, "note": "a"}])
    engine.insert("offer", [{"item": 1, "note": "b"}], at=6)
    assert engine.delete("offer", "item = 1", at=5) == 1
    assert engine.delete("offer", "item = 1", at=5) == 0
    assert [row[1:3] for row in found(engine)] == [("a", 0), ("a", 2), ("a", 4), ("b", 6), ("b", 8)]


def test_equal_rows_nulls_and_other_letters() -> None:
    offer = {"item": 1, "note": "水 🌊"}
    engine = engine_with([offer, offer, {"item": None, "note": None}])
    assert [row[1] for row in found(engine)][:2] == ["水 🌊", "水 🌊"]
    assert engine.delete("offer", "item <> 1") == 0, "NULL is neither equal nor different"
    assert engine.delete("offer", "note IS NULL") == 1
    assert engine.delete("offer", "note = '水 🌊'", at=1) == 2
    assert found(engine) == [(1, "水 🌊", 0, 2), (1, "水 🌊", 0, 2)]


def test_the_relation_alone() -> None:
    engine = engine_with([{"item": 1, "note": "a"}])
    engine.insert("offer", [{"item": 2, "note": "b"}], at=3)
    engine.delete("offer", "item = 1", at=5)
    counts = [(1, 0, 3), (2, 3, 5), (1, 5, None)]
    assert found(engine, "SELECT COUNT(*) AS n FROM offer") == counts
    query = engine.sql("SELECT COUNT(*) AS n FROM offer")
    assert query is not None
    query.collect()
    source = query.progress.sources["offer"]
    assert isinstance(source, RelationProgress)
    assert (source.rows, source.held, source.missing, source.warning) == (2, 1, 0, None)
    engine.delete("offer", at=9)
    assert rows_of(query.collect())[-1] == (1, 5, 9), "asked again, it knows what has changed"


def test_instants_of_the_calendar() -> None:
    engine = tm.Engine(runtime="inprocess")
    noon = datetime(2026, 7, 1, 12)
    engine.stream("bid", [{"item": 1, "ts": noon}], time="ts")
    engine.relation("offer", [{"item": 1, "note": "a"}], changing=True)
    engine.delete("offer", at=noon)
    engine.insert("offer", [{"item": 1, "note": "b"}], at=noon.replace(tzinfo=UTC))
    sql = "SELECT note FROM bid WINDOW(RANGE 1 SECOND) b, offer o WHERE b.item = o.item"
    assert [row[0] for row in found(engine, sql)] == ["b"]
    engine.stream("count", BIDS, time="at")
    with pytest.raises(tm.CatalogError, match="used with integer time"):
        found(engine, "SELECT note FROM count WINDOW(RANGE 1) b, offer o WHERE b.item = o.item")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"item": 1, "note": "a"}, {"item": 1, "notes": "a"}], "no column `notes`"),
        ([{"item": 1}], "`note` of `offer` is missing"),
        ([{"item": "1", "note": "a"}], "`item` of `offer` is BIGINT"),
        ([{"item": 1.5, "note": "a"}], "`item` of `offer` is BIGINT"),
        ([{"item": 2**64, "note": "a"}], "`item` of `offer` is BIGINT"),
        ({"item": [1], "note": [2]}, "`note` of `offer` is STRING: BIGINT is given"),
        ({"item": [1.5], "note": ["a"]}, "`item` of `offer` is BIGINT"),
        ({"item": ["1"], "note": ["a"]}, "`item` of `offer` is BIGINT: STRING is given"),
        (pl.DataFrame({"item": [1]}), "`note` of `offer` is missing"),
        (7, "cannot be read from int"),
    ],
)
def test_rows_that_do_not_fit_change_nothing(rows: Any, message: str) -> None:
    engine = engine_with([{"item": 1, "note": "a"}])
    with pytest.raises(tm.CatalogError, match=message):
        engine.insert("offer", rows)
    assert engine.delete("offer") == 1


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [{"item": None, "note": None}],
        {"item": pa.array([3], pa.int8()), "note": pa.nulls(1)},
        pl.DataFrame({"note": ["x"], "item": [1.0]}),
        (row for row in [{"item": 1, "note": "a"}] * 2),
    ],
)
def test_rows_that_fit(rows: Any) -> None:
    engine = engine_with([{"item": 1, "note": "a"}])
    inserted = engine.insert("offer", rows)
    assert engine.delete("offer") == inserted + 1


CHANGES: list[tuple[Callable[[tm.Engine], Any], str]] = [
    (lambda engine: engine.insert("offers", []), "unknown stream or relation `offers`"),
    (lambda engine: engine.insert("bid", []), "`bid` does not change"),
    (lambda engine: engine.insert("fixed", []), "`fixed` does not change"),
    (lambda engine: engine.delete("seen"), "`seen` is derived"),
    (lambda engine: engine.delete("offer", "itme = 1"), "unknown column `itme`"),
    (lambda engine: engine.delete("offer", "item = 'a'"), "item = 'a'"),
    (lambda engine: engine.delete("offer", "item"), "takes a condition"),
    (lambda engine: engine.delete("offer", "item = 1 AT 5"), "more than a condition"),
    (lambda engine: engine.delete("offer", "item = "), "error"),
    (lambda engine: engine.delete("offer", "item = 1; DROP RELATION offer"), "one statement"),
    (lambda engine: engine.delete("offer", at=-1), "is not an instant"),
    (lambda engine: engine.delete("offer", at=True), "is not an instant"),
    (lambda engine: engine.insert("offer", [], at=2**63), "is not an instant"),
    (lambda engine: engine.insert("offer", [], at=datetime(1969, 1, 1)), "is not an instant"),
    (
        lambda engine: engine.relation("x", [{"a": 1}], valid=("a", "a"), changing=True),
        "cannot have both",
    ),
    (lambda engine: engine.relation("x", [{"a": 1}], changing=("a", "b")), "no column `b`"),
]


@pytest.mark.parametrize(("change", "message"), CHANGES)
def test_changes_that_mean_nothing(change: Callable[[tm.Engine], Any], message: str) -> None:
    engine = engine_with([{"item": 1, "note": "a"}])
    engine.relation("fixed", [{"item": 1}])
    engine.sql("CREATE STREAM seen AS SELECT item FROM bid")
    with pytest.raises(tm.TidemillError, match=message):
        change(engine)
    assert engine.delete("offer") == 1


def test_declared_relations(tmp_path: Path) -> None:
    engine = tm.Engine(runtime="inprocess")
    engine.stream("bid", BIDS, time="at")
    engine.sql("CREATE RELATION offer (item BIGINT, note STRING) CHANGING")
    assert found(engine) == []
    engine.insert("offer", [{"item": 1, "note": "a"}], at=7)
    assert found(engine) == [(1, "a", 8, 10)]
    engine.sql("DROP RELATION offer")
    (tmp_path / "offers.csv").write_text("item,note,since,until\n1,a,0,1\n2,b,3,\n")
    engine.sql(
        "CREATE RELATION offer (item BIGINT, note STRING, since BIGINT, until BIGINT) "
        f"SOURCE csv(path => '{tmp_path}/offers.csv') CHANGING FROM since TO until"
    )
    engine.delete("offer", "item = 2", at=6)
    assert found(engine) == [(1, "a", 0, 2), (2, "b", 5, 7)]


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> tm.Engine:
    """An engine that knows one more kind of table that others change."""
    monkeypatch.setitem(sources._CHANGE_SOURCES, "played", "tests.runtime.change_sources")
    engine = tm.Engine(runtime="inprocess")
    for name, kind in (("now", ""), ("changes", "CHANGING")):
        columns = "(k BIGINT, note STRING)"
        engine.sql(f"CREATE RELATION {name} {columns} SOURCE played(seed => 7) {kind}")
    return engine


def test_tables_that_others_change(played: tm.Engine) -> None:
    there = Script(Random(7), rows=5).now
    for name in ("now", "changes"):
        rows = found(played, f"SELECT k, note FROM {name}")
        assert Counter(row[:2] for row in rows) == there
        assert {row[2:] for row in rows} == {(0, None)}
    with pytest.raises(tm.CatalogError, match="`changes` is stored in played"):
        played.insert("changes", [])


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("CREATE STREAM x (k BIGINT) SOURCE played(seed => 7)", "cannot be the source of a stream"),
        (
            "CREATE RELATION x (k BIGINT, a BIGINT, b BIGINT) SOURCE played(seed => 7) "
            "CHANGING FROM a TO b",
            "tells itself when rows come and go",
        ),
    ],
)
def test_tables_that_others_change_are_no_more_than_that(
    played: tm.Engine, sql: str, message: str
) -> None:
    played.sql(sql)
    with pytest.raises(tm.ExecutionError, match=message):
        found(played, "SELECT k FROM x")
