"""What runs in a Spark task: one stage in one partition, for one tick."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from pyspark import TaskContext

from tidemill.fragments import Stage, Staged
from tidemill.physical.operator import empty_batch
from tidemill.physical.row_number import RowNumberExec
from tidemill.runtime.graph import Arrival, Graph
from tidemill.runtime.spark.layout import TAG, Layout
from tidemill.runtime.spark.native import native_rows
from tidemill.runtime.spark.state import StateStore
from tidemill.timeline import VALID_FROM, VALID_TO, add_all

REPORT = -2
"""The tag of rows that report to the driver."""

START = -1
"""The tag of rows that only make sure that every partition runs."""

_ROWS_PER_BATCH = 200_000


@dataclass(frozen=True)
class StageTask:
    """A stage of a plan at a tick. Calling it with the batches of a partition runs it."""

    staged: Staged
    stage: Stage
    layout: Layout
    tick: int
    watermarks: Mapping[int, int]
    state: str
    run: str = ""

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        partition = 0 if context is None else context.partitionId()
        began = time.perf_counter()
        parts = list(batches)
        table = pa.Table.from_batches(parts) if parts else self.layout.arrow.empty_table()
        mine, passing = self._sorted_out(table)
        store = StateStore(self.state, self.stage.level, partition, self.run)
        graph, replayed = self._graph(store, partition)
        loaded = time.perf_counter()
        results = graph.step(self._arrivals(mine, self.watermarks))
        stepped = time.perf_counter()
        self._save(store, graph, mine)
        times = {
            "load": loaded - began,
            "step": stepped - loaded,
            "save": time.perf_counter() - stepped,
            "replayed": replayed,
        }
        yield from self._emit(passing, results, graph, partition, times)

    def _sorted_out(self, table: pa.Table) -> tuple[pa.Table, pa.Table]:
        """Rows for this stage, and rows that only pass by."""
        mine = [leaf.tag for leaf in self.stage.leaves]
        passing = [e.tag for e in self.staged.edges if e.made_at < self.stage.level < e.used_at]
        tags = table.column(TAG).to_numpy()
        return (
            table.filter(pa.array(np.isin(tags, mine))),
            table.filter(pa.array(np.isin(tags, [*passing, REPORT]))),
        )

    def _graph(self, store: StateStore, partition: int) -> tuple[Graph, int]:
        """The operators as the tick before left them."""
        before = self.tick - 1
        graph: Graph | None = store.cached(before)
        if graph is not None:
            return graph, 0
        graph = Graph(*(root for _, root in self.stage.outputs), partition=partition)
        base, rows = store.history(before)
        if base is not None:
            graph.state = store.read_snapshot(base)
        for segment in rows:
            table, watermarks = store.read_rows(segment)
            graph.step(self._arrivals(table, {int(tag): m for tag, m in watermarks.items()}))
        return graph, len(rows)

    def _arrivals(self, table: pa.Table, watermarks: Mapping[int, int]) -> list[Arrival]:
        tags = table.column(TAG).to_numpy()
        arrivals = []
        for leaf in self.stage.leaves:
            here = tags == leaf.tag
            rows = empty_batch(leaf.schema)
            if here.any():
                own = table if here.all() else table.filter(pa.array(here))
                rows = self.layout.unpack(self._with_ends(own, leaf.tag), leaf.schema)
                if self._numbers_rows:
                    # Else a stage that Spark does again would give rows other numbers than those
                    # under which stages above know them already.
                    rows = rows[rows.hash_rows(0).arg_sort()]
            arrivals.append((rows, watermarks[leaf.tag]))
        return arrivals

    def _with_ends(self, table: pa.Table, tag: int) -> pa.Table:
        """Rows that Spark made of streams get their ends only here: they need not travel."""
        edge = self.staged.edge(tag)
        duration = None if edge.made_at else native_rows(edge.producer).duration
        if duration is None:
            return table
        starts = table.column(VALID_FROM).to_numpy()
        ends = pa.array(add_all(starts, duration))
        others = [name for name in table.column_names if name != VALID_TO]
        return table.select(others).append_column(VALID_TO, ends)

    @cached_property
    def _numbers_rows(self) -> bool:
        nodes = (node for _, root in self.stage.outputs for node in root.walk())
        return any(isinstance(node, RowNumberExec) for node in nodes)

    def _save(self, store: StateStore, graph: Graph, rows: pa.Table) -> None:
        snapshot, gathered = store.size_since(self.tick - 1)
        if gathered + rows.nbytes >= snapshot:
            store.write_snapshot(self.tick, graph.state)
        else:
            marks = {str(leaf.tag): self.watermarks[leaf.tag] for leaf in self.stage.leaves}
            store.write_rows(self.tick, rows, marks)
        store.forget_before(self.tick - 1)
        store.remember(self.tick, graph)

    def _emit(
        self,
        passing: pa.Table,
        results: list[Arrival],
        graph: Graph,
        partition: int,
        times: dict[str, float],
    ) -> Iterator[pa.RecordBatch]:
        if passing.num_rows:
            passed = self.layout.passed_on(passing, partition)
            yield from passed.to_batches(max_chunksize=_ROWS_PER_BATCH)
        marks = {}
        for (tag, root), (batch, watermark) in zip(self.stage.outputs, results, strict=True):
            marks[tag] = watermark
            if batch.height:
                packed = self.layout.pack(batch, root.schema, tag, partition)
                yield from packed.to_batches(max_chunksize=_ROWS_PER_BATCH)
        report = {
            "level": self.stage.level,
            "partition": partition,
            "watermarks": marks,
            "operators": [vars(progress) for progress in graph.progress],
            "times": times,
        }
        yield from self.layout.note(REPORT, partition, json.dumps(report)).to_batches()
