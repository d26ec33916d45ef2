"""How time passes: late rows, heartbeats, and sources that fall silent."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from tests.spark.driving import query_of, wait_for

import tidemill as tm
from tests.spark.test_running import GROUPED, Results, engine_of
from tidemill.algebra import Schema
from tidemill.runtime.spark.idle import overdue
from tidemill.runtime.spark.inputs import SourceRows


class TestLateRows:
    """They are kept where the user wants them, with the watermark that they missed."""

    LATE = [
        {"k": 1, "v": 9, "at": 3, "watermark": 4},
        {"k": 1, "v": 2, "at": 5, "watermark": 7},
    ]

    def test_by_a_function(self, session: SparkSession) -> None:
        kept: list[tuple[str, int, list[dict[str, object]]]] = []

        def keep(source: str, rows: pa.Table, tick: int) -> None:
            if rows.num_rows:
                kept.append((source, tick, rows.to_pylist()))

        results = Results()
        query = query_of(engine_of(session, partitions=2), GROUPED)
        running = query.start(results, available_now=True, late=keep)
        running.await_termination()
        assert kept == [("s", 1, self.LATE[:1]), ("s", 2, self.LATE[1:])]
        assert running.progress.late_rows == 2
        assert running.progress.rows_out == sum(t.num_rows for t in results.ticks.values())

    def test_in_files(self, session: SparkSession, tmp_path: Path) -> None:
        query = query_of(engine_of(session, partitions=2), "SELECT v FROM s WHERE v > 100")
        query.start(Results(), available_now=True, late=str(tmp_path)).await_termination()
        kept = session.read.parquet(f"{tmp_path}/s").orderBy("at").drop("tick").toArrow()
        assert kept.to_pylist() == self.LATE, "whatever the query does with rows"

    def test_with_timestamps(self, session: SparkSession) -> None:
        engine = tm.Engine(spark=session, partitions=1)
        micros = [pa.table({"ts": pa.array([at], pa.timestamp("us"))}) for at in (70, 10)]
        engine.stream("s", [t.append_column("v", pa.array([1])) for t in micros], time="ts")
        kept: list[pa.Table] = []
        query = query_of(engine, "SELECT v FROM s")
        running = query.start(
            Results(), available_now=True, late=lambda source, rows, tick: kept.append(rows)
        )
        running.await_termination()
        (row,) = pa.concat_tables(kept).to_pylist()
        assert (row["ts"].microsecond, row["watermark"].microsecond) == (10, 70)


class Growing:
    """Streams of files to which rows can be added while a query runs."""

    def __init__(self, session: SparkSession, folder: Path, **idle: str | None) -> None:
        self.engine = tm.Engine(spark=session, partitions=1)
        self._folder = folder
        self._files = 0
        for name in ("a", "b"):
            (folder / name).mkdir()
            clause = f" IDLE {idle[name]}" if idle.get(name) else ""
            self.engine.sql(
                f"CREATE STREAM {name} (k BIGINT, v BIGINT, at BIGINT)"
                f" SOURCE parquet(path => '{folder}/{name}') ORDERED BY at{clause}"
            )

    def add(self, name: str, *rows: tuple[int, int, int]) -> None:
        self._files += 1
        columns = [dict(zip(("k", "v", "at"), row, strict=True)) for row in rows]
        hidden = self._folder / name / f".{self._files}"
        pq.write_table(pa.Table.from_pylist(columns), hidden)
        hidden.rename(self._folder / name / f"{self._files}.parquet")


def test_a_heartbeat_lets_time_pass(session: SparkSession, tmp_path: Path) -> None:
    growing = Growing(session, tmp_path)
    results = Results()
    query = query_of(growing.engine, "SELECT k, COUNT(*) AS n FROM a WINDOW(RANGE 5) GROUP BY k")
    running = query.start(results)
    growing.add("a", (1, 10, 3))
    wait_for(lambda: running.progress.rows_in == 1)
    assert not results.rows, "more rows may come that hold at 3"
    running.heartbeat("A", 20)
    wait_for(lambda: bool(results.rows))
    assert list(results.rows) == ["(1, 1, 3, 8)"]
    assert running.progress.sources["a"].watermark == 20
    assert running.progress.rows_in == 1, "heartbeats are not rows"
    growing.add("a", (1, 10, 19), (1, 10, 21))
    wait_for(lambda: running.progress.rows_in == 3)
    assert running.progress.late_rows == 1
    with pytest.raises(tm.ExecutionError, match="reads no stream `c`"):
        running.heartbeat("c", 1)
    running.stop()


def test_a_silent_source_does_not_hold_back_for_ever(session: SparkSession, tmp_path: Path) -> None:
    growing = Growing(session, tmp_path, b="2 SECONDS")
    results = Results()
    running = query_of(growing.engine, "SELECT v FROM a UNION ALL SELECT v FROM b").start(results)
    growing.add("b", (1, 7, 1))
    growing.add("a", (1, 10, 3))
    wait_for(lambda: running.progress.rows_in == 2)
    growing.add("a", (1, 11, 50))
    wait_for(lambda: running.progress.sources["b"].watermark == 50)
    assert running.progress.sources["b"].rows == 1
    growing.add("b", (1, 8, 30), (1, 9, 60))
    wait_for(lambda: running.progress.sources["b"].rows == 3)
    assert running.progress.sources["b"].late_rows == 1, "it was said that time had passed"
    running.stop()


class Asleep:
    """A run, as far as the watch needs one."""

    def __init__(self, idle: dict[str, float | None], marks: dict[str, int]) -> None:
        self.sources = [
            SourceRows(n, name, Schema(()), idle=limit)
            for n, (name, limit) in enumerate(idle.items())
        ]
        self.watermarks = marks
        self.last_rows = dict.fromkeys(idle, 100.0)

    def heartbeat(self, instants: object) -> None:
        raise AssertionError(instants)


@pytest.mark.parametrize(
    ("idle", "marks", "now", "expected"),
    [
        ({"a": 5, "b": None}, {"a": 1, "b": 9}, 104.9, {}),
        ({"a": 5, "b": None}, {"a": 1, "b": 9}, 105, {"a": 9}),
        ({"a": 5, "b": None}, {"a": 9, "b": 1}, 105, {}),
        ({"a": 5, "b": 5}, {"a": 1, "b": 9}, 105, {"a": 9}),
        ({"a": 5, "b": 5}, {"b": 9}, 105, {"a": 9}),
        ({"a": 5, "b": None, "c": None}, {"a": 1, "b": 9, "c": 4}, 200, {"a": 4}),
        ({"a": None}, {"a": 3}, 200, {}),
        ({"a": 5}, {}, 200, {}),
    ],
)
def test_who_is_moved_on(
    idle: dict[str, float | None], marks: dict[str, int], now: float, expected: dict[str, int]
) -> None:
    assert overdue(Asleep(idle, marks), now) == expected
