"""Run a plan over bounded input, tick by tick."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping

import polars as pl

from tidemill.fragments.stages import is_native
from tidemill.physical.operator import Exec, empty_batch
from tidemill.physical.source import SourceExec
from tidemill.runtime.conditions import Conditions
from tidemill.runtime.gathering import Gathering
from tidemill.runtime.graph import Graph
from tidemill.runtime.inprocess.feeds import Feed, scanned
from tidemill.runtime.progress import Progress


class Run:
    """One execution of a plan. Every tick reads one table of every source that has more."""

    def __init__(self, plan: Exec, feeds: Mapping[str, Feed]) -> None:
        self.graph = Graph(plan)
        self.feeds = feeds
        self.ticks = 0
        self.rows_out = 0
        self.seconds = 0.0
        self.gathering = Gathering()
        self._conditions = Conditions(self.graph.nodes)
        self._scans = [leaf.scan for leaf in self.graph.leaves if isinstance(leaf, SourceExec)]
        self._empty = [empty_batch(scan.schema) for scan in self._scans]
        self._read: dict[str, dict[str, None]] = {scan.source: {} for scan in self._scans}
        # Filters and projections alone are so cheap that counting distinct values would show.
        for scan in self._scans if not is_native(plan) else ():
            self._read[scan.source].update(dict.fromkeys(scan.columns.names))

    def __iter__(self) -> Iterator[pl.DataFrame]:
        """The results of each tick, until all input is read and nothing is held back."""
        ended = False
        began = time.perf_counter()
        while not ended:
            result = self._tick()
            self.ticks += 1
            self.rows_out += result.height
            self.seconds = time.perf_counter() - began
            ended = all(feed.ended for feed in self.feeds.values())
            yield result

    def _tick(self) -> pl.DataFrame:
        read = {name: feed.tick() for name, feed in self.feeds.items()}
        arrivals = [
            (scanned(scan, *read[scan.source], empty), self.feeds[scan.source].progress.watermark)
            for scan, empty in zip(self._scans, self._empty, strict=True)
        ]
        ((result, _),) = self.graph.step(arrivals)
        self._gather(read)
        return result

    def _gather(self, read: Mapping[str, tuple[pl.DataFrame, pl.Series, pl.Series]]) -> None:
        """Find out about the sources, and how many rows meet conditions."""
        for scan in {scan.source: scan for scan in self._scans}.values():
            rows, start, end = read[scan.source]
            if rows.height:
                facts = self.gathering.of(scan.source, scan.kind)
                facts.add(rows, self._read[scan.source], start.to_numpy(), end.to_numpy())
        self.gathering.shares.update(self._conditions.shares(self.graph.progress))

    @property
    def progress(self) -> Progress:
        """What was done so far."""
        sources = {name: feed.progress.summary() for name, feed in self.feeds.items()}
        operators = tuple(node.summary() for node in self.graph.progress)
        return Progress(
            self.ticks,
            self.rows_out,
            sources,
            operators,
            seconds=self.seconds,
            statistics=self.gathering.statistics,
        )
