"""Graphs on Spark without Spark: the same epochs, tasks and state, rows moved by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from threading import RLock
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from pyspark import cloudpickle

from tests.spark.ticking import Ticks
from tidemill.algebra.nodes import SourceKind
from tidemill.errors import ExecutionError
from tidemill.fragments import Edge
from tidemill.fragments.staging import Staging, is_static
from tidemill.physical.cut import cut
from tidemill.physical.operator import Exec, empty_batch
from tidemill.physical.source import SourceExec
from tidemill.runtime.gathering import Gathering
from tidemill.runtime.operators import Graph, NodeProgress
from tidemill.runtime.inprocess.feeds import Feed, StreamFeed, scanned
from tidemill.runtime.inprocess.sinks import make_sink
from tidemill.runtime.interface import Root
from tidemill.runtime.progress import Progress
from tidemill.runtime.spark.epoch_plan import EpochPlan, first_marks
from tidemill.runtime.spark.epochs import Epoch, next_epoch
from tidemill.runtime.spark.live_nodes import Streams, node_progress, operator_totals
from tidemill.runtime.spark.raw import RawRows
from tidemill.timeline import BEGIN, OPEN_END

Read = tuple[pl.DataFrame, pl.Series, pl.Series]


class HandRun:
    """Reads one table of every stream with every tick. `feeds` opens all sources anew."""

    def __init__(
        self, feeds: Callable[[], dict[str, Feed]], folder: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.after_tick: Callable[[], None] = lambda: None
        self.lock = RLock()
        self.failures: dict[str, Exception] = {}
        self.restored = None
        self.ticks = 0
        self.seconds = 0.0
        self._feeds = feeds
        self._streams = {n: f for n, f in feeds().items() if isinstance(f, StreamFeed)}
        self._patch = monkeypatch
        self._folder = folder
        self._base = Staging(2)
        self._epoch = Epoch(staging=self._base, before=self._base)
        self._ticker = Ticks(self._base.staged, folder, 2, monkeypatch)
        self._carried: dict[Exec, Exec] = {}
        self._sinks: dict[str, tuple[Root, Any]] = {}
        self._after_end = 0

    @property
    def sources(self) -> Mapping[str, Any]:
        return {}

    @property
    def newest(self) -> Mapping[str, int]:
        return {name: feed.newest_end for name, feed in self._streams.items()}

    @property
    def nodes(self) -> Mapping[Exec, NodeProgress]:
        reports = self._ticker.reports(self.ticks - 1)
        totals = operator_totals(self._base, reports)
        if self._epoch.tick == self.ticks:
            totals |= {n: totals[o] for n, o in self._epoch.carried.items() if o in totals}
        marks = {name: feed.progress.watermark for name, feed in self._streams.items()}
        streams = Streams(marks, self.newest, self._base.placed)
        return node_progress(self._epoch.staging, totals, streams, 2)

    @property
    def has_more(self) -> bool:
        """Time passes one level with every tick, after the end too."""
        levels = len(self._epoch.staging.staged.stages)
        return self._after_end <= levels + 1

    def revise(
        self, roots: Mapping[str, Root], carried: Mapping[Exec, Exec], notes: Any = None
    ) -> None:
        came = {new: self._carried.get(old, old) for new, old in carried.items()}
        self._carried = {**self._carried, **came}
        self._epoch = next_epoch(self.ticks, self._base, roots, self._carried, notes)
        if self._epoch.staging.fresh_statics(self._base):
            self._after_end = 0
        self._sinks = {
            name: (root, self._sinks[name][1] if name in self._sinks else make_sink(root.job))
            for name, root in roots.items()
        }

    def tick(self) -> None:
        read = {name: feed.tick() for name, feed in self._streams.items()}
        results = self._results(read)
        for name, (root, sink) in self._sinks.items():
            parts = [empty_batch(root.job.running.schema), *results[self._epoch.tags[name]]]
            sink(cut(pl.concat(parts), root.since), self.ticks)
        self._base, self._carried = self._epoch.staging, {}
        self._after_end += all(feed.ended for feed in self._streams.values())
        self.ticks += 1
        self.after_tick()

    def _results(self, read: Mapping[str, Read]) -> dict[int, list[pl.DataFrame]]:
        epoch: Epoch = cloudpickle.loads(cloudpickle.dumps(self._epoch))
        first = epoch.tick == self.ticks
        ticker, old = self._ticker, self._ticker
        reports = old.reports(self.ticks - 1)
        if first:
            staged = epoch.staging.staged
            ticker = Ticks(staged, self._folder, 2, self._patch, dict(old.marks))
            known = old.marks.get(self.ticks - 1, {})
            marks = {edge.tag: self._mark(edge) for edge in old.staged.edges if not edge.made_at}
            marks |= known
            new = first_marks(epoch, lambda edge: marks.get(edge.tag, BEGIN), reports)
            ticker.marks[self.ticks - 1] = {**known, **new}
        native = [edge for edge in epoch.staging.staged.edges if not edge.made_at]
        fresh = epoch.staging.fresh_statics(epoch.before) if first else []
        rows = {edge.tag: self._native(edge, read, edge in fresh) for edge in native}
        marks = {edge.tag: self._mark(edge) for edge in native}
        handovers = self._handovers(epoch, old, reports) if first else {}
        found = ticker.results(self.ticks, rows, marks, False, handovers, reports)
        self._ticker = ticker
        return found

    def _handovers(self, epoch: Epoch, old: Ticks, reports: Any) -> dict[int, Any]:
        facts = (RawRows([]), _no_spark, 2, self._folder, "run", Gathering())
        plan = EpochPlan(epoch, *facts)
        return {
            level: replace(
                handover,
                formers=tuple(replace(each, before=old.layout) for each in handover.formers),
            )
            for level, handover in plan.handovers(reports).items()
        }

    def _mark(self, edge: Edge) -> int:
        if is_static(edge):
            return OPEN_END
        return self._streams[_source(edge).scan.source].progress.watermark

    def _native(self, edge: Edge, read: Mapping[str, Read], fresh: bool) -> pl.DataFrame:
        leaf = _source(edge)
        if leaf.scan.kind is SourceKind.STREAM:
            there = read[leaf.scan.source]
        elif fresh:
            there = self._feeds()[leaf.scan.source].tick()
        else:
            return empty_batch(edge.schema)
        rows = scanned(leaf.scan, *there, empty_batch(leaf.schema))
        ((result, _),) = Graph(edge.producer).step([(rows, BEGIN)])
        return result

    def progress_of(self, query: str) -> Progress:
        return Progress()

    def results(self, query: str) -> pa.Table:
        raise ExecutionError("only the sink memory keeps results")

    def heartbeat(self, source: str, at: int) -> None:
        raise AssertionError("only rows tell the time here")

    def start(self) -> None:
        pass

    def process_all_available(self) -> None:
        raise AssertionError("ticks are made one by one here")

    def stop(self) -> None:
        pass


def _no_spark(*_: object) -> Any:
    raise AssertionError("rows are moved by hand")


def _source(edge: Edge) -> SourceExec:
    (leaf,) = (node for node in edge.producer.walk() if isinstance(node, SourceExec))
    return leaf
