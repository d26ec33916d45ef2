"""Started queries: how they run, stop, fail, go on, and what they say about themselves."""

from __future__ import annotations

import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from tests.spark.driving import multiset, query_of, wait_for

import tidemill as tm

SCHEMA = pa.schema([("k", pa.int64()), ("v", pa.int64()), ("at", pa.int64())])
TICKS = [
    pa.table({"k": [1, 2, 1], "v": [5, 6, 7], "at": [1, 2, 4]}, schema=SCHEMA),
    pa.table({"k": [2, 1, 1], "v": [8, 9, 1], "at": [6, 3, 7]}, schema=SCHEMA),
    pa.table({"k": [1, 3, 2], "v": [2, 3, 4], "at": [5, 9, 12]}, schema=SCHEMA),
]
GROUPED = "SELECT k, COUNT(*) AS n, SUM(v) AS total FROM s WINDOW(RANGE 4) GROUP BY k"


def engine_of(session: SparkSession | None, ticks: Any = TICKS, **options: Any) -> tm.Engine:
    slack = options.pop("slack", 0)
    engine = tm.Engine("inprocess") if session is None else tm.Engine(spark=session, **options)
    engine.stream("s", ticks, time="at", slack=slack)
    return engine


def grouped(session: SparkSession | None, **options: Any) -> tm.Query:
    return query_of(engine_of(session, **options), GROUPED)


class Results:
    """A sink that keeps what it is given; a tick that comes again takes the place of the first."""

    def __init__(self) -> None:
        self.ticks: dict[int, pa.Table] = {}

    def __call__(self, rows: pa.Table, tick: int) -> None:
        self.ticks[tick] = rows

    @property
    def rows(self) -> Counter[str]:
        return sum((multiset(table) for table in self.ticks.values()), Counter[str]())


@pytest.fixture(scope="module")
def expected() -> Counter[str]:
    return multiset(grouped(None).collect())


def test_a_callback_gets_every_tick(session: SparkSession, expected: Counter[str]) -> None:
    results = Results()
    running = grouped(session, partitions=2).start(results, available_now=True)
    assert running.await_termination()
    assert running.await_termination(timeout=1), "waiting again does no harm"
    assert results.rows == expected
    assert sorted(results.ticks) == [0, 1, 2, 3]
    assert not running.is_active
    assert running.exception() is None


def test_the_end_comes_without_anyone_waiting(
    session: SparkSession, expected: Counter[str]
) -> None:
    results = Results()
    running = grouped(session, partitions=2).start(results, available_now=True)
    deadline = time.monotonic() + 120
    while running.is_active and time.monotonic() < deadline:
        time.sleep(0.1)
    assert results.rows == expected


def test_late_rows_and_progress(session: SparkSession) -> None:
    for slack, late in ((0, 2), (1, 1), (2, 0)):
        spark, inprocess = (grouped(s, slack=slack) for s in (session, None))
        assert multiset(spark.collect()) == multiset(inprocess.collect())
        for query in (spark, inprocess):
            source = query.progress.sources["s"]
            assert (source.rows, source.late_rows, source.watermark) == (9, late, None)
    progress = spark.progress
    assert progress.rows_out == inprocess.progress.rows_out
    aggregate = next(o for o in progress.operators if o.operator.startswith("AggregateExec"))
    assert aggregate.rows_out == progress.rows_out
    assert aggregate.state_rows == 0, "at the end nothing is remembered"
    assert {"plan", "run", "load", "step", "save"} <= set(progress.phases)


def test_it_goes_on_where_it_was_stopped(
    session: SparkSession, tmp_path: Path, expected: Counter[str]
) -> None:
    """Stopped between ticks, with other settings afterwards, and with the rows that follow."""
    results, place = Results(), str(tmp_path / "checkpoint")
    first = query_of(engine_of(session, TICKS[:2], partitions=3), GROUPED)
    running = first.start(results, checkpoint=place)
    running.process_all_available()
    assert running.is_active
    assert running.progress.rows_in == 6
    assert running.progress.sources["s"].watermark == 7
    assert {o.operator.split()[0]: o.state_rows for o in running.progress.operators}[
        "AggregateExec"
    ]
    running.stop()
    assert not running.is_active
    assert running.exception() is None
    assert running.await_termination()
    before = session.conf.get("spark.sql.shuffle.partitions")
    session.conf.set("spark.sql.shuffle.partitions", "5")
    try:
        second = grouped(session, partitions=1)
        assert second.start(results, checkpoint=place, available_now=True).await_termination()
    finally:
        session.conf.set("spark.sql.shuffle.partitions", before)
    assert results.rows == expected
    assert second.progress.sources["s"].rows == 3, "the first six were read before"
    partitions = {path.name for path in tmp_path.glob("checkpoint/state/stage=1/*")}
    assert partitions == {"partition=0", "partition=1", "partition=2"}, "as at first"


