"""The ticks of the Spark runtime without Spark: the same tasks and state, rows moved by hand."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from tidemill.fragments import Edge, Mode, Stage, Staged
from tidemill.physical.operator import Exec, empty_batch
from tidemill.physical.source import SourceExec
from tidemill.reference import canonical_row
from tidemill.runtime.operators import Graph
from tidemill.runtime.inprocess.feeds import Feed, scanned
from tidemill.runtime.spark import worker
from tidemill.runtime.spark.layout import TAG, Layout
from tidemill.runtime.spark.news import gathered
from tidemill.runtime.spark.state import StateStore
from tidemill.runtime.spark.worker import Handover, StageTask
from tidemill.timeline import BEGIN, OPEN_END

Rows = dict[int, list[pl.DataFrame]]
"""Rows by the partition in which they are."""


@dataclass
class Task:
    """What a task asks Spark about itself."""

    partition: int

    def partitionId(self) -> int:  # noqa: N802
        return self.partition


@dataclass
class Ticks:
    """A staged plan over some input; `batches` are the rows of the native edges, tick by tick."""

    staged: Staged
    state: str
    partitions: int
    monkeypatch: pytest.MonkeyPatch
    marks: dict[int, dict[int, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # (Here, all rows bear all columns, so that they can be sorted out.)
        edges = self.staged.edges
        self.layout = replace(Layout.of(edges, placed=True), tagged=True)

    def tick(
        self,
        number: int,
        native: Mapping[int, pl.DataFrame],
        watermarks: Mapping[int, int],
        turn: bool = False,
    ) -> list[pl.DataFrame]:
        """The results of a tick; `turn` lets rows arrive in the opposite order."""
        found = self.results(number, native, watermarks, turn)
        return [rows for each in found.values() for rows in each]

    def results(
        self,
        number: int,
        native: Mapping[int, pl.DataFrame],
        watermarks: Mapping[int, int],
        turn: bool = False,
        handovers: Mapping[int, Handover] | None = None,
        reports: list[dict[str, Any]] | None = None,
    ) -> dict[int, list[pl.DataFrame]]:
        """The results of a tick, by tag; `reports` are those of the tick before."""
        told = self.reports(number - 1) if reports is None else reports
        moving: dict[int, list[pa.Table]] = {p: [] for p in range(self.partitions)}
        for tag, rows in native.items():
            self._send(self.staged.edge(tag), rows, 0, moving)
        known = {**self.marks.get(number - 1, {}), **watermarks}
        found: dict[int, list[pl.DataFrame]] = {tag: [] for tag in self.staged.results}
        if not self.staged.stages:
            self.marks[number] = {}
            return {tag: [native[tag]] for tag in found}
        for stage in self.staged.stages:
            marks = self._marks_of(stage, known)
            common = self.layout, self.layout
            news = gathered(told, stage.level)
            handover = (handovers or {}).get(stage.level)
            facts = number, marks, self.state, "run", news, handover
            task = StageTask(self.staged, stage, *common, *facts)
            arrived, moving = moving, {p: [] for p in range(self.partitions)}
            for partition, tables in arrived.items():
                for table in self._work(task, partition, tables[::-1] if turn else tables, turn):
                    self._sort_out(table, partition, stage.level, moving, found)
        self.marks[number] = self._reported(number)
        return found

    def _marks_of(self, stage: Stage, known: Mapping[int, int]) -> dict[int, int]:
        return {leaf.tag: known.get(leaf.tag, BEGIN) for leaf in stage.leaves}

    def _work(
        self, task: StageTask, partition: int, tables: list[pa.Table], turn: bool
    ) -> Iterator[pa.Table]:
        self.monkeypatch.setattr(worker.TaskContext, "get", lambda: Task(partition))
        if turn:
            tables = [t.take(list(range(t.num_rows))[::-1]) for t in tables]
        batches = [batch for table in tables for batch in table.to_batches()]
        for batch in task(iter(batches)):
            yield pa.Table.from_batches([batch])

    def _sort_out(
        self,
        table: pa.Table,
        partition: int,
        level: int,
        moving: dict[int, list[pa.Table]],
        found: dict[int, list[pl.DataFrame]],
    ) -> None:
        for tag in table.column(TAG).unique().to_pylist():
            rows = table.filter(pa.compute.equal(table.column(TAG), tag))
            if tag in self.staged.results:
                found[tag].append(self.layout.unpack(rows, self.staged.edge(tag).schema))
            elif self.staged.edge(tag).made_at == level:
                edge = self.staged.edge(tag)
                self._send(edge, self.layout.unpack(rows, edge.schema), partition, moving)
            else:
                moving[partition].append(rows)

    def _send(
        self, edge: Edge, rows: pl.DataFrame, here: int, moving: dict[int, list[pa.Table]]
    ) -> None:
        if not rows.height:
            return
        targets = self._targets(edge, rows, here)
        for partition in range(self.partitions):
            mine = rows.filter(pl.Series([partition in each for each in targets], dtype=pl.Boolean))
            if mine.height:
                packed = self.layout.pack(mine, edge.schema, edge.tag, partition)
                moving[partition].append(packed)

    def _targets(self, edge: Edge, rows: pl.DataFrame, here: int) -> list[list[int]]:
        if edge.mode is Mode.BROADCAST:
            return [list(range(self.partitions))] * rows.height
        if edge.mode is Mode.SINGLE:
            return [[0]] * rows.height
        if edge.mode is Mode.KEEP or (edge.mode is Mode.NOW and edge.made_at):
            return [[here]] * rows.height
        keys = rows.select(edge.keys) if edge.mode is Mode.HASH else rows
        texts = (repr(canonical_row(row)) for row in keys.iter_rows())
        return [[zlib.crc32(text.encode()) % self.partitions] for text in texts]

    def _reported(self, number: int) -> dict[int, int]:
        marks: dict[int, int] = {}
        for report in self.reports(number):
            for tag, mark in report["watermarks"].items():
                marks[int(tag)] = min(mark, marks.get(int(tag), OPEN_END))
        return marks

    def reports(self, number: int) -> list[dict[str, Any]]:
        """What the tasks of a tick have said; there was none before the first."""
        if number < 0:
            return []
        return [
            StateStore(self.state, stage.level, partition).read_report(number)
            for stage in self.staged.stages
            for partition in range(self.partitions)
        ]


Batch = tuple[dict[int, pl.DataFrame], dict[int, int]]


def native_batches(staged: Staged, feeds: Mapping[str, Feed]) -> list[Batch]:
    """What reaches the stages in each tick: rows and watermarks by edge, and the end."""
    edges = [edge for edge in staged.edges if edge.made_at == 0]
    graphs = {edge.tag: Graph(edge.producer) for edge in edges}
    batches = []
    while not batches or not all(feed.ended for feed in feeds.values()):
        read = {name: feed.tick() for name, feed in feeds.items()}
        rows, marks = {}, {}
        for tag, graph in graphs.items():
            arrivals = [_arrival(leaf, read, feeds) for leaf in graph.leaves]
            ((rows[tag], marks[tag]),) = graph.step(arrivals)
        batches.append((rows, marks))
    nothing = {edge.tag: empty_batch(edge.schema) for edge in edges}
    ended = {edge.tag: OPEN_END for edge in edges}
    return batches + [(nothing, ended)] * max(1, len(staged.stages))


def _arrival(
    leaf: Exec, read: Mapping[str, Any], feeds: Mapping[str, Feed]
) -> tuple[pl.DataFrame, int]:
    assert isinstance(leaf, SourceExec)
    source = leaf.scan.source
    rows = scanned(leaf.scan, *read[source], empty_batch(leaf.schema))
    return rows, feeds[source].progress.watermark
