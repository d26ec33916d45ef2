"""Where results go: files of every form, the console, and any writer of Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from tests.spark.driving import query_of

import tidemill as tm
from tests.spark.test_running import TICKS

SQL = "SELECT k, COUNT(*) AS n FROM s WINDOW(RANGE 9) GROUP BY k HAVING COUNT(*) > 2"
INTERVALS = [(1, 3, 4, 6), (1, 3, 7, 10)]


@pytest.fixture
def query(session: SparkSession) -> tm.Query:
    engine = tm.Engine(spark=session, partitions=2)
    engine.stream("s", TICKS, time="at")
    return query_of(engine, SQL)


def in_process() -> list[tuple[Any, ...]]:
    engine = tm.Engine("inprocess")
    engine.stream("s", TICKS, time="at")
    return sorted(tuple(row.values()) for row in query_of(engine, SQL).collect().to_pylist())


@pytest.mark.parametrize("format", ["parquet", "json", "csv"])
def test_files(session: SparkSession, query: tm.Query, tmp_path: Path, format: str) -> None:
    query.start(format, path=str(tmp_path), available_now=True).await_termination()
    columns = "k LONG, n LONG, valid_from LONG, valid_to LONG"
    rows = session.read.format(format).schema(columns).load(str(tmp_path)).collect()
    assert sorted(tuple(row)[:4] for row in rows) == in_process()
    assert {path.name for path in tmp_path.glob("tick=*")} == {f"tick={n:08d}" for n in range(4)}


@pytest.mark.parametrize("format", ["parquet", "json"])
def test_changes(session: SparkSession, query: tm.Query, tmp_path: Path, format: str) -> None:
    started = query.start(format, form="changes", path=str(tmp_path), available_now=True)
    started.await_termination()
    columns = "k LONG, n LONG, changed_at LONG, change STRING"
    rows = session.read.format(format).schema(columns).load(str(tmp_path)).collect()
    found = sorted(tuple(row)[:4] for row in rows)
    events = [
        event
        for k, n, start, end in in_process()
        for event in ((k, n, start, "+"), (k, n, end, "-"))
        if event[2] is not None
    ]
    assert found == sorted(events)


def test_options_reach_the_writer(query: tm.Query, tmp_path: Path) -> None:
    started = query.start("csv", path=str(tmp_path), available_now=True, header=True, sep=";")
    started.await_termination()
    lines = {line for path in tmp_path.rglob("*.csv") for line in path.read_text().splitlines()}
    assert "k;n;valid_from;valid_to" in lines


def test_insert_into(session: SparkSession, tmp_path: Path) -> None:
    engine = tm.Engine(spark=session, partitions=1)
    engine.stream("s", TICKS, time="at")
    query = query_of(engine, f"INSERT INTO parquet(path => '{tmp_path}') {SQL}")
    query.start(available_now=True).await_termination()
    assert session.read.parquet(str(tmp_path)).count() == len(in_process())


def test_console(query: tm.Query, capsys: pytest.CaptureFixture[str]) -> None:
    query.start("console", available_now=True).await_termination()
    said = capsys.readouterr().out
    assert "tick " in said
    for k, n, start, end in in_process():
        assert f"  k={k}, n={n}, valid_from={start}, valid_to={end}" in said


def test_any_writer(session: SparkSession, query: tm.Query) -> None:
    """What has no place of its own for a tick gets the rows at least once."""
    query.start("noop", available_now=True).await_termination()
    assert query.progress.rows_out == len(in_process())


def test_timestamps(session: SparkSession, tmp_path: Path) -> None:
    engine = tm.Engine(spark=session, partitions=1)
    at = pa.array([0, 3_600_000_000], pa.timestamp("us"))
    engine.stream("s", pa.table({"v": [1, 2], "at": at}), time="at")
    query = query_of(engine, "SELECT v FROM s WINDOW(RANGE 1 HOUR)")
    query.start("parquet", path=str(tmp_path), available_now=True).await_termination()
    frame = session.read.parquet(str(tmp_path)).selectExpr(
        "v", "unix_micros(timestamp(valid_from))", "unix_micros(timestamp(valid_to))"
    )
    hour = 3_600_000_000
    assert sorted(map(tuple, frame.collect())) == [(1, 0, hour), (2, hour, 2 * hour)]


@pytest.mark.parametrize(
    ("sink", "options", "message"),
    [
        ("parquet", {}, "the sink parquet needs a path"),
        ("parquet", {"path": "x", "form": "sideways"}, "no form `sideways`"),
    ],
)
def test_refused(query: tm.Query, sink: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(tm.ExecutionError, match=message):
        query.start(sink, available_now=True, **options)
