"""Several queries in one run: one pass over the sources, a sink for each."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from tests.spark.driving import multiset, query_of

import tidemill as tm
from tests.spark.test_running import GROUPED, TICKS, Results, engine_of

SELECTED = "SELECT v FROM s WHERE v > 4"
JOINED = "SELECT a.v AS v, b.v AS w FROM s WINDOW(RANGE 3) a, s WINDOW(RANGE 3) b WHERE a.k = b.k"
TOTAL = "SELECT MAX(n) AS most FROM (SELECT k, COUNT(*) AS n FROM s WINDOW(RANGE 4) GROUP BY k) x"
QUERIES = [GROUPED, SELECTED, JOINED, TOTAL, GROUPED]


def test_each_query_has_its_own_results(session: SparkSession) -> None:
    engine = engine_of(session, partitions=2)
    sinks = [Results() for _ in QUERIES]
    queries = [query_of(engine, sql) for sql in QUERIES]
    pairs = zip(queries, sinks, strict=True)
    running = engine.start(*(q.into(sink) for q, sink in pairs), available_now=True)
    assert running.await_termination()
    alone = engine_of(None)
    for sql, sink, number in zip(QUERIES, sinks, range(len(QUERIES)), strict=True):
        expected = query_of(alone, sql)
        assert snapshots(sink) == snapshots(expected.collect()), sql
        rows = sum(table.num_rows for table in sink.ticks.values())
        assert running.progress_of(number).rows_out == rows
    assert running.progress.rows_in == 9, "a row counts once, however many queries read it"
    assert running.progress.late_rows == 2


def snapshots(found: Results | pa.Table) -> object:
    """Where results are cut depends on the other queries; what holds does not."""
    table = found if isinstance(found, pa.Table) else pa.concat_tables(found.ticks.values())
    at: dict[int, object] = {}
    for instant in range(20):
        rows = [row for row in table.to_pylist() if row["valid_from"] <= instant < row["valid_to"]]
        plain = [{k: v for k, v in row.items() if not k.startswith("valid_")} for row in rows]
        at[instant] = multiset(pa.Table.from_pylist(plain)) if plain else None
    return at


def test_each_source_is_read_once(session: SparkSession, tmp_path: Path) -> None:
    """A file that can be read only once: a socket would do, a counting function does too."""
    seen = session.sparkContext.accumulator(0)

    def count(batches):  # type: ignore[no-untyped-def]
        for batch in batches:
            seen.add(batch.num_rows)
            yield batch

    session.createDataFrame([(1, 5, 1), (2, 6, 2)], "k LONG, v LONG, at LONG").write.parquet(
        str(tmp_path / "s")
    )
    stream = session.readStream.schema("k LONG, v LONG, at LONG").parquet(str(tmp_path / "s"))
    engine = tm.Engine(spark=session, partitions=1)
    engine.stream("s", stream.mapInArrow(count, "k LONG, v LONG, at LONG"), time="at")
    sinks = [Results() for _ in QUERIES]
    pairs = zip(QUERIES, sinks, strict=True)
    queries = [query_of(engine, sql).into(sink) for sql, sink in pairs]
    engine.start(*queries, available_now=True).await_termination()
    assert seen.value == 2
    assert all(sink.rows for sink in sinks)


def test_insert_statements_run_together(session: SparkSession, tmp_path: Path) -> None:
    engine = engine_of(session, partitions=1)
    queries = [
        query_of(engine, f"INSERT INTO parquet(path => '{tmp_path}/{n}', form => '{form}') {sql}")
        for n, (sql, form) in enumerate([(GROUPED, "intervals"), (SELECTED, "changes")])
    ]
    engine.start(*queries, available_now=True).await_termination()
    assert session.read.parquet(f"{tmp_path}/0").drop("tick").toArrow().num_rows
    changes = session.read.parquet(f"{tmp_path}/1").drop("tick").toArrow()
    assert sorted(changes.column_names) == ["change", "changed_at", "v"]
    assert all(query.progress.rows_out for query in queries)


def test_queries_that_run_together_go_on_together(session: SparkSession, tmp_path: Path) -> None:
    engine = engine_of(session, partitions=1)
    queries = [query_of(engine, sql).into(Results()) for sql in (GROUPED, SELECTED)]
    checkpoint = str(tmp_path / "checkpoint")
    running = engine.start(*queries, checkpoint=checkpoint)
    running.process_all_available()
    running.stop()
    engine.start(*queries, checkpoint=checkpoint, available_now=True).await_termination()
    with pytest.raises(tm.ExecutionError, match="belongs to another query"):
        engine.start(queries[0], checkpoint=checkpoint)


def test_nothing_to_start(session: SparkSession) -> None:
    with pytest.raises(tm.TidemillError, match="no query to start"):
        engine_of(session).start()
    query = query_of(engine_of(None), GROUPED)
    with pytest.raises(tm.TidemillError, match="only queries on Spark can be started"):
        query.start()


def test_a_stream_that_was_made_anew(session: SparkSession) -> None:
    engine = engine_of(session)
    old = query_of(engine, SELECTED)
    engine.sql("DROP STREAM s")
    engine.stream("s", TICKS, time="at", slack=1)
    with pytest.raises(tm.TidemillError, match="not the same stream in all queries"):
        engine.start(old, query_of(engine, SELECTED))
