"""Sinks that hold the newest snapshot, and results in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from tests.spark.driving import query_of

import tidemill as tm
from tests.spark.test_running import TICKS
from tests.spark.test_sinks import SQL, in_process
from tidemill.runtime.spark.snapshot_files import SnapshotFolder

NEWEST = 12  # the time of the last row


@pytest.fixture
def engine(session: SparkSession) -> tm.Engine:
    engine = tm.Engine(spark=session, partitions=2)
    engine.stream("s", TICKS, time="at")
    return engine


@pytest.fixture
def query(engine: tm.Engine) -> tm.Query:
    return query_of(engine, GROUPED)


GROUPED = "SELECT k, COUNT(*) AS n FROM s WINDOW(RANGE 9) GROUP BY k"


def expected(at: int | None) -> list[tuple[Any, ...]]:
    """The snapshot of an instant, as the other runtime gives it."""
    engine = tm.Engine("inprocess")
    engine.stream("s", TICKS, time="at")
    rows = query_of(engine, GROUPED).snapshot(-1 if at is None else at).to_pylist()
    return sorted((*row.values(), at) for row in rows)


def in_order(table: pa.Table) -> list[tuple[Any, ...]]:
    return sorted(tuple(row.values()) for row in table.to_pylist())


def test_a_callback_gets_the_snapshot_of_every_tick(query: tm.Query) -> None:
    ticks: dict[int, pa.Table] = {}
    running = query.start(
        lambda rows, tick: ticks.__setitem__(tick, rows), form="snapshot", available_now=True
    )
    running.await_termination()
    assert sorted(ticks) == [0, 1, 2, 3, 4]
    instants = []
    for table in ticks.values():
        found = in_order(table)
        at = found[0][2] if found else None
        instants.append(at)
        assert found == expected(at)
    # Ticks bring rows up to 4, 7 and 12; what is known of a time passes a stage with every tick.
    assert instants == [None, None, 3, 6, NEWEST]


@pytest.mark.parametrize("format", ["parquet", "json"])
def test_files_have_the_newest_snapshot_only(
    session: SparkSession, query: tm.Query, tmp_path: Path, format: str
) -> None:
    running = query.start(format, form="snapshot", path=str(tmp_path), available_now=True)
    running.await_termination()
    assert [path.name for path in tmp_path.iterdir()] == ["snapshot=00000004"]
    assert (tmp_path / "snapshot=00000004/_SUCCESS").exists()
    reader = session.read.schema("k LONG, n LONG, snapshot_at LONG")
    rows = reader.format(format).load(str(tmp_path)).collect()
    assert sorted(tuple(row)[:3] for row in rows) == expected(NEWEST)


class TestFolder:
    def write(self, session: SparkSession, path: Path, tick: int, *values: int) -> set[str]:
        rows = session.createDataFrame([(value,) for value in values], "v INT").coalesce(1)
        SnapshotFolder(session, str(path)).replace(rows, tick, "parquet", {})
        found = session.read.parquet(str(path)).select("v", "snapshot").collect()
        assert sorted(map(tuple, found)) == [(value, tick) for value in values]
        return {each.name for each in path.iterdir() if each.name != "_other"}

    def test_a_tick_done_again_leaves_the_same(self, session: SparkSession, tmp_path: Path) -> None:
        """What is whole stays until the next is whole; then it goes."""
        (tmp_path / "_other").write_text("stays")
        names = [self.write(session, tmp_path, 7, 1, 2) for _ in range(3)]
        assert names == [{"snapshot=00000007"}, {"snapshot=000000007"}, {"snapshot=00000007"}]
        assert self.write(session, tmp_path, 8, 3) == {"snapshot=00000008"}
        assert (tmp_path / "_other").read_text() == "stays"

    def test_leavings_of_a_crash_go(self, session: SparkSession, tmp_path: Path) -> None:
        self.write(session, tmp_path, 7, 1)
        torn = tmp_path / "snapshot=00000008"
        torn.mkdir()
        (torn / "part-0.parquet").write_bytes(b"half of it")
        assert self.write(session, tmp_path, 8, 2) == {"snapshot=00000008"}

    def test_a_query_that_starts_anew(self, session: SparkSession, tmp_path: Path) -> None:
        self.write(session, tmp_path, 0, 1)
        assert self.write(session, tmp_path, 0, 5) == {"snapshot=000000000"}

    def test_a_write_that_fails_leaves_the_one_before(
        self, session: SparkSession, tmp_path: Path
    ) -> None:
        for tick in (7, 8):
            self.write(session, tmp_path, 7, 1)
            broken = session.sql("SELECT raise_error('no') AS v")
            with pytest.raises(Exception, match="no"):
                SnapshotFolder(session, str(tmp_path)).replace(broken, tick, "parquet", {})
            (whole,) = {path.parent for path in tmp_path.glob("*/_SUCCESS")}
            assert session.read.parquet(str(whole)).collect() == [(1,)]


def test_the_console_shows_an_empty_snapshot_too(
    query: tm.Query, capsys: pytest.CaptureFixture[str]
) -> None:
    query.start("console", form="snapshot", available_now=True).await_termination()
    said = capsys.readouterr().out
    assert "tick 0\ntick 1\ntick 2\n  k=" in said
    for k, n, at in expected(NEWEST):
        assert f"  k={k}, n={n}, snapshot_at={at}" in said


def test_memory(query: tm.Query) -> None:
    running = query.start("memory", form="snapshot", available_now=True)
    running.await_termination()
    assert in_order(running.results()) == expected(NEWEST)


def test_memory_of_all_results(engine: tm.Engine) -> None:
    running = query_of(engine, SQL).start("memory", available_now=True)
    assert running.results().column_names == ["k", "n", "valid_from", "valid_to"]
    running.await_termination()
    assert in_order(running.results()) == in_process()


def test_memory_is_bounded(engine: tm.Engine) -> None:
    running = query_of(engine, GROUPED).start("memory", available_now=True, limit=4)
    with pytest.raises(tm.ExecutionError, match=r"the sink memory is full: \d+ rows.* limit is 4"):
        running.await_termination()
    assert running.results().num_rows <= 4


def test_insert_into(engine: tm.Engine) -> None:
    query = query_of(engine, f"INSERT INTO memory(form => 'snapshot', limit => 10) {GROUPED}")
    running = query.start(available_now=True)
    running.await_termination()
    assert in_order(running.results()) == expected(NEWEST)
    changes = query.start(form="changes", available_now=True)
    assert changes.results().column_names == ["k", "n", "changed_at", "change"]
    changes.stop()


def test_timestamps(session: SparkSession) -> None:
    engine = tm.Engine(spark=session, partitions=1)
    at = pa.array([0, 3_600_000_000], pa.timestamp("us"))
    engine.stream("s", pa.table({"v": [1, 2], "at": at}), time="at")
    running = query_of(engine, "SELECT v FROM s WINDOW(RANGE 2 HOURS)").start(
        "memory", form="snapshot", available_now=True
    )
    running.await_termination()
    found = running.results()
    assert found["snapshot_at"].cast(pa.int64()).to_pylist() == [3_600_000_000] * 2
    assert sorted(found["v"].to_pylist()) == [1, 2]


def test_without_streams_it_shows_what_holds_for_ever(session: SparkSession) -> None:
    engine = tm.Engine(spark=session, partitions=2)
    engine.relation("r", [{"k": 1, "a": 0, "b": 5}, {"k": 2, "a": 3, "b": None}], ("a", "b"))
    running = query_of(engine, "SELECT k FROM r").start("memory", form="snapshot")
    running.await_termination()
    assert running.results().to_pylist() == [{"k": 2, "snapshot_at": None}]


def test_it_goes_on_where_it_was_stopped(session: SparkSession, tmp_path: Path) -> None:
    place = str(tmp_path / "checkpoint")
    for ticks in (TICKS[:2], TICKS):
        engine = tm.Engine(spark=session, partitions=2)
        engine.stream("s", ticks, time="at")
        running = query_of(engine, GROUPED).start("memory", form="snapshot", checkpoint=place)
        running.process_all_available()
        running.stop()
    # More rows may still come that hold at the newest instant.
    assert in_order(running.results()) == expected(NEWEST - 1)


@pytest.mark.parametrize(
    ("form", "name"),
    [("snapshot", "snapshot_at"), ("changes", "changed_at"), ("changes", "change")],
)
def test_columns_that_a_form_needs(engine: tm.Engine, form: str, name: str) -> None:
    query = query_of(engine, f"SELECT k AS {name} FROM s WINDOW(RANGE 2)")
    with pytest.raises(tm.ExecutionError, match=f"the result has a column `{name}`"):
        query.start("memory", form=form)


def test_other_sinks_keep_nothing(query: tm.Query) -> None:
    running = query.start("noop", available_now=True)
    with pytest.raises(tm.ExecutionError, match="only the sink memory keeps results"):
        running.results()
    running.await_termination()


def test_a_checkpoint_has_one_form(query: tm.Query, tmp_path: Path) -> None:
    place = str(tmp_path)
    query.start("memory", checkpoint=place, available_now=True).await_termination()
    with pytest.raises(tm.ExecutionError, match="belongs to another query"):
        query.start("memory", form="snapshot", checkpoint=place)
