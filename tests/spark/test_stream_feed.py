"""Streams that only Spark can read: every row once, whatever stops in between."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession

import tidemill as tm
from tests.fabrics.answers import Results, query_of, wait_for
from tidemill.algebra import Schema
from tidemill.connectors.feeds import read_slice
from tidemill.connectors.feeds.opening import folder_of
from tidemill.errors import ExecutionError
from tidemill.reference import in_time
from tidemill.runtime.spark import stream_feed
from tidemill.runtime.spark.stream_feed import StreamFeed
from tidemill.store import Store

NUMBERS = Schema.of(value=pa.int64())


def numbers(session: SparkSession, per_batch: int = 10, partitions: int = 2) -> DataFrame:
    """An endless stream of numbers, so many in every batch."""
    reader = session.readStream.format("rate-micro-batch")
    options = {"rowsPerBatch": per_batch, "numPartitions": partitions, "startTimestamp": 0}
    return reader.options(**options).load()


def frame_of(session: SparkSession, *values: int) -> DataFrame:
    return session.createDataFrame([(value,) for value in values], "value LONG").coalesce(1)


class TestFeed:
    """What it does with the batches of Spark, without a run."""

    @pytest.fixture
    def store(self, tmp_path: Path) -> Store:
        return Store(str(tmp_path))

    @pytest.fixture
    def feed(self, session: SparkSession, store: Store) -> Iterator[StreamFeed]:
        feed = StreamFeed("s", lambda: numbers(session).select("value"), store)
        yield feed
        feed.close()

    def values(self, feed: StreamFeed, start: int = 0, stop: int | None = None) -> list[int]:
        end = feed._first + len(feed._slices) if stop is None else stop
        tables = [read_slice(each, NUMBERS, ["value"], "s") for each in feed.slices(start, end)]
        return sorted(value for table in tables for value in table["value"].to_pylist())

    def test_a_batch_counts_once(
        self, session: SparkSession, store: Store, feed: StreamFeed
    ) -> None:
        """Also for whoever comes after a stop, and if it has other rows the second time."""
        feed._take(frame_of(session, 1, 2), 0)
        feed._take(frame_of(session, 1, 2), 0)
        feed._take(frame_of(session), 1)
        feed._take(frame_of(session, 3), 2)
        assert self.values(feed) == [1, 2, 3]
        again = StreamFeed("s", lambda: numbers(session), store)
        again._take(frame_of(session, 9), 2)
        again._take(frame_of(session, 4), 3)
        assert self.values(again) == [1, 2, 3, 4]
        assert again.slices(0, 2) == feed.slices(0, 2)

    def test_what_a_crash_left_of_a_batch_does_not_count(
        self, session: SparkSession, store: Store, feed: StreamFeed
    ) -> None:
        """Segments are written first; what is told of them makes them a batch."""
        put = store.put

        def full(name: str, *parts: Any, **how: Any) -> int:
            raise OSError("no space left")

        store.put = full  # type: ignore[method-assign]
        with pytest.raises(OSError, match="no space left"):
            feed._take(frame_of(session, 1, 2), 0)
        store.put = put  # type: ignore[method-assign]
        assert self.values(feed) == []
        feed._take(frame_of(session, 1, 2), 0)
        assert self.values(feed) == [1, 2]

    def test_what_is_not_needed_goes(
        self, session: SparkSession, store: Store, feed: StreamFeed
    ) -> None:
        for batch in range(4):
            feed._take(frame_of(session, batch), batch)
        feed.forget(3)
        folder = f"{folder_of('s')}/spark"
        assert len([n for n in store.names(folder) if n.endswith(".arrow")]) == 1
        left = ["000000000003.json", "000000000003.json.last"]
        assert store.names(f"{folder}/batches") == left
        again = StreamFeed("s", lambda: numbers(session), store)
        assert (again.first, self.values(again, 3)) == (3, [3])
        again.forget(4)
        assert store.names(f"{folder}/batches"), "the number of the last batch is still needed"
        again._take(frame_of(session, 9), 3)
        assert self.values(again, 3) == [3]

    def test_spark_waits_for_ticks(self, feed: StreamFeed, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(stream_feed, "_MOST_WAITING", 3)
        assert feed.poll() >= 0
        wait_for(lambda: feed._is_full)
        filled = feed.poll()
        assert 3 < filled <= 6, "a batch has two slices"
        assert not threading.Event().wait(1)
        assert feed.poll() == filled, "it waits"
        feed.taken(filled)
        wait_for(lambda: feed.poll() > filled)
        assert self.values(feed)[:20] == list(range(20)), "in the order of the batches"

    def test_closing_ends_the_waiting(
        self, feed: StreamFeed, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(stream_feed, "_MOST_WAITING", 0)
        feed.poll()
        wait_for(lambda: feed._is_full)
        query = feed._query
        feed.close()
        assert query is not None
        assert not query.isActive

    def test_a_tick_has_whole_batches(self, session: SparkSession, store: Store) -> None:
        bounded = StreamFeed("s", lambda: numbers(session), store, bounded=True)
        for batch in range(3):
            two_slices = session.range(2 * batch, 2 * batch + 2, 1, 2)
            bounded._take(two_slices.withColumnRenamed("id", "value"), batch)
        bounded.close()
        assert [bounded.stop_for(start) for start in (0, 2, 4)] == [2, 4, 6]


class Numbers:
    """A query over the endless stream, started again and again with the same checkpoint."""

    SQL = "SELECT value FROM numbers WHERE value >= 0"

    def __init__(self, session: SparkSession, place: Path) -> None:
        self._session = session
        self._place = str(place)
        self.results = Results()

    def run_until(self, rows: int) -> None:
        engine = tm.Engine(spark=self._session, partitions=2)
        engine.stream("numbers", numbers(self._session), time="timestamp")
        running = query_of(engine, self.SQL).start(self.results, checkpoint=self._place)
        wait_for(lambda: len(self.values) >= rows, seconds=120)
        running.stop()
        assert running.exception() is None

    @property
    def values(self) -> list[int]:
        tables = list(self.results.ticks.values())
        return sorted(value for table in tables for value in table["value"].to_pylist())


def test_every_row_once_over_stops(session: SparkSession, tmp_path: Path) -> None:
    watched = Numbers(session, tmp_path)
    for rows in (30, 60, 90):
        watched.run_until(rows)
    assert watched.values == list(range(len(watched.values)))
    watched.results.ticks.clear()
    watched.run_until(10)
    assert watched.values[0] > 80, "nothing is read anew"


def test_files_that_only_spark_understands(session: SparkSession, tmp_path: Path) -> None:
    """An option that is not known here: Spark reads the files, and ends with them."""
    (tmp_path / "in").mkdir()
    for number in range(3):
        text = f"at,item\n0{number + 1}.03.2024,lamp {number}\n"
        (tmp_path / "in" / f"{number}.csv").write_text(text, "utf-8")
    engine = tm.Engine(spark=session, partitions=2)
    engine.sql(
        "CREATE STREAM s (at TIMESTAMP, item STRING) SOURCE csv("
        f"path => '{tmp_path}/in', timestampNTZFormat => 'dd.MM.yyyy', maxFilesPerTrigger => 1)"
        " ORDERED BY at SLACK 9 DAYS"
    )
    query = query_of(engine, "SELECT item FROM s")
    found = [tuple(row.values())[:2] for row in query.collect().to_pylist()]
    assert [(item, at.day) for item, at in found] == [(f"lamp {n}", n + 1) for n in range(3)]
    results, place = Results(), str(tmp_path / "checkpoint")
    running = query.start(results, checkpoint=place)
    running.process_all_available()
    running.stop()
    (tmp_path / "in" / "3.csv").write_text("at,item\n09.03.2024,lamp 3\n", "utf-8")
    running = query.start(results, checkpoint=place, available_now=True)
    assert running.await_termination(timeout=120)
    assert sorted(results.table["item"].to_pylist()) == [f"lamp {n}" for n in range(4)]


@pytest.mark.slow
def test_frames_and_what_is_done_with_them(session: SparkSession, tmp_path: Path) -> None:
    """A transformation of Spark's, and a DataFrame as a relation; every row is read once."""
    seen = session.sparkContext.accumulator(0)

    def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            seen.add(batch.num_rows)
            yield batch

    for number in range(2):
        rows = {"k": [1, 2, 3], "at": [10 * number + n for n in range(3)]}
        pq.write_table(pa.table(rows), tmp_path / f"{number}.parquet")
    frame = session.readStream.schema("k LONG, at LONG").parquet(str(tmp_path))
    doubled = (
        frame.where("k < 3").selectExpr("k * 2 AS k", "at").mapInArrow(count, "k LONG, at LONG")
    )
    engine = tm.Engine(spark=session, partitions=2)
    engine.stream("s", doubled, time="at", slack=100)
    engine.relation("r", session.createDataFrame([(2, "a"), (4, "b")], "k LONG, name STRING"))
    sql = "SELECT name, COUNT(*) AS n FROM s WINDOW(RANGE 4), r WHERE s.k = r.k GROUP BY name"
    sinks = [Results(), Results()]
    queries = [
        query_of(engine, text).into(sink)
        for text, sink in zip((sql, "SELECT k FROM s"), sinks, strict=True)
    ]
    engine.start(*queries, available_now=True).await_termination()
    assert seen.value == 4
    assert sorted(sinks[1].table["k"].to_pylist()) == [2, 2, 4, 4]
    assert sorted(sinks[0].rows) == [
        "('a', 1, 0, 4)", "('a', 1, 10, 14)", "('b', 1, 1, 5)", "('b', 1, 11, 15)",
    ]  # fmt: skip


