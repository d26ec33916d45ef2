"""Relations that change while queries run on Spark: what their leaves see, tick by tick."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import tidemill as tm
from tests.spark.change_sources import SCHEMA, Script
from tests.spark.driving import wait_for
from tidemill.algebra import VERSION, Field, Scan, Schema, SourceKind
from tidemill.analyze import SourceInfo
from tidemill.changes import ChangeSource
from tidemill.physical.source import SourceExec
from tidemill.runtime.interface import Job, SinkRequest, StartRequest
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
        self.fails_at = -1

    def __call__(self, rows: pa.Table, tick: int) -> None:
        found = sorted((tuple(row.values()) for row in rows.to_pylist()), key=lambda row: row[2])
        assert self.ticks.setdefault(tick, found) == found, "a tick done again sees the same"
        if tick == self.fails_at:
            self.fails_at = -1
            raise RuntimeError("the sink is broken")

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        return [row for tick in sorted(self.ticks) for row in self.ticks[tick]]


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


def test_a_relation_without_a_stream(session: SparkSession) -> None:
    """Every tick that brings changes is an instant."""
    relation = relation_of()
    results = Results()
    running = start(session, results, relation.follow())
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


def test_what_is_there_now(session: SparkSession) -> None:
    """Asked for no more than that, a query ends."""
    results = Results()
    relation = relation_of((1, "a"))
    relation.delete(lambda rows: (rows["k"] == 1).to_numpy(), at=7)
    running = start(session, results, relation.follow(), available_now=True)
    assert running.await_termination()
    assert results.rows == [(1, "a", 0, 0, 7)]


def test_every_change_of_a_table_outside_is_seen_once(
    session: SparkSession, tmp_path: Path
) -> None:
    """Over stops: because the sink fails, or the table, or someone wants it."""
    random = Random(4)
    source, results = Script(random, rows=5, length=40), Results()
    for turn in range(6):
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
                running.await_termination(timeout=30)
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