def test_it_goes_on_after_a_stop_in_the_middle_of_a_tick(
    session: SparkSession, tmp_path: Path, expected: Counter[str]
) -> None:
    results, place = Results(), str(tmp_path)
    entered, leave = threading.Event(), threading.Event()

    def hesitant(rows: pa.Table, tick: int) -> None:
        if tick == 1 and not entered.is_set():
            entered.set()
            leave.wait(30)
            raise RuntimeError("stopped")
        results(rows, tick)

    running = grouped(session, partitions=2).start(hesitant, checkpoint=place)
    assert entered.wait(60)
    threading.Timer(0.5, leave.set).start()
    running.stop()
    again = grouped(session, partitions=2).start(results, checkpoint=place, available_now=True)
    assert again.await_termination()
    assert results.rows == expected


def test_a_failed_query_says_why_and_lets_go(
    session: SparkSession, tmp_path: Path, expected: Counter[str]
) -> None:
    results, place = Results(), str(tmp_path)

    def failing(rows: pa.Table, tick: int) -> None:
        if tick == 1:
            raise RuntimeError("the disk is full")
        results(rows, tick)

    for options in ({"available_now": True}, {}):
        running = grouped(session, partitions=2).start(failing, checkpoint=place, **options)
        with pytest.raises(tm.ExecutionError, match="the disk is full"):
            running.await_termination(timeout=60)
        assert not running.is_active
        assert "the disk is full" in str(running.exception())
    again = grouped(session, partitions=2).start(results, checkpoint=place, available_now=True)
    assert again.await_termination()
    assert results.rows == expected


def test_a_failure_after_the_end_of_the_input_is_told_too(session: SparkSession) -> None:
    def failing(rows: pa.Table, tick: int) -> None:
        if tick == len(TICKS):
            raise RuntimeError("too late")

    running = grouped(session, partitions=1).start(failing, available_now=True)
    with pytest.raises((tm.ExecutionError, RuntimeError), match="too late"):
        running.await_termination()
    assert running.exception() is not None


def test_a_checkpoint_has_one_user(session: SparkSession, tmp_path: Path) -> None:
    running = grouped(session, partitions=1).start(Results(), checkpoint=str(tmp_path))
    with pytest.raises(tm.ExecutionError, match="in use by another query"):
        grouped(session, partitions=1).start(Results(), checkpoint=str(tmp_path))
    running.stop()
    other = query_of(engine_of(session, partitions=1), "SELECT k FROM s WINDOW(ROWS 2)")
    with pytest.raises(tm.ExecutionError, match="belongs to another query"):
        other.start(Results(), checkpoint=str(tmp_path))


def test_a_query_that_has_ended(session: SparkSession, tmp_path: Path) -> None:
    """Once more it has nothing to do; new rows cannot follow what was said to be complete."""
    results, place = Results(), str(tmp_path)
    grouped(session, partitions=1).start(
        results, checkpoint=place, available_now=True
    ).await_termination()
    ticks = dict(results.ticks)
    again = grouped(session, partitions=1).start(results, checkpoint=place, available_now=True)
    assert again.await_termination()
    assert results.ticks == ticks
    more = [*TICKS, pa.table({"k": [1], "v": [1], "at": [30]}, schema=SCHEMA)]
    late = query_of(engine_of(session, more, partitions=1), GROUPED)
    with pytest.raises(tm.ExecutionError, match="this query has ended"):
        late.start(results, checkpoint=place, available_now=True).await_termination()
    other = [pa.table({"k": [9], "v": [1], "at": [3]}, schema=SCHEMA), *TICKS[1:]]
    changed = query_of(engine_of(session, other, partitions=1), GROUPED)
    with pytest.raises(tm.ExecutionError, match="table 1 of `s` is not the one"):
        changed.start(results, checkpoint=place, available_now=True)


def test_sources_with_different_numbers_of_ticks(session: SparkSession) -> None:
    sql = (
        "SELECT s.k, r.name, COUNT(*) AS n FROM s WINDOW(RANGE 4), t WINDOW(RANGE 9), r "
        "WHERE s.k = t.k AND r.k = s.k GROUP BY s.k, r.name"
    )
    found = []
    for engine in (engine_of(session, partitions=2), engine_of(None)):
        engine.stream("t", TICKS[:1], time="at")
        engine.relation("r", [{"k": 1, "name": "one"}, {"k": 2, "name": "two"}])
        query = query_of(engine, sql)
        found.append(multiset(query.collect()))
        rows = {name: source.rows for name, source in query.progress.sources.items()}
        assert rows == {"s": 9, "t": 3, "r": 2}
        assert query.progress.late_rows == query.progress.sources["s"].late_rows == 2
    assert found[0] == found[1]
    assert found[0]


