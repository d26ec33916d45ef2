"""How time passes: late rows, heartbeats, and sources that fall silent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tidemill as tm
from tests.fabrics.answers import Results, query_of, wait_for
from tests.fabrics.ground import Ground, everywhere, in_process
from tests.fabrics.test_started import GROUPED, engine_of
from tidemill.algebra import Schema
from tidemill.catalog import SourceInfo
from tidemill.connectors.feeds import TablesFeed
from tidemill.runtime.clock import SourceClock
from tidemill.runtime.sources import OpenStream, StreamSource, overdue
from tidemill.timeline import TimeDomain


class TestLateRows:
    """They are kept where the user wants them, with the watermark that they missed."""

    LATE = [
        {"k": 1, "v": 9, "at": 3, "watermark": 4},
        {"k": 1, "v": 2, "at": 5, "watermark": 7},
    ]

    def test_by_a_function(self, fabric: Ground) -> None:
        kept: list[tuple[str, int, list[dict[str, object]]]] = []

        def keep(source: str, rows: pa.Table, tick: int) -> None:
            if rows.num_rows:
                kept.append((source, tick, rows.to_pylist()))

        results = Results()
        query = query_of(engine_of(fabric), GROUPED)
        running = query.start(results, available_now=True, late=keep)
        running.await_termination()
        assert kept == [("s", 1, self.LATE[:1]), ("s", 2, self.LATE[1:])]
        assert running.progress.late_rows == 2
        assert running.progress.rows_out == sum(t.num_rows for t in results.ticks.values())

    @everywhere
    def test_in_files(self, fabric: Ground, tmp_path: Path) -> None:
        query = query_of(engine_of(fabric), "SELECT v FROM s WHERE v > 100")
        query.start(Results(), available_now=True, late=str(tmp_path)).await_termination()
        kept = pq.read_table(tmp_path / "s").drop_columns(["tick"]).sort_by("at")
        assert kept.to_pylist() == self.LATE, "whatever the query does with rows"

    def test_with_timestamps(self, fabric: Ground) -> None:
        engine = fabric.engine()
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

    def test_after_a_stop(self, fabric: Ground, tmp_path: Path) -> None:
        """A row is late by what the run knew before it was stopped."""
        growing = Growing(fabric, tmp_path)
        late: list[dict[str, object]] = []
        for rows in ([(1, 10, 30)], [(1, 11, 29), (1, 12, 31)]):
            growing.add("a", *rows)
            running = query_of(growing.engine, "SELECT v FROM a").start(
                Results(),
                checkpoint=str(tmp_path / "checkpoint"),
                late=lambda source, rows, tick: late.extend(rows.to_pylist()),
            )
            running.process_all_available()
            running.stop()
        assert late == [{"k": 1, "v": 11, "at": 29, "watermark": 30}]
        assert running.progress.late_rows == 1

    def test_nobody_asks_for_them_any_more(self, fabric: Ground, tmp_path: Path) -> None:
        growing = Growing(fabric, tmp_path)
        late: list[pa.Table] = []
        options: list[dict[str, Any]] = [{"late": lambda source, rows, tick: late.append(rows)}, {}]
        for rows, asked in zip(([(1, 10, 30)], [(1, 11, 29), (1, 12, 31)]), options, strict=True):
            growing.add("a", *rows)
            results = Results()
            running = query_of(growing.engine, "SELECT v FROM a").start(
                results, checkpoint=str(tmp_path / "checkpoint"), **asked
            )
            running.process_all_available()
            running.stop()
        assert [row["v"] for row in results.table.to_pylist()] == [12]
        assert not late


class Growing:
    """Streams of files to which rows can be added while a query runs."""

    def __init__(self, fabric: Ground, folder: Path, **idle: str | None) -> None:
        self.engine = fabric.engine()
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


@everywhere
def test_a_heartbeat_lets_time_pass(fabric: Ground, tmp_path: Path) -> None:
    growing = Growing(fabric, tmp_path)
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


@in_process
def test_a_silent_source_does_not_hold_back_for_ever(fabric: Ground, tmp_path: Path) -> None:
    growing = Growing(fabric, tmp_path, b="1 SECOND")
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


def asleep(idle: float | None, mark: int) -> OpenStream:
    """A stream that has brought its last row at 100 on the clock."""
    info = SourceInfo("s", Schema.of(), domain=TimeDomain.TICKS, idle=idle)
    stream = OpenStream(StreamSource(info, TablesFeed("s", [])), clock=SourceClock(mark=mark))
    stream.last_rows = 100.0
    return stream


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
    streams = {name: asleep(limit, marks.get(name, 0)) for name, limit in idle.items()}
    assert overdue(streams, now) == expected
