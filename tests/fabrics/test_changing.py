"""Relations that change while queries run on Spark: what their leaves see, tick by tick."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from tests.spark.change_sources import SCHEMA, Script
from tests.spark.driving import net_changes, query_of, wait_for

import tidemill as tm
from tidemill.algebra import VERSION, Field, Scan, Schema, SourceKind
from tidemill.analyze import SourceInfo
from tidemill.changes import ChangeSource
from tidemill.physical.source import SourceExec
from tidemill.runtime.interface import Job, SinkRequest, StartRequest
from tidemill.runtime.progress import RelationProgress
from tidemill.runtime.relations import LocalRelation
from tidemill.runtime.spark.execution import RunningQuery, SparkExecution
from tidemill.runtime.spark.reading import Origin
from tidemill.timeline import TimeDomain

LEAF = Schema((*SCHEMA, Field(VERSION, pa.int64())))
RELATION = SourceExec(Scan("r", "r", LEAF, SourceKind.CHANGING))
STREAM = SourceExec(Scan("s", "s", Schema.of(v=pa.int64())))
STREAM_INFO = SourceInfo("s", STREAM.scan.columns, time_column="at", time_type=pa.int64())
RELATION_INFO = SourceInfo("r", SCHEMA, SourceKind.CHANGING, None)


class Results:
    """A sink that keeps what it is given, and fails once at a tick if it should."""

    def __init__(self) -> None:
        self.ticks: dict[int, list[tuple[Any, ...]]] = {}
        self.tables: dict[int, pa.Table] = {}
        self.fails_at = -1

    def __call__(self, rows: pa.Table, tick: int) -> None:
        found = sorted((tuple(row.values()) for row in rows.to_pylist()), key=repr)
        self.tables[tick] = rows
        assert self.ticks.setdefault(tick, found) == found, "a tick done again sees the same"
        if tick == self.fails_at:
            self.fails_at = -1
            raise RuntimeError("the sink is broken")

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        """By tick, and by the number of the version."""
        ticks = (self.ticks[tick] for tick in sorted(self.ticks))
        return [row for rows in ticks for row in sorted(rows, key=lambda row: int(row[2]))]


def start(
    session: SparkSession,
    results: Results,
    source: ChangeSource,
    place: Path | None = None,
    stream: list[pa.Table] | None = None,
    **options: Any,
) -> RunningQuery:
    origins = {"r": Origin(RELATION_INFO, changes=source)}
    jobs = [Job(RELATION, TimeDomain.TICKS, SinkRequest(results))]
    if stream is not None:
        origins["s"] = Origin(STREAM_INFO, tables=stream)
        jobs.append(Job(STREAM, TimeDomain.TICKS, SinkRequest("memory")))
    execution = SparkExecution(session, jobs, origins, 2)
    return execution.start(StartRequest(None if place is None else str(place), **options))


def relation_of(*rows: tuple[Any, Any]) -> LocalRelation:
    return LocalRelation(SCHEMA, lambda: table_of(*rows))


def table_of(*rows: tuple[Any, Any]) -> pa.Table:
    records = [dict(zip(SCHEMA.names, row, strict=True)) for row in rows]
    return pa.Table.from_pylist(records, schema=SCHEMA.to_arrow())


def stream_of(*instants: list[int]) -> list[pa.Table]:
    return [pa.table({"v": ticks, "at": ticks}) for ticks in instants]


def test_changes_while_a_query_runs(session: SparkSession, tmp_path: Path) -> None:
    relation = relation_of((1, "ä"), (1, "ä"), (None, None))
    relation.insert(table_of((2, "soon")), at=5)
    results, place = Results(), tmp_path / "checkpoint"
    running = start(session, results, relation.follow(), place, stream_of([1, 3], [12]))
    running.process_all_available()
    first = [(1, "ä", 0, 0, None), (1, "ä", 1, 0, None), (None, None, 2, 0, None)]
    assert results.rows == [*first, (2, "soon", 3, 5, None)]
    relation.delete(lambda rows: rows["k"].is_null().to_numpy())
    relation.insert(table_of((3, "水 🌊")), at=40)
    relation.insert(table_of((4, "")), at=2)
    running.process_all_available()
    assert results.rows[4:] == [
        (None, None, 2, 13, 13),
        (3, "水 🌊", 4, 40, None),
        (4, "", 5, 13, None),
    ]
    source = running.progress.sources["r"]
    assert isinstance(source, RelationProgress)
    assert (source.rows, source.held, source.changes, source.missing) == (7, 5, 3, 0)
    assert source.watermark == 13
    running.stop()
    # While nothing runs, a row goes and another comes; then the stream goes on.
    relation.delete(lambda rows: (rows["k"] == 4).to_numpy())
    relation.insert(table_of((1, "ä")))
    running = start(session, results, relation.follow(), place, stream_of([1, 3], [12], [20]))
    running.process_all_available()
    assert results.rows[7:] == [(4, "", 5, 13, 13), (1, "ä", 6, 13, None)]
    relation.insert(table_of((5, "x")))
    running.process_all_available()
    assert results.rows[9:] == [(5, "x", 7, 21, None)]
    running.stop()
    assert not relation._followers, "a query that has stopped follows no more"


def test_a_relation_without_a_stream(session: SparkSession, tmp_path: Path) -> None:
    """Every tick that brings changes is an instant."""
    relation = relation_of()
    results = Results()
    running = start(session, results, relation.follow(), tmp_path)
    wait_for(lambda: bool(results.ticks))
    for k in (1, 2):
        relation.insert(table_of((k, "a")))
        running.process_all_available()
    relation.delete(lambda rows: (rows["k"] == 1).to_numpy())
    relation.delete(lambda rows: (rows["k"] == 1).to_numpy())
    running.process_all_available()
    assert results.rows == [(1, "a", 0, 0, None), (2, "a", 1, 1, None), (1, "a", 0, 2, 2)]
    assert running.progress.sources["r"].watermark == 3
    assert running.is_active
    running.stop()
    relation.insert(table_of((3, "a")))
    assert start(
        session, results, relation.follow(), tmp_path, available_now=True
    ).await_termination()
    assert results.rows[3:] == [(3, "a", 2, 3, None)], "asked for no more, it ends"


def test_every_change_of_a_table_outside_is_seen_once(
    session: SparkSession, tmp_path: Path
) -> None:
    """Over stops: because the sink fails, or the table, or someone wants it."""
    random = Random(4)
    source, results = Script(random, rows=5, length=40), Results()
    for turn in range(5):
        running = start(session, results, source, tmp_path, stream_of([1]))
        running.process_all_available()
        source.happen(4)
        if turn % 3 == 0:
            results.fails_at = max(results.ticks) + 1
        elif turn % 3 == 1:
            source.is_down = True
        reason = {0: "the sink is broken", 1: "the table is out of reach"}.get(turn % 3)
        if reason is not None:
            with pytest.raises(tm.ExecutionError, match=reason):
                running.await_termination(timeout=60)
        source.is_down = False
        source.happen(3)
        running.stop()
    running = start(session, results, source, tmp_path, stream_of([1]))
    running.process_all_available()
    running.stop()
    ids = [row[2] for row in results.rows if row[3] != row[4]]
    assert len(set(ids)) == len(ids)
    ended = {row[2] for row in results.rows if row[3] == row[4]}
    held = Counter(row[:2] for row in results.rows if row[4] is None and row[2] not in ended)
    assert held == source.now


def test_what_spark_reads_can_change(session: SparkSession, tmp_path: Path) -> None:
    """A DataFrame and files are the rows at first; they are read when they are needed."""
    engine = tm.Engine(spark=session, partitions=1)
    engine.relation("r", session.createDataFrame([(1, "a")], "k LONG, note STRING"), changing=True)
    (tmp_path / "past.csv").write_text("k,since,until\n1,2,\n2,3,9\n")
    engine.sql(
        f"CREATE RELATION past (k BIGINT, since BIGINT, until BIGINT)"
        f" SOURCE csv(path => '{tmp_path}/past.csv') CHANGING FROM since TO until"
    )
    assert engine.insert("r", table_of((2, "b")), at=5) == 1
    assert engine.delete("past", "k = 1", at=8) == 1
    found = query_of(engine, "SELECT r.k, r.note FROM r, past WHERE r.k = past.k").collect()
    assert [tuple(row.values()) for row in found.to_pylist()] == [(1, "a", 2, 8), (2, "b", 5, 9)]


SPANS = [range(1, 4), range(4, 6), range(6, 9)]
QUERIES = [
    "SELECT s.v, r.note FROM s WINDOW(RANGE 3), r WHERE s.k = r.k",
    "SELECT s.v FROM s WINDOW(RANGE 3) WHERE NOT EXISTS (SELECT 1 FROM r WHERE r.k = s.k)",
    "SELECT note, COUNT(*) AS n FROM r GROUP BY note",
]


def test_queries_see_changes_as_if_they_had_known_them(
    session: SparkSession, tmp_path: Path
) -> None:
    """Rows of a stream and changes in turns: as in process with the instants of the changes."""
    (tmp_path / "s").mkdir()
    engines = [tm.Engine(spark=session, partitions=2), tm.Engine(runtime="inprocess")]
    for engine in engines:
        engine.relation("r", table_of((1, "a"), (2, "b"), (2, "b")), changing=True)
    ours, theirs = engines
    ours.sql(
        "CREATE STREAM s (k BIGINT, v BIGINT, at BIGINT)"
        f" SOURCE parquet(path => '{tmp_path}/s') ORDERED BY at"
    )
    rows = [[(k, 10 * at + k, at) for at in span for k in (1, 2, 3)] for span in SPANS]
    tables = [
        pa.table(dict(zip(("k", "v", "at"), zip(*r, strict=True), strict=True))) for r in rows
    ]
    theirs.stream("s", tables, time="at")
    kept = [Results() for _ in QUERIES]
    queries = [query_of(ours, sql).into(sink) for sql, sink in zip(QUERIES, kept, strict=True)]
    place = f"{tmp_path}/checkpoint"
    running = ours.start(*queries, checkpoint=place)
    for number, table in enumerate(tables):
        pq.write_table(table, tmp_path / "s" / f"{number}.parquet")
        running.process_all_available()
        for engine, at in ((ours, None), (theirs, SPANS[number][-1] + 1)):
            change(engine, number, at)
        running.process_all_available()
    running.stop()
    ours.start(
        *queries, checkpoint=f"{tmp_path}/checkpoint", available_now=True
    ).await_termination()
    for sql, sink in zip(QUERIES, kept, strict=True):
        expected = query_of(theirs, sql).collect()
        assert net_changes(pa.concat_tables(sink.tables.values())) == net_changes(expected), sql


def change(engine: tm.Engine, number: int, at: int | None) -> None:
    """What happens after so many spans of the stream."""
    if number == 0:
        engine.delete("r", "k = 2", at=at)
        engine.insert("r", table_of((3, "c"), (3, "水 🌊")), at=at)
    elif number == 1:
        engine.insert("r", table_of((2, "b"), (1, "a")), at=at)
        engine.delete("r", "note = 'c'", at=at)
    elif number == 2:
        engine.delete("r", at=at)
    else:
        engine.insert("r", table_of((1, "last")), at=at)
