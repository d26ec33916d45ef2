"""Rows that are pushed: every run that reads the stream gets all of them, and none twice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

import tidemill as tm
from tidemill.engine.started import StartedQuery

SCHEMA = pa.schema({"item": pa.int64(), "at": pa.int64()})


@pytest.fixture
def engine() -> Iterator[tm.Engine]:
    with tm.Engine(runtime="inprocess") as engine:
        engine.stream("bid", SCHEMA, time="at")
        yield engine


def query(engine: tm.Engine) -> tm.Query:
    found = engine.sql("SELECT item FROM bid")
    assert found is not None
    return found


def push(engine: tm.Engine, *items: int) -> None:
    for item in items:
        engine.push("bid", [{"item": item, "at": item}])


def items(started: StartedQuery) -> list[int]:
    started.process_all_available()
    return started.results().column("item").to_pylist()


def test_rows_wait_for_the_first_run(engine: tm.Engine) -> None:
    push(engine, 1, 2)
    assert engine.waiting("bid") == 2
    started = query(engine).start("memory")
    push(engine, 3)
    assert items(started) == [1, 2, 3]
    assert engine.waiting("bid") == 0


def test_every_run_gets_all_rows(engine: tm.Engine) -> None:
    one, two = query(engine).start("memory"), query(engine).start("memory")
    for item in range(50):
        push(engine, item)
    assert items(one) == items(two) == list(range(50))


def test_what_one_run_leaves_is_for_the_next(engine: tm.Engine) -> None:
    graph = engine.run(every=None)
    query(engine).start("memory", name="q")
    push(engine, 1, 2)
    graph.tick()
    push(engine, 3, 4)
    graph.stop()
    push(engine, 5)
    assert items(query(engine).start("memory")) == [3, 4, 5]


def test_a_checkpoint_keeps_what_it_was_given(engine: tm.Engine, tmp_path: Path) -> None:
    graph = engine.run(checkpoint=str(tmp_path / "one"), every=None)
    query(engine).start("memory", name="q")
    push(engine, 1)
    graph.tick()
    push(engine, 2)
    graph.stop()
    push(engine, 3)
    graph = engine.run(checkpoint=str(tmp_path / "other"), every=None)
    other = query(engine).start("memory", name="q")
    assert items(other) == [3]
    push(engine, 4)
    graph.stop()
    engine.run(checkpoint=str(tmp_path / "one"), every=None)
    assert items(query(engine).start("memory", name="q")) == [2]


def test_looking_takes_nothing_away(engine: tm.Engine) -> None:
    push(engine, 1, 2)
    assert query(engine).collect().column("item").to_pylist() == [1, 2]
    engine.run(every=None)
    started = query(engine).start("memory", name="q")
    push(engine, 3)
    assert query(engine).collect().column("item").to_pylist() == [1, 2, 3]
    assert items(started) == [1, 2, 3]
    assert query(engine).collect().num_rows == 0
