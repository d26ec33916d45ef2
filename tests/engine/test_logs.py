"""Running queries in the form changes: what they tell, and when."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import tidemill as tm
from tests.fabrics.answers import query_of
from tidemill.engine.started import StartedQuery
from tidemill.reference import canonical_row

COUNT = "SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 10) GROUP BY item"
SCHEMA = pa.schema({"item": pa.int64(), "at": pa.int64()})

Log = list[tuple[Any, ...]]


def engine_with(checkpoint: Path | None = None) -> tm.Engine:
    engine = tm.Engine("inprocess")
    engine.stream("bid", SCHEMA, time="at")
    engine.run(checkpoint=None if checkpoint is None else str(checkpoint), every=None)
    return engine


def start(engine: tm.Engine, sql: str, name: str, **options: Any) -> StartedQuery:
    return query_of(engine, sql).start("memory", name=name, form="changes", **options)


def bids(first: int, last: int) -> list[dict[str, int]]:
    return [{"item": at % 2, "at": at} for at in range(first, last)]


def live(engine: tm.Engine, first: int, last: int) -> None:
    for at in range(first, last):
        engine.push("bid", bids(at, at + 1))
        engine.graph.tick()


def log(query: StartedQuery) -> Log:
    return [tuple(row.values()) for row in query.results().to_pylist()]


def holding(told: Log, at: int) -> list[tuple[Any, ...]]:
    """What holds at an instant, if all changes up to it were told."""
    held: list[tuple[Any, ...]] = []
    for *row, changed_at, change in told:
        if changed_at <= at:
            (held.append if change == "+" else held.remove)(canonical_row(row))
    return sorted(held)


def wanted(sql: str, until: int, at: int) -> list[tuple[Any, ...]]:
    engine = tm.Engine("inprocess")
    engine.stream("bid", pa.Table.from_pylist(bids(0, until), SCHEMA), time="at")
    rows = query_of(engine, sql).snapshot(at).to_pylist()
    return sorted(canonical_row(tuple(row.values())) for row in rows)


def test_a_row_is_told_when_time_has_passed_its_start() -> None:
    """Not when its end is known: that is when the next bid for the item comes, or none."""
    engine = engine_with()
    query = start(engine, COUNT, "q")
    told: dict[int, Log] = {}
    for at in (1, 2, 3, 4, 14, 15):
        before = len(log(query))
        engine.push("bid", [{"item": at % 2, "at": at}] if at < 5 else [])
        engine.graph.heartbeat("bid", at)
        engine.graph.tick()
        told[at] = log(query)[before:]
    assert told == {
        1: [],
        2: [(1, 1, 1, "+")],
        3: [(0, 1, 2, "+")],
        4: [(1, 1, 3, "-"), (1, 2, 3, "+")],
        14: [
            *[(0, 1, 4, "-"), (0, 2, 4, "+"), (1, 2, 11, "-"), (1, 1, 11, "+")],
            *[(0, 2, 12, "-"), (0, 1, 12, "+"), (1, 1, 13, "-")],
        ],
        15: [(0, 1, 14, "-")],
    }


@pytest.mark.parametrize(
    "sql",
    [
        COUNT,
        "SELECT item FROM bid",
        "SELECT item FROM bid WINDOW(RANGE 3)",
        "SELECT item, at FROM bid WINDOW(RANGE 7) ORDER BY at DESC LIMIT 2",
        "SELECT DISTINCT item FROM bid WINDOW(ROWS 3)",
        "SELECT a.item, b.at FROM bid WINDOW(RANGE 4) AS a, bid WINDOW(RANGE 2) AS b",
    ],
)
def test_the_log_is_the_snapshot_of_every_tick(sql: str) -> None:
    engine = engine_with()
    query = start(engine, sql, "q")
    for at in range(20):
        live(engine, at, at + 1)
        told = log(query)
        assert all(row[-2] < at for row in told)
        assert [row[-2] for row in told] == sorted(row[-2] for row in told)
        assert holding(told, at - 1) == (wanted(sql, 20, at - 1) if at else [])


def test_what_holds_when_a_query_is_complete_comes_then() -> None:
    engine = engine_with()
    start(engine, COUNT, "first")
    live(engine, 0, 20)
    late, same = start(engine, COUNT, "late"), start(engine, COUNT, "same")
    live(engine, 20, 24)
    later = start(engine, COUNT, "later")
    live(engine, 24, 40)
    assert late.complete_from == same.complete_from == 19
    assert later.complete_from == 23
    assert log(late) == log(same)
    for query, since in ((late, 19), (later, 23)):
        told = log(query)
        assert told[0][-2:] == (since, "+")
        for at in range(since, 39):
            assert holding(told, at) == wanted(COUNT, 40, at)


def test_a_log_without_what_was_before() -> None:
    """A partial one, too, tells of nothing that goes which it has not told of when it came."""
    engine = engine_with()
    sql = "SELECT item FROM bid WINDOW(RANGE 10)"
    first = start(engine, sql, "first", partial=True)
    live(engine, 0, 20)
    hasty = start(engine, sql, "hasty", partial=True)
    live(engine, 20, 40)
    assert min(row[-2] for row in log(first)) == 0
    assert min(row[-2] for row in log(hasty)) == 20
    for at in range(hasty.complete_from, 39):
        assert holding(log(hasty), at) == holding(log(first), at) == wanted(sql, 40, at)


def test_sizes_change() -> None:
    engine = engine_with()
    sql = "SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE {size}) GROUP BY item"
    bounded = sql.format(size="MIN 4, MAX 10")
    first = start(engine, bounded, "first")
    live(engine, 0, 20)
    late = start(engine, bounded, "late")
    live(engine, 20, 30)
    ((since, _),) = engine.graph.adapt({"range of bid": 4}).values()
    live(engine, 30, 60)
    for at in (*range(late.complete_from, since), *range(since + 10, 59)):
        size = 10 if at < since else 4
        rows = wanted(sql.format(size=size), 60, at)
        assert holding(log(first), at) == holding(log(late), at) == rows


def test_it_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    told: dict[str, Log] = {"first": [], "late": []}
    for begin in (0, 12, 24):
        with engine_with(tmp_path) as engine:
            queries = {name: start(engine, COUNT, name) for name in list(told)[: 1 + begin // 24]}
            live(engine, begin, begin + 6)
            if begin == 12:
                queries["late"] = start(engine, COUNT, "late")
                assert queries["late"].complete_from == 17
            live(engine, begin + 6, begin + 12)
            for name, query in queries.items():
                told[name] += log(query)
    for at in range(35):
        assert holding(told["first"], at) == wanted(COUNT, 36, at)
        assert holding(told["late"], at) == (wanted(COUNT, 36, at) if at >= 17 else [])