@pytest.mark.parametrize("available_now", [True, False])
def test_relations_alone(session: SparkSession, available_now: bool) -> None:
    engine = tm.Engine(spark=session, partitions=2)
    engine.relation("r", [{"k": 1, "a": 0, "b": 5}, {"k": 1, "a": 3, "b": None}], ("a", "b"))
    results = Results()
    query = query_of(engine, "SELECT k, COUNT(*) AS n FROM r GROUP BY k")
    assert query.start(results, available_now=available_now).await_termination()
    assert results.rows == {"(1, 1, 0, 3)": 1, "(1, 2, 3, 5)": 1, "(1, 1, 5, None)": 1}


def test_frames_of_spark_are_sources(session: SparkSession, tmp_path: Path) -> None:
    for number, table in enumerate(TICKS):
        session.createDataFrame(table).coalesce(1).write.parquet(str(tmp_path / str(number)))
    frame = session.readStream.schema("k LONG, v LONG, at LONG").parquet(f"{tmp_path}/*")
    engine = tm.Engine(spark=session, partitions=2)
    engine.stream("s", frame, time="at", slack=100)
    engine.relation(
        "names", session.createDataFrame([(1, "one"), (2, "two")], "k LONG, name STRING")
    )
    sql = (
        "SELECT name, COUNT(*) AS n FROM s WINDOW(RANGE 4), names WHERE s.k = names.k GROUP BY name"
    )
    other = engine_of(None, slack=100)
    other.relation("names", [{"k": 1, "name": "one"}, {"k": 2, "name": "two"}])
    assert multiset(query_of(engine, sql).collect()) == multiset(query_of(other, sql).collect())


def test_a_stream_that_never_ends(session: SparkSession) -> None:
    """Spark's own clock as a source; the watermark moves, and results come while it runs."""
    engine = tm.Engine(spark=session, partitions=2)
    frame = session.readStream.format("rate").option("rowsPerSecond", 50).load()
    frame = frame.withColumn("timestamp", frame.timestamp.cast("timestamp_ntz"))
    engine.stream("ticks", frame, time="timestamp")
    results = Results()
    query = query_of(engine, "SELECT COUNT(*) AS n FROM ticks WINDOW(RANGE 1 SECOND)")
    running = query.start(results, every="200 milliseconds")
    deadline = time.monotonic() + 60
    while not results.rows and time.monotonic() < deadline:
        time.sleep(0.2)
    assert running.await_termination(timeout=0.1) is False
    running.stop()
    assert results.rows
    assert running.progress.rows_in > 0
    assert running.progress.sources["ticks"].watermark


def test_frames_with_instants_are_sources(session: SparkSession) -> None:
    engine = tm.Engine(spark=session, partitions=2)
    rate = session.readStream.format("rate").option("rowsPerSecond", 20).load()
    engine.stream("ticks", rate, time="timestamp")
    results = Results()
    running = query_of(engine, "SELECT value FROM ticks WHERE value < 5").start(results)
    wait_for(lambda: sum(results.rows.values()) == 5)
    running.stop()
    table = pa.concat_tables(results.ticks.values())
    assert sorted(table.column("value").to_pylist()) == [0, 1, 2, 3, 4]
    assert table.schema.field("valid_from").type == pa.timestamp("us", "UTC")


@pytest.mark.parametrize(
    ("kind", "message"),
    [("stream", "is not a streaming one"), ("relation", "is a streaming one")],
)
def test_the_wrong_kind_of_frame(
    session: SparkSession, tmp_path: Path, kind: str, message: str
) -> None:
    engine = tm.Engine(spark=session, partitions=1)
    if kind == "stream":
        engine.stream("x", session.createDataFrame([(1, 2)], "k LONG, at LONG"), time="at")
    else:
        engine.relation("x", session.readStream.schema("k LONG").parquet(str(tmp_path)))
    with pytest.raises(tm.ExecutionError, match=message):
        query_of(engine, "SELECT k FROM x").collect()


def test_a_session_of_the_user_is_left_alone(session: SparkSession) -> None:
    with engine_of(session, partitions=1) as engine:
        running = query_of(engine, GROUPED).start(Results())
        assert running.is_active
    assert not running.is_active, "what was started is stopped"
    assert session.range(3).count() == 3
    with tm.Engine() as other:
        assert other.spark.sparkContext is session.sparkContext
    found = []
    thread = threading.Thread(target=lambda: found.append(_use_and_close()))
    thread.start()
    thread.join()
    assert session.range(3).count() == 3, "also when another thread closes its engine"


def _use_and_close() -> None:
    with tm.Engine() as engine:
        engine.spark.range(1).count()
