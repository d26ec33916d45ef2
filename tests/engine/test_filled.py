"""Queries that begin filled: with rows of streams that are still there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tidemill as tm
from tidemill.testing.snapshots import elements

COUNT = "SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 10) GROUP BY item"
SCHEMA = pa.schema({"item": pa.int64(), "at": pa.int64()})


def rows(first: int, last: int) -> list[dict[str, Any]]:
    return [{"item": at % 2, "at": at} for at in range(first, last)]


def engine_with(retain: int | None) -> tm.Engine:
    engine = tm.Engine("inprocess")
    engine.stream("bid", SCHEMA, time="at", retain=retain)
    return engine


def wanted(sql: str, until: int) -> list[Any]:
    engine = tm.Engine("inprocess")
    engine.stream("bid", pa.Table.from_pylist(rows(0, until), SCHEMA), time="at")
    query = engine.sql(sql)
    assert query is not None
    return sorted(elements(query.collect(coalesce=True)))


def start(engine: tm.Engine, sql: str, name: str) -> Any:
    query = engine.sql(sql)
    assert query is not None
    return query.start("memory", name=name)


def live(engine: tm.Engine, first: int, last: int) -> None:
    for at in range(first, last):
        engine.push("bid", rows(at, at + 1))
        engine.graph.tick()


def settle(engine: tm.Engine) -> None:
    engine.graph.heartbeat("bid", 1000)
    engine.graph.tick()


@pytest.mark.parametrize(
    ("retain", "complete_from"), [(None, 29), (5, 23), (100, 0)], ids=["none", "some", "all"]
)
def test_a_new_query_knows_what_is_kept(retain: int | None, complete_from: int) -> None:
    engine = engine_with(retain)
    engine.run(every=None)
    start(engine, "SELECT at FROM bid WINDOW(RANGE 1)", "first")
    live(engine, 0, 20)
    late = start(engine, COUNT, "late")
    assert late.complete_from == complete_from
    live(engine, 20, 25)
    settle(engine)
    found = [row for row in elements(late.results()) if row[1] < 35]
    at = range(complete_from, 35)
    assert {t: snapshot(found, t) for t in at} == {t: snapshot(wanted(COUNT, 25), t) for t in at}
    assert all(begins >= complete_from for _, begins, _ in found)


def snapshot(found: list[Any], instant: int) -> list[Any]:
    return sorted(row for row, begins, ends in found if begins <= instant < ends)


def test_it_answers_with_its_first_tick() -> None:
    engine = engine_with(100)
    engine.run(every=None)
    start(engine, "SELECT at FROM bid WINDOW(RANGE 1)", "first")
    live(engine, 0, 20)
    late = start(engine, COUNT, "late")
    engine.graph.tick()
    assert snapshot(elements(late.results()), 15) == snapshot(wanted(COUNT, 20), 15)


def test_a_reading_that_has_just_ended_does_not_begin_anew() -> None:
    """Another query reads the same stream under another name."""
    engine = engine_with(100)
    engine.run(every=None)
    both = "SELECT a.at FROM bid WINDOW(RANGE 1) AS a, bid WINDOW(RANGE 1) AS b WHERE a.at = b.at"
    first = start(engine, both, "first")
    start(engine, "SELECT at FROM bid WINDOW(RANGE 1)", "other")
    live(engine, 0, 5)
    first.stop()
    again = start(engine, both, "again")
    assert again.complete_from == 0
    live(engine, 5, 9)
    settle(engine)
    assert sorted(elements(again.results())) == wanted(both, 9)


def test_late_rows_stay_out_when_they_are_read_again() -> None:
    engine = engine_with(100)
    engine.run(every=None)
    start(engine, "SELECT at FROM bid WINDOW(RANGE 1)", "first")
    live(engine, 0, 10)
    engine.push("bid", [{"item": 7, "at": 2}])  # the stream is at 9
    engine.graph.tick()
    late = start(engine, COUNT, "late")
    settle(engine)
    assert engine.graph.sources["bid"].late_rows == 1
    assert not [row for row, _, _ in elements(late.results()) if row[0] == 7]


def test_files_are_read_again_after_a_restart(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    declared = f"""CREATE STREAM bid (item BIGINT, at BIGINT)
        SOURCE parquet(path => '{tmp_path}/in') ORDERED BY at RETAIN 1000"""
    for number in range(3):
        part = pa.Table.from_pylist(rows(5 * number, 5 * number + 5), SCHEMA)
        pq.write_table(part, tmp_path / "in" / f"{number}.parquet")
    with tm.Engine("inprocess") as engine:
        engine.sql(declared)
        engine.run(checkpoint=str(tmp_path / "checkpoint"), every=None)
        start(engine, "SELECT at FROM bid WINDOW(RANGE 1)", "first")
        engine.graph.tick()
    with tm.Engine("inprocess") as engine:
        engine.sql(declared)
        engine.run(checkpoint=str(tmp_path / "checkpoint"), every=None)
        start(engine, "SELECT at FROM bid WINDOW(RANGE 1)", "first")
        late = start(engine, COUNT, "late")
        assert late.complete_from == 0
        settle(engine)
        found = elements(late.results())
        assert {t: snapshot(found, t) for t in range(30)} == {
            t: snapshot(wanted(COUNT, 15), t) for t in range(30)
        }


def test_what_is_not_kept_is_forgotten(tmp_path: Path) -> None:
    engine = engine_with(3)
    engine.run(checkpoint=str(tmp_path), every=None)
    start(engine, "SELECT at FROM bid WINDOW(RANGE 1)", "first")
    live(engine, 0, 12)
    segments = list((tmp_path / "feeds" / "bid" / "pushed").glob("*.arrow"))
    assert 3 <= len(segments) <= 5
    engine.close()
