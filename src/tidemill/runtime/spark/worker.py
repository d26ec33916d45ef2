"""What runs in a Spark task: one stage in one partition, for one tick."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark import TaskContext

from tidemill.errors import TidemillError
from tidemill.fragments import Edge, Stage, Staged, traced
from tidemill.physical.operator import Exec, empty_batch
from tidemill.physical.row_number import RowNumberExec
from tidemill.runtime.graph import Arrival, Graph, nodes_of
from tidemill.runtime.spark.durations import Duration
from tidemill.runtime.spark.findings import found_in
from tidemill.runtime.spark.layout import TAG, Layout
from tidemill.runtime.spark.native import native_rows
from tidemill.runtime.spark.news import News, heard, news_of
from tidemill.runtime.spark.state import StateStore
from tidemill.timeline import BEGIN

_ROWS_PER_BATCH = 200_000


@dataclass(frozen=True)
class Former:
    """A stage that ran until the tick before; how rows came to it, and what it was to hear."""

    staged: Staged
    stage: Stage
    before: Layout
    news: News = field(default_factory=dict)


@dataclass(frozen=True)
class Handover:
    """The stages whose operators go on in a new one; `carried` names old parts by new ones."""

    formers: tuple[Former, ...]
    carried: Mapping[Exec, Exec] = field(default_factory=dict)


@dataclass(frozen=True)
class StageTask:
    """A stage of a plan at a tick. Calling it with the batches of a partition runs it.

    If it is `tolerant`, parts that fail are told of, and others go on.
    """

    staged: Staged
    stage: Stage
    before: Layout
    after: Layout
    tick: int
    watermarks: Mapping[int, int]
    state: str
    run: str = ""
    news: News = field(default_factory=dict)
    handover: Handover | None = None
    tolerant: bool = False

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        partition = 0 if context is None else context.partitionId()
        began = time.perf_counter()
        parts = list(batches)
        table = pa.Table.from_batches(parts) if parts else self.before.arrow.empty_table()
        mine = self._mine(table)
        store = StateStore(self.state, self.stage.level, partition, self.run)
        graph, replayed = self._graph(store, partition)
        loaded = time.perf_counter()
        arrivals = self._arrivals(mine, self.watermarks)
        results = self._step(graph, arrivals)
        stepped = time.perf_counter()
        findings = found_in(self.staged, self.stage, arrivals, partition)
        self._save(store, graph, self._traced(mine))
        times = {
            "load": loaded - began,
            "step": stepped - loaded,
            "save": time.perf_counter() - stepped,
            "replayed": replayed,
        }
        report = {**self._report(graph, results, times), "partition": partition}
        store.write_report(self.tick, {**report, "found": findings})
        yield from self._emit(table, results, partition)

    def _step(self, graph: Graph, arrivals: Sequence[Arrival]) -> list[Arrival]:
        if not self.tolerant:
            return graph.step(arrivals)
        roots = (root for _, root in self.stage.outputs)
        nothing = ((empty_batch(root.schema), BEGIN) for root in roots)
        return [done or none for done, none in zip(graph.try_step(arrivals), nothing, strict=True)]

    def _mine(self, table: pa.Table) -> pa.Table:
        """The rows for this stage; others only pass by."""
        if not self._passing:
            return table
        tags = table.column(TAG).to_numpy()
        return table.filter(pa.array(np.isin(tags, [leaf.tag for leaf in self.stage.leaves])))

    def _traced(self, table: pa.Table) -> pa.Table:
        """The rows that the operators remember something of."""
        tags = traced(self.stage, self.watermarks)
        if tags >= {leaf.tag for leaf in self.stage.leaves}:
            return table
        if not self.before.tagged:
            return table.slice(0, 0)
        kept = np.isin(table.column(TAG).to_numpy(), list(tags))
        return table.filter(pa.array(kept))

    @cached_property
    def _passing(self) -> list[Edge]:
        level = self.stage.level
        return [edge for edge in self.staged.edges if edge.made_at < level < edge.used_at]

    def _graph(self, store: StateStore, partition: int) -> tuple[Graph, int]:
        """The operators, ready for this tick, and how many ticks had to be done again for it."""
        if self.handover is None:
            graph, replayed = self._restored(store, partition)
            graph.hear(heard(self.news))
            return graph, replayed
        parts: dict[Exec, Any] = {}
        done_again = 0
        for former in self.handover.formers:
            known, replayed = self._former(former, store, partition)
            # What a worker has in memory came with another task: its functions are other objects.
            nodes = nodes_of(*(root for _, root in former.stage.outputs))
            parts |= dict(zip(nodes, known.state, strict=True))
            done_again += replayed
        roots = (root for former in self.handover.formers for _, root in former.stage.outputs)
        graph = Graph(*roots, partition=partition)
        graph.state = [parts[node] for node in graph.nodes]
        graph.revise([root for _, root in self.stage.outputs], self.handover.carried)
        return graph, done_again

    def _former(self, former: Former, store: StateStore, partition: int) -> tuple[Graph, int]:
        """The operators of a stage that ran until now."""
        old = replace(
            self,
            staged=former.staged,
            stage=former.stage,
            before=former.before,
            news=former.news,
            handover=None,
        )
        if former.stage.level != self.stage.level:
            # Another task may want what is in memory.
            store = StateStore(self.state, former.stage.level, partition, f"{self.run}/copy")
        return old._graph(store, partition)

    def _restored(self, store: StateStore, partition: int) -> tuple[Graph, int]:
        """The operators as the tick before left them, and how many ticks it took to get there."""
        before = self.tick - 1
        at, graph = store.cached(before)
        if graph is not None and at == before:
            return graph, 0
        base, rows = store.history(before, at)
        if graph is None or base is not None:
            graph = Graph(*(root for _, root in self.stage.outputs), partition=partition)
        if base is not None:
            graph.state = store.read_snapshot(base)
        for segment in rows:
            table, watermarks, news = store.read_rows(segment)
            graph.hear(heard(news))
            graph.step(self._arrivals(table, {int(tag): m for tag, m in watermarks.items()}))
        return graph, len(rows)

    def _arrivals(self, table: pa.Table, watermarks: Mapping[int, int]) -> list[Arrival]:
        arrivals = []
        for leaf in self.stage.leaves:
            rows = empty_batch(leaf.schema)
            own = self.before.rows_of(table, leaf.tag)
            if own.num_rows:
                rows = self.before.unpack(own, leaf.schema, self._duration(leaf.tag))
                if self._numbers_rows:
                    # Else a stage that Spark does again would give rows other numbers than those
                    # under which stages above know them already.
                    rows = rows[rows.hash_rows(0).arg_sort()]
            arrivals.append((rows, watermarks[leaf.tag]))
        return arrivals

    def _duration(self, tag: int) -> Duration | None:
        """How long rows hold that Spark has made of streams: their ends need not travel."""
        edge = self.staged.edge(tag)
        return None if edge.made_at else native_rows(edge.producer).duration

    @cached_property
    def _numbers_rows(self) -> bool:
        nodes = (node for _, root in self.stage.outputs for node in root.walk())
        return any(isinstance(node, RowNumberExec) for node in nodes)

    def _save(self, store: StateStore, graph: Graph, rows: pa.Table) -> None:
        if self.handover is not None or graph.failures:
            # What other operators were fed with cannot be read again, nor what made one fail.
            store.write_snapshot(self.tick, graph.state)
            store.remember(self.tick, graph)
            return
        snapshot, gathered = store.size_since(self.tick - 1)
        # Whoever gets this partition next needs the snapshot, and then the rows: it is worth as
        # much writing again to spare them the rows.
        if 2 * (gathered + rows.nbytes) >= snapshot:
            store.write_snapshot(self.tick, graph.state)
        else:
            marks = {str(leaf.tag): self.watermarks[leaf.tag] for leaf in self.stage.leaves}
            store.write_rows(self.tick, rows, marks, self.news)
        store.forget_before(self.tick - 1)
        store.remember(self.tick, graph)

    def _report(
        self, graph: Graph, results: Sequence[Arrival], times: Mapping[str, float]
    ) -> dict[str, Any]:
        """What the driver wants to know."""
        outputs = list(zip(self.stage.outputs, results, strict=True))
        return {
            "level": self.stage.level,
            "watermarks": {tag: watermark for (tag, _), (_, watermark) in outputs},
            "rows": {tag: batch.height for (tag, _), (batch, _) in outputs},
            "operators": [vars(progress) for progress in graph.progress],
            "failures": self._failures(graph),
            "told": news_of(graph.tell()),
            "times": times,
        }

    def _failures(self, graph: Graph) -> dict[int, str]:
        """Why results, by tag, are missing."""
        if not graph.failures:
            return {}
        # The functions of a graph that was in memory are other objects: parts go by their order.
        own = zip(nodes_of(*(root for _, root in self.stage.outputs)), graph.nodes, strict=True)
        reasons = {node: graph.failures[part] for node, part in own if part in graph.failures}
        outputs = self.stage.outputs
        return {tag: explained(reasons[root]) for tag, root in outputs if root in reasons}

    def _emit(
        self, table: pa.Table, results: Sequence[Arrival], partition: int
    ) -> Iterator[pa.RecordBatch]:
        for edge in self._passing:
            passing = self.before.rows_of(table, edge.tag)
            passed = self.after.passed_on(passing, self.before, edge, partition)
            yield from passed.to_batches(max_chunksize=_ROWS_PER_BATCH)
        for (tag, root), (batch, _) in zip(self.stage.outputs, results, strict=True):
            packed = self.after.pack(batch, root.schema, tag, partition)
            yield from packed.to_batches(max_chunksize=_ROWS_PER_BATCH)


def explained(error: Exception) -> str:
    """What went wrong, in one line."""
    return error.message if isinstance(error, TidemillError) else f"{type(error).__name__}: {error}"
