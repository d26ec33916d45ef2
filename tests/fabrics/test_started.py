"""Started queries: how they run, stop, fail, go on, and what they say about themselves."""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tidemill as tm
from tests.fabrics.answers import Results, multiset, net_changes, query_of, wait_for
from tests.fabrics.ground import Ground, everywhere
from tidemill.runtime.manifest import open_manifest
from tidemill.store import Store

SCHEMA = pa.schema([("k", pa.int64()), ("v", pa.int64()), ("at", pa.int64())])
TICKS = [
    pa.table({"k": [1, 2, 1], "v": [5, 6, 7], "at": [1, 2, 4]}, schema=SCHEMA),
    pa.table({"k": [2, 1, 1], "v": [8, 9, 1], "at": [6, 3, 7]}, schema=SCHEMA),
    pa.table({"k": [1, 3, 2], "v": [2, 3, 4], "at": [5, 9, 12]}, schema=SCHEMA),
]
GROUPED = "SELECT k, COUNT(*) AS n, SUM(v) AS total FROM s WINDOW(RANGE 4) GROUP BY k"
ALONE = Ground()


def engine_of(fabric: Ground, ticks: Any = TICKS, partitions: int = 2, slack: int = 0) -> tm.Engine:
    engine = fabric.engine(partitions)
    engine.stream("s", ticks, time="at", slack=slack)
    return engine


def grouped(fabric: Ground, **options: Any) -> tm.Query:
    return query_of(engine_of(fabric, **options), GROUPED)


@pytest.fixture(scope="module")
def expected() -> Counter[str]:
    """What one partition in this process gives."""
    return multiset(grouped(ALONE, partitions=1).collect())


@everywhere
def test_a_callback_gets_every_tick(fabric: Ground, expected: Counter[str]) -> None:
    results = Results()
    running = grouped(fabric).start(results, available_now=True)
    assert running.await_termination()
    assert running.await_termination(timeout=1), "waiting again does no harm"
    assert results.rows == expected
    assert set(results.ticks) <= {0, 1, 2}, "the end comes with the last rows"
    assert max(results.ticks) == 2
    assert not running.is_active
    assert running.exception() is None


def test_the_end_comes_without_anyone_waiting(fabric: Ground, expected: Counter[str]) -> None:
    for options in ({"available_now": True}, {}):
        results = Results()
        running = grouped(fabric).start(results, **options)
        wait_for(lambda running=running: not running.is_active)
        assert results.rows == expected


def test_late_rows_and_progress(fabric: Ground) -> None:
    for slack, late in ((0, 2), (1, 1), (2, 0)):
        query, other = grouped(fabric, slack=slack), grouped(ALONE, slack=slack, partitions=1)
        assert net_changes(query.collect()) == net_changes(other.collect())
        source = query.progress.sources["s"]
        assert (source.rows, source.late_rows, source.watermark) == (9, late, None)
    progress = query.progress
    assert progress.rows_out == query.collect().num_rows
    aggregate = next(o for o in progress.operators if o.operator.startswith("AggregateExec"))
    assert aggregate.rows_out == progress.rows_out
    assert aggregate.state_rows == 0, "at the end nothing is remembered"
    assert {"plan", "run", "load", "step", "save"} <= set(progress.phases)


def growing(fabric: Ground, folder: Path, partitions: int = 2) -> tm.Engine:
    """An engine with a stream of files, of which more may come."""
    (folder / "s").mkdir(exist_ok=True)
    engine = fabric.engine(partitions)
    engine.sql(
        "CREATE STREAM s (k BIGINT, v BIGINT, at BIGINT)"
        f" SOURCE parquet(path => '{folder}/s', maxFilesPerTrigger => 1) ORDERED BY at"
    )
    return engine


def bring(folder: Path, *ticks: int) -> None:
    """Let files come, one of which ticks read at a time."""
    (folder / "s").mkdir(exist_ok=True)
    for tick in ticks:
        pq.write_table(TICKS[tick], folder / f"{tick}")
        (folder / f"{tick}").rename(folder / "s" / f"{tick}.parquet")