def test_rows_that_are_too_far_ahead(session: SparkSession, tmp_path: Path) -> None:
    """By the watermark where time is counted, by the clock where it is told."""
    batches = [[5, 4], [500, 9], [3, 12, 14], [30], [16, 25, 26]]
    good = [at for at, fits in _flat(batches, in_time(batches, slack=3, ahead=10)) if fits]
    now = time.time_ns() // 1000
    engine = tm.Engine(spark=session, partitions=2)
    frame = session.readStream.schema("at LONG, ts TIMESTAMP_NTZ").parquet(str(tmp_path))
    engine.stream("counted", frame.select("at"), time="at", slack=3, ahead=10)
    engine.stream("told", frame.select("at", "ts"), time="ts", slack="1 day", ahead="1 hour")
    graph = engine.run(every=None)
    counted = engine.sql("SELECT at FROM counted").start("memory", name="counted")
    told = engine.sql("SELECT at FROM told").start("memory", name="told")
    for number, batch in enumerate(batches):
        # The first row of each is two hours ahead of now, whatever its number is.
        ahead = [now + (7_200_000_000 if row == 0 else 0) for row in range(len(batch))]
        rows = {"at": pa.array(batch, pa.int64()), "ts": pa.array(ahead, pa.timestamp("us"))}
        pq.write_table(pa.table(rows), tmp_path / f"{number}.parquet")
        graph.process_all_available()
    graph.heartbeat("counted", 1000)
    graph.heartbeat("told", now + 10**12)
    graph.tick()
    rest = [at for batch in batches for at in batch[1:]]
    assert sorted(counted.results()["at"].to_pylist()) == sorted(good)
    assert sorted(told.results()["at"].to_pylist()) == sorted(rest)
    assert counted.progress.sources["counted"].late_rows == 11 - len(good)
    assert told.progress.sources["told"].late_rows == len(batches)
    engine.close()


