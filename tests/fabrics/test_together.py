"""Several queries in one run: one pass over the sources, a sink for each."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tidemill as tm
from tests.fabrics.answers import Results, multiset, query_of
from tests.fabrics.ground import Ground, everywhere, in_process
from tests.fabrics.test_started import ALONE, GROUPED, TICKS, bring, engine_of, growing

SELECTED = "SELECT v FROM s WHERE v > 4"
JOINED = "SELECT a.v AS v, b.v AS w FROM s WINDOW(RANGE 3) a, s WINDOW(RANGE 3) b WHERE a.k = b.k"
TOTAL = "SELECT MAX(n) AS most FROM (SELECT k, COUNT(*) AS n FROM s WINDOW(RANGE 4) GROUP BY k) x"
QUERIES = [GROUPED, SELECTED, JOINED, TOTAL, GROUPED]


@everywhere
def test_each_query_has_its_own_results(fabric: Ground) -> None:
    engine = engine_of(fabric)
    sinks = [Results() for _ in QUERIES]
    queries = [query_of(engine, sql) for sql in QUERIES]
    pairs = zip(queries, sinks, strict=True)
    running = engine.start(*(q.into(sink) for q, sink in pairs), available_now=True)
    assert running.await_termination()
    alone = engine_of(ALONE, partitions=1)
    for sql, sink, number in zip(QUERIES, sinks, range(len(QUERIES)), strict=True):
        expected = query_of(alone, sql)
        assert snapshots(sink) == snapshots(expected.collect()), sql
        rows = sum(table.num_rows for table in sink.ticks.values())
        assert running.progress_of(number).rows_out == rows
    assert running.progress.rows_in == 9, "a row counts once, however many queries read it"
    assert running.progress.late_rows == 2


def snapshots(found: Results | pa.Table) -> object:
    """Where results are cut depends on the other queries; what holds does not."""
    table = found if isinstance(found, pa.Table) else found.table
    at: dict[int, object] = {}
    for instant in range(20):
        rows = [row for row in table.to_pylist() if row["valid_from"] <= instant < row["valid_to"]]
        plain = [{k: v for k, v in row.items() if not k.startswith("valid_")} for row in rows]
        at[instant] = multiset(pa.Table.from_pylist(plain)) if plain else None
    return at


def test_insert_statements_run_together(fabric: Ground, tmp_path: Path) -> None:
    engine = engine_of(fabric, partitions=1)
    queries = [
        query_of(engine, f"INSERT INTO parquet(path => '{tmp_path}/{n}', form => '{form}') {sql}")
        for n, (sql, form) in enumerate([(GROUPED, "intervals"), (SELECTED, "changes")])
    ]
    engine.start(*queries, available_now=True).await_termination()
    assert pq.read_table(tmp_path / "0").num_rows
    changes = pq.read_table(tmp_path / "1").drop_columns(["tick"])
    assert sorted(changes.column_names) == ["change", "changed_at", "v"]
    assert all(query.progress.rows_out for query in queries)


def test_queries_that_run_together_go_on_together(fabric: Ground, tmp_path: Path) -> None:
    checkpoint = str(tmp_path / "checkpoint")
    sinks = [Results(), Results()]
    for files in ((0, 1), (2,)):
        bring(tmp_path, *files)
        engine = growing(fabric, tmp_path)
        pairs = zip((GROUPED, SELECTED), sinks, strict=True)
        queries = [query_of(engine, sql).into(sink) for sql, sink in pairs]
        running = engine.start(*queries, checkpoint=checkpoint)
        running.process_all_available()
        running.stop()
    with pytest.raises(tm.TidemillError, match="another query under the name `q1`"):
        engine.start(queries[1], checkpoint=checkpoint)
    third = query_of(engine, TOTAL).into(Results())
    with pytest.raises(tm.TidemillError, match="the checkpoint does not know the query `q3`"):
        engine.start(*queries, third, checkpoint=checkpoint)
    engine.start(*queries, checkpoint=checkpoint, available_now=True).await_termination()
    alone = engine_of(ALONE, partitions=1)
    for sql, sink in zip((GROUPED, SELECTED), sinks, strict=True):
        assert snapshots(sink) == snapshots(query_of(alone, sql).collect())


def test_one_that_fails_leaves_the_others_alone(fabric: Ground, tmp_path: Path) -> None:
    engine, results = engine_of(fabric), Results()
    broken = query_of(engine, "SELECT k, MAX(10 / (v - 8)) AS m FROM s WINDOW(RANGE 4) GROUP BY k")
    sinks = (broken.into(Results()), query_of(engine, GROUPED).into(results))
    running = engine.start(*sinks, checkpoint=str(tmp_path))
    with pytest.raises(tm.ExecutionError, match=r"(?i)division by zero"):
        running.await_termination(timeout=60)
    assert snapshots(results) == snapshots(
        query_of(engine_of(ALONE, partitions=1), GROUPED).collect()
    )
    with pytest.raises(tm.TidemillError, match="the checkpoint does not know the query `q1`"):
        engine.start(*sinks, checkpoint=str(tmp_path))


@in_process
def test_nothing_to_start(fabric: Ground) -> None:
    with pytest.raises(tm.TidemillError, match="no query to start"):
        engine_of(fabric).start()


@in_process
def test_a_stream_that_was_made_anew(fabric: Ground) -> None:
    engine = engine_of(fabric)
    old = query_of(engine, SELECTED)
    engine.sql("DROP STREAM s")
    engine.stream("s", TICKS, time="at", slack=1)
    with pytest.raises(tm.TidemillError, match="not the same stream in all queries"):
        engine.start(old, query_of(engine, SELECTED))