@everywhere
def test_it_goes_on_where_it_was_stopped(
    fabric: Ground, tmp_path: Path, expected: Counter[str]
) -> None:
    """Stopped between ticks, with another number of partitions afterwards, and more rows."""
    results, place = Results(), str(tmp_path / "checkpoint")
    first = query_of(growing(fabric, tmp_path, partitions=3), GROUPED)
    bring(tmp_path, 0, 1)
    running = first.start(results, checkpoint=place)
    running.process_all_available()
    assert running.is_active
    assert running.progress.rows_in == 6
    assert running.progress.sources["s"].watermark == 7
    state = {o.operator.split()[0]: o.state_rows for o in running.progress.operators}
    assert state["AggregateExec"]
    running.stop()
    assert not running.is_active
    assert running.exception() is None
    assert running.await_termination()
    bring(tmp_path, 2)
    second = query_of(growing(fabric, tmp_path, partitions=1), GROUPED)
    assert second.start(results, checkpoint=place, available_now=True).await_termination()
    assert results.rows == expected
    assert second.progress.sources["s"].rows == 9, "also those that were read before"
    assert open_manifest(Store(place), 3).partitions == 1, "as many as were asked for"


def test_it_goes_on_after_a_stop_in_the_middle_of_a_tick(
    fabric: Ground, tmp_path: Path, expected: Counter[str]
) -> None:
    results, place = Results(), str(tmp_path)
    entered, leave = threading.Event(), threading.Event()

    def hesitant(rows: pa.Table, tick: int) -> None:
        if tick == 1 and not entered.is_set():
            entered.set()
            leave.wait(30)
            raise RuntimeError("stopped")
        results(rows, tick)

    running = grouped(fabric).start(hesitant, checkpoint=place)
    assert entered.wait(60)
    threading.Timer(0.5, leave.set).start()
    running.stop()
    again = grouped(fabric).start(results, checkpoint=place, available_now=True)
    assert again.await_termination()
    assert results.rows == expected


@everywhere
def test_a_failed_query_says_why_and_lets_go(
    fabric: Ground, tmp_path: Path, expected: Counter[str]
) -> None:
    """Started again, it goes on with the tick that failed."""
    results, place = Results(), str(tmp_path)

    def failing(rows: pa.Table, tick: int) -> None:
        if tick == 1:
            raise RuntimeError("the disk is full")
        results(rows, tick)

    for options in ({"available_now": True}, {}):
        running = grouped(fabric).start(failing, checkpoint=place, **options)
        with pytest.raises(RuntimeError, match="the disk is full"):
            running.await_termination(timeout=60)
        assert not running.is_active
        assert running.state == "failed"
        assert "the disk is full" in str(running.exception())
    again = grouped(fabric).start(results, checkpoint=place, available_now=True)
    assert again.await_termination()
    assert results.rows == expected


def test_an_operator_that_failed_stays_where_it_was(fabric: Ground, tmp_path: Path) -> None:
    """What made it fail is not passed over when it is started again; others of it are given."""
    engine, results, place = engine_of(fabric), Results(), str(tmp_path)
    sql = "SELECT k, MAX(10 / (v - 8)) AS m FROM s WINDOW(RANGE 4) GROUP BY k"
    for _ in range(2):
        running = query_of(engine, sql).start(results, checkpoint=place)
        with pytest.raises(tm.ExecutionError, match=r"(?i)division by zero"):
            running.await_termination(timeout=60)
        assert running.state == "failed"
        assert running.progress.sources["s"].rows == 3, "the second tick has not counted"


def test_a_failure_at_the_end_of_the_input_is_told_too(fabric: Ground) -> None:
    def failing(rows: pa.Table, tick: int) -> None:
        if tick == len(TICKS) - 1:
            raise RuntimeError("too late")

    running = grouped(fabric, partitions=1).start(failing, available_now=True)
    with pytest.raises(RuntimeError, match="too late"):
        running.await_termination()
    assert running.exception() is not None