def _flat(batches: list[list[int]], fits: list[list[bool]]) -> Iterator[tuple[int, bool]]:
    for batch, each in zip(batches, fits, strict=True):
        yield from zip(batch, each, strict=True)


def test_a_stream_that_breaks_fails_only_those_who_read_it(
    session: SparkSession, tmp_path: Path
) -> None:
    (tmp_path / "in").mkdir()
    pq.write_table(pa.table({"k": [1], "at": [1]}), tmp_path / "in" / "0.parquet")
    frame = session.readStream.schema("k LONG, at LONG").parquet(str(tmp_path / "in"))
    broken = frame.selectExpr("IF(k > 1, raise_error('too large'), k) AS k", "at")
    engine = tm.Engine(spark=session, partitions=2)
    engine.stream("broken", broken, time="at")
    engine.stream("whole", pa.schema([("k", pa.int64()), ("at", pa.int64())]), time="at")
    graph = engine.run(every=None)
    bad, good = Results(), Results()
    failing = query_of(engine, "SELECT k FROM broken").start(bad, name="bad")
    fine = query_of(engine, "SELECT k FROM whole").start(good, name="good")
    engine.push("whole", [{"k": 5, "at": 5}])
    graph.process_all_available()
    assert list(bad.rows) == ["(1, 1, 2)"]
    pq.write_table(pa.table({"k": [2], "at": [2]}), tmp_path / "in" / "1.parquet")
    wait_for(lambda: _failed(graph, failing))
    engine.push("whole", [{"k": 6, "at": 6}])
    graph.process_all_available()
    assert (failing.state, fine.state) == ("failed", "running")
    assert "too large" in str(failing.exception())
    assert sorted(good.rows) == ["(5, 5, 6)", "(6, 6, 7)"]
    with pytest.raises(ExecutionError, match="too large"):
        query_of(engine, "SELECT k FROM broken").collect()
    engine.close()


def _failed(graph: Any, query: Any) -> bool:
    graph.tick()
    return bool(query.exception())


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
