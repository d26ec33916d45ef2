"""Where results go: files of every form, the console, memory, and functions, on both fabrics."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pytest

import tidemill as tm
from tests.fabrics.answers import query_of
from tests.fabrics.ground import Ground, everywhere, in_process
from tests.fabrics.test_started import ALONE, TICKS, bring, engine_of, growing

SQL = "SELECT k, COUNT(*) AS n FROM s WINDOW(RANGE 9) GROUP BY k HAVING COUNT(*) > 2"
COUNTS = "SELECT k, COUNT(*) AS n FROM s WINDOW(RANGE 9) GROUP BY k"
NEWEST = 12  # the time of the last row

Row = tuple[Any, ...]


@pytest.fixture
def query(fabric: Ground) -> tm.Query:
    return query_of(engine_of(fabric), SQL)


@pytest.fixture
def counts(fabric: Ground) -> tm.Query:
    return query_of(engine_of(fabric), COUNTS)


def intervals() -> list[Row]:
    return in_order(query_of(engine_of(ALONE, partitions=1), SQL).collect())


def snapshot(at: int | None) -> list[Row]:
    """The snapshot of an instant."""
    query = query_of(engine_of(ALONE, partitions=1), COUNTS)
    return [(*row, at) for row in in_order(query.snapshot(-1 if at is None else at))]


def in_order(table: pa.Table) -> list[Row]:
    return sorted(tuple(row.values()) for row in table.to_pylist())


def read(path: Path, format: str) -> list[Row]:
    """All rows of the files below a folder, without the names of ticks."""
    files = sorted(path.rglob(f"*.{format}"))
    if format == "json":
        lines = (line for file in files for line in file.read_text("utf-8").splitlines())
        return sorted(tuple(json.loads(line).values()) for line in lines)
    return in_order(ds.dataset(list(map(str, files)), format=format).to_table())


FILES = pytest.mark.parametrize("format", ["parquet", "json", "arrow"])


@FILES
@everywhere
def test_files(query: tm.Query, tmp_path: Path, format: str) -> None:
    query.start(format, path=str(tmp_path), available_now=True).await_termination()
    assert read(tmp_path, format) == intervals()
    assert {path.name for path in tmp_path.glob("tick=*")} <= {f"tick={n:08d}" for n in range(3)}


@FILES
def test_changes(query: tm.Query, tmp_path: Path, format: str) -> None:
    started = query.start(format, form="changes", path=str(tmp_path), available_now=True)
    started.await_termination()
    events = [
        event
        for k, n, start, end in intervals()
        for event in ((k, n, start, "+"), (k, n, end, "-"))
        if event[2] is not None
    ]
    assert read(tmp_path, format) == sorted(events)


@FILES
def test_files_have_the_newest_snapshot_only(counts: tm.Query, tmp_path: Path, format: str) -> None:
    running = counts.start(format, form="snapshot", path=str(tmp_path), available_now=True)
    running.await_termination()
    assert [path.name for path in tmp_path.iterdir()] == ["snapshot=00000002"]
    assert (tmp_path / "snapshot=00000002/_SUCCESS").exists()
    assert read(tmp_path, format) == snapshot(NEWEST)


def test_options_reach_the_writer(query: tm.Query, tmp_path: Path) -> None:
    started = query.start("csv", path=str(tmp_path), available_now=True, header=True, sep=";")
    started.await_termination()
    lines = {line for path in tmp_path.rglob("*.csv") for line in path.read_text().splitlines()}
    rows = {";".join(map(str, row)) for row in intervals()}
    assert lines == {"k;n;valid_from;valid_to", *rows}


def test_insert_into(fabric: Ground, tmp_path: Path) -> None:
    query = query_of(engine_of(fabric), f"INSERT INTO parquet(path => '{tmp_path}') {SQL}")
    query.start(available_now=True).await_termination()
    assert read(tmp_path, "parquet") == intervals()


@in_process
def test_console(query: tm.Query, capsys: pytest.CaptureFixture[str]) -> None:
    query.start("console", available_now=True).await_termination()
    said = capsys.readouterr().out
    assert "tick " in said
    for k, n, start, end in intervals():
        assert f"  k={k}, n={n}, valid_from={start}, valid_to={end}" in said


@in_process
def test_the_console_shows_an_empty_snapshot_too(
    fabric: Ground, capsys: pytest.CaptureFixture[str]
) -> None:
    ticks = [TICKS[0].slice(0, 0), *TICKS]
    query = query_of(engine_of(fabric, ticks), COUNTS)
    query.start("console", form="snapshot", available_now=True).await_termination()
    said = capsys.readouterr().out
    assert "tick 0\ntick 1\n  k=" in said
    for k, n, at in snapshot(NEWEST):
        assert f"  k={k}, n={n}, snapshot_at={at}" in said


@everywhere
def test_a_callback_gets_the_snapshot_of_every_tick(counts: tm.Query) -> None:
    """Ticks bring rows up to 4, 7 and 12. More of the last instant may come, until the end."""
    ticks: dict[int, pa.Table] = {}
    running = counts.start(
        lambda rows, tick: ticks.__setitem__(tick, rows), form="snapshot", available_now=True
    )
    running.await_termination()
    assert {tick: in_order(table) for tick, table in ticks.items()} == {
        tick: snapshot(at) for tick, at in enumerate([3, 6, NEWEST])
    }


def test_memory(fabric: Ground) -> None:
    engine = engine_of(fabric)
    kept = query_of(engine, SQL).start("memory", available_now=True)
    assert kept.results().column_names == ["k", "n", "valid_from", "valid_to"]
    kept.await_termination()
    assert in_order(kept.results()) == intervals()
    newest = query_of(engine, f"INSERT INTO memory(form => 'snapshot', limit => 10) {COUNTS}")
    running = newest.start(available_now=True)
    running.await_termination()
    assert in_order(running.results()) == snapshot(NEWEST)
    changes = newest.start(form="changes", available_now=True)
    assert changes.results().column_names == ["k", "n", "changed_at", "change"]
    changes.stop()


@pytest.mark.parametrize("form", ["intervals", "changes", "live"])
def test_nowhere(query: tm.Query, form: str) -> None:
    query.start("noop", form=form, available_now=True).await_termination()
    assert query.progress.rows_out > 0


def test_memory_is_bounded(counts: tm.Query) -> None:
    running = counts.start("memory", available_now=True, limit=4)
    with pytest.raises(tm.ExecutionError, match=r"the sink memory is full: \d+ rows.* limit is 4"):
        running.await_termination()
    assert running.results().num_rows <= 4


def test_timestamps(fabric: Ground, tmp_path: Path) -> None:
    """Those of results have no zone, and are those of UTC."""
    engine, hour = fabric.engine(), 3_600_000_000
    at = pa.array([0, hour], pa.timestamp("us"))
    engine.stream("s", pa.table({"v": [1, 2], "at": at}), time="at")
    query = query_of(engine, "SELECT v FROM s WINDOW(RANGE 2 HOURS)")
    query.start("parquet", path=str(tmp_path), available_now=True).await_termination()
    found = ds.dataset(list(map(str, tmp_path.rglob("*.parquet")))).to_table()
    assert found.schema.field("valid_from").type == pa.timestamp("us")
    micros = [found[name].cast(pa.int64()).to_pylist() for name in ("v", "valid_from", "valid_to")]
    assert sorted(zip(*micros, strict=True)) == [(1, 0, 2 * hour), (2, hour, 3 * hour)]
    running = query.start("memory", form="snapshot", available_now=True)
    running.await_termination()
    held = running.results()
    assert held.schema.field("snapshot_at").type == pa.timestamp("us")
    assert held["snapshot_at"].cast(pa.int64()).to_pylist() == [hour] * 2


def test_without_streams_it_shows_what_holds_for_ever(fabric: Ground) -> None:
    engine = fabric.engine()
    engine.relation("r", [{"k": 1, "a": 0, "b": 5}, {"k": 2, "a": 3, "b": None}], ("a", "b"))
    running = query_of(engine, "SELECT k FROM r").start("memory", form="snapshot")
    running.await_termination()
    assert running.results().to_pylist() == [{"k": 2, "snapshot_at": None}]


def test_a_snapshot_goes_on_where_it_was_stopped(fabric: Ground, tmp_path: Path) -> None:
    for files in ((0, 1), (2,)):
        bring(tmp_path, *files)
        query = query_of(growing(fabric, tmp_path), COUNTS)
        running = query.start("memory", form="snapshot", checkpoint=f"{tmp_path}/checkpoint")
        running.process_all_available()
        running.stop()
    # More rows may still come that hold at the newest instant.
    assert in_order(running.results()) == snapshot(NEWEST - 1)


@in_process
@pytest.mark.parametrize(
    ("form", "name"),
    [("snapshot", "snapshot_at"), ("changes", "changed_at"), ("changes", "change")],
)
def test_columns_that_a_form_needs(fabric: Ground, form: str, name: str) -> None:
    query = query_of(engine_of(fabric), f"SELECT k AS {name} FROM s WINDOW(RANGE 2)")
    with pytest.raises(tm.ExecutionError, match=f"the result has a column `{name}`"):
        query.start("memory", form=form)


@in_process
def test_other_sinks_keep_nothing(query: tm.Query) -> None:
    running = query.start(lambda rows, tick: None, available_now=True)
    with pytest.raises(tm.ExecutionError, match="only the sink memory keeps results"):
        running.results()
    running.await_termination()


def test_a_checkpoint_has_one_form(counts: tm.Query, tmp_path: Path) -> None:
    place = str(tmp_path)
    counts.start("memory", checkpoint=place, available_now=True).await_termination()
    for form in ("snapshot", "changes", "live"):
        with pytest.raises(tm.TidemillError, match=f"has the form intervals, not {form}"):
            counts.start("memory", form=form, checkpoint=place)
    assert counts.start("memory", checkpoint=place).await_termination()


@in_process
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


def test_snapshots_are_in_the_order_of_the_query(fabric: Ground) -> None:
    ordered = query_of(engine_of(fabric), f"{COUNTS} ORDER BY n DESC, k DESC")
    running = ordered.start("memory", form="snapshot", available_now=True)
    running.await_termination()
    rows = [tuple(row.values())[:2] for row in running.results().to_pylist()]
    assert rows == sorted(rows, key=lambda row: (-row[1], -row[0]))
    assert sorted(rows) == [row[:2] for row in snapshot(NEWEST)]