def test_a_checkpoint_has_one_user(fabric: Ground, tmp_path: Path) -> None:
    place = str(tmp_path / "checkpoint")
    running = query_of(growing(fabric, tmp_path), GROUPED).start(Results(), checkpoint=place)
    with pytest.raises(tm.ExecutionError, match="in use by another run"):
        query_of(growing(fabric, tmp_path), GROUPED).start(Results(), checkpoint=place)
    running.stop()
    other = query_of(engine_of(fabric), "SELECT k FROM s WINDOW(ROWS 2)")
    with pytest.raises(tm.TidemillError, match="another query under the name `q1`"):
        other.start(Results(), checkpoint=place)
    again = query_of(growing(fabric, tmp_path), GROUPED).start(Results(), checkpoint=place)
    assert again.is_active
    again.stop()


@everywhere
def test_a_query_that_has_ended(fabric: Ground, tmp_path: Path) -> None:
    """Once more it has nothing to do; new rows cannot follow what was said to be complete."""
    results, place = Results(), str(tmp_path)
    grouped(fabric).start(results, checkpoint=place, available_now=True).await_termination()
    ticks = dict(results.ticks)
    for options in ({"available_now": True}, {}):
        again = grouped(fabric).start(results, checkpoint=place, **options)
        assert again.await_termination(timeout=60)
        assert results.ticks == ticks
    more = [*TICKS, pa.table({"k": [1], "v": [1], "at": [30]}, schema=SCHEMA)]
    with pytest.raises(tm.ExecutionError, match="there are new rows of `s`, but it has ended"):
        grouped(fabric, ticks=more).start(results, checkpoint=place, available_now=True)
    other = [pa.table({"k": [9], "v": [1], "at": [3]}, schema=SCHEMA), *TICKS[1:]]
    with pytest.raises(tm.ExecutionError, match="table 1 of `s` is not the one"):
        grouped(fabric, ticks=other).start(results, checkpoint=place, available_now=True)


def test_sources_with_different_numbers_of_ticks(fabric: Ground) -> None:
    sql = (
        "SELECT s.k, r.name, COUNT(*) AS n FROM s WINDOW(RANGE 4), t WINDOW(RANGE 9), r "
        "WHERE s.k = t.k AND r.k = s.k GROUP BY s.k, r.name"
    )
    found = []
    for engine in (engine_of(fabric), engine_of(ALONE, partitions=1)):
        engine.stream("t", TICKS[:1], time="at")
        engine.relation("r", [{"k": 1, "name": "one"}, {"k": 2, "name": "two"}])
        query = query_of(engine, sql)
        found.append(net_changes(query.collect()))
        rows = {name: source.rows for name, source in query.progress.sources.items()}
        assert rows == {"s": 9, "t": 3}
        assert query.progress.late_rows == query.progress.sources["s"].late_rows == 2
    assert found[0] == found[1]
    assert found[0]


@pytest.mark.parametrize("available_now", [True, False])
def test_relations_alone(fabric: Ground, available_now: bool) -> None:
    engine = fabric.engine()
    engine.relation("r", [{"k": 1, "a": 0, "b": 5}, {"k": 1, "a": 3, "b": None}], ("a", "b"))
    results = Results()
    query = query_of(engine, "SELECT k, COUNT(*) AS n FROM r GROUP BY k")
    assert query.start(results, available_now=available_now).await_termination()
    assert results.rows == {"(1, 1, 0, 3)": 1, "(1, 2, 3, 5)": 1, "(1, 1, 5, None)": 1}


def test_closing_an_engine_stops_what_it_has_started(fabric: Ground, tmp_path: Path) -> None:
    engine = growing(fabric, tmp_path)
    running = query_of(engine, GROUPED).start(Results())
    assert running.is_active
    engine.close()
    assert not running.is_active
