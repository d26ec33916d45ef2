"""An epoch made ready for its ticks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Observation

from tidemill.errors import ExecutionError
from tidemill.fragments import Edge, Stage
from tidemill.fragments.stages import EdgeExec
from tidemill.fragments.staging import is_static
from tidemill.physical.operator import Exec
from tidemill.runtime.gathering import Gathering
from tidemill.runtime.graph import nodes_of
from tidemill.runtime.spark.epochs import Epoch
from tidemill.runtime.spark.failures import reason
from tidemill.runtime.spark.findings import Findings, Report
from tidemill.runtime.spark.layout import Layout, layouts_of
from tidemill.runtime.spark.live_nodes import operator_totals
from tidemill.runtime.spark.native import native_rows
from tidemill.runtime.spark.news import gathered
from tidemill.runtime.spark.raw import RawRows
from tidemill.runtime.spark.tick import Marks, TickPlan
from tidemill.runtime.spark.worker import Former, Handover
from tidemill.timeline import BEGIN, OPEN_END, VALID_FROM

ReadStatic = Callable[[Edge, Layout], DataFrame]
"""Reads the rows of a relation as rows of an edge."""


class EpochPlan:
    """What the ticks of an epoch do, and what the first of them takes over."""

    def __init__(
        self,
        epoch: Epoch,
        raw: RawRows,
        read_static: ReadStatic,
        partitions: int,
        state: str,
        run_id: str,
        gathering: Gathering,
    ) -> None:
        self.epoch = epoch
        self.staged = epoch.staging.staged
        layouts = layouts_of(self.staged)
        self.plan = TickPlan(self.staged, raw.sources, layouts, partitions, state, run_id)
        self.findings = Findings(self.staged, gathering)
        self._raw = raw
        self._read_static = read_static

    def marks(self, tick: int, marks: Marks, reports: Sequence[Report]) -> Marks:
        """The watermarks of a tick, from those after the tick before, and its reports."""
        statics = {
            native_rows(edge.producer).source.scan.source: OPEN_END
            for edge in self.staged.edges
            if is_static(edge)
        }
        known = replace(marks, sources={**marks.sources, **statics})
        if tick != self.epoch.tick:
            return known
        return replace(known, edges={**marks.edges, **first_marks(self.epoch, known.of, reports)})

    def reports_before(self, tick: int) -> list[dict[str, Any]]:
        """What the tasks of the tick before have said."""
        first = tick == self.epoch.tick
        before = replace(self.plan, staged=self.epoch.before.staged if first else self.staged)
        return before.reports(tick - 1)

    def run(
        self, batch: DataFrame, tick: int, marks: Marks, reports: Sequence[Report]
    ) -> tuple[DataFrame, Observation]:
        """The result rows of a tick, and what is known about it once they have been used."""
        seen = Observation()
        observed = batch.observe(seen, *self.plan.source_facts(marks))
        rows = self._raw.of_edges(
            self._in_time(observed, marks), self.streams, self.plan.layouts[0]
        )
        handovers: dict[int, Handover] = {}
        if tick == self.epoch.tick:
            layout = self.plan.layouts[0]
            statics = (self._read_static(edge, layout) for edge in self._fresh)
            rows = reduce(DataFrame.union, statics, rows)
            handovers = self.handovers(reports)
        return self.plan.through(rows, tick, marks, reports, handovers, tolerant=True), seen

    @property
    def streams(self) -> list[Edge]:
        """The edges that start at streams."""
        return [e for e in self.staged.edges if not e.made_at and not is_static(e)]

    def handovers(self, reports: Sequence[Report]) -> dict[int, Handover]:
        """By level, which operators go on in others' place. Where nothing changes, none do."""
        old, carried = self.epoch.before.staged, self.epoch.carried
        layouts = layouts_of(old)
        formers = {
            stage.level: Former(
                old, stage, layouts[stage.level - 1], gathered(reports, stage.level)
            )
            for stage in old.stages
        }
        levels = {node: stage.level for stage in old.stages for node in _nodes(stage)}
        found = {}
        for stage in self.staged.stages:
            known = formers.get(stage.level)
            layout = self.plan.layouts[stage.level - 1]
            if known is None or (known.stage, known.before) != (stage, layout):
                # With another input, an operator may have come to another level.
                before = (levels.get(carried.get(node, node), 0) for node in _nodes(stage))
                there = (formers[level] for level in sorted(set(before)) if level)
                found[stage.level] = Handover(tuple(there), carried)
        return found

    def failed(
        self, reports: Sequence[Report], native: Mapping[int, str] | None = None
    ) -> dict[str, Exception]:
        """The queries to whose results something is missing; `native` are edges that fail."""
        failed = dict(native or {})
        for stage in self.staged.stages:
            told = [report["failures"] for report in reports if report["level"] == stage.level]
            for tag, root in stage.outputs:
                leaves = [node.tag for node in root.walk() if isinstance(node, EdgeExec)]
                reasons = [failed[leaf] for leaf in leaves if leaf in failed]
                reasons += [each[str(tag)] for each in told if str(tag) in each]
                if reasons:
                    failed[tag] = reasons[0]
        tags = self.epoch.tags.items()
        return {name: ExecutionError(failed[tag]) for name, tag in tags if tag in failed}

    def failing_edges(self, batch: DataFrame, tick: int, marks: Marks) -> dict[int, str]:
        """The edges whose sources cannot be read, or whose expressions fail for a row, and why.

        Spark does them all at once, and says only that something failed.
        """
        in_time, layout = self._in_time(batch, marks), self.plan.layouts[0]
        found = {
            edge.tag: _failure(partial(self._raw.of_edges, in_time, [edge], layout))
            for edge in self.streams
        }
        for edge in self._fresh if tick == self.epoch.tick else ():
            found[edge.tag] = _failure(partial(self._read_static, edge, layout))
        return {tag: failure for tag, failure in found.items() if failure is not None}

    @property
    def _fresh(self) -> list[Edge]:
        """The edges of relations whose rows nobody has seen yet."""
        return self.epoch.staging.fresh_statics(self.epoch.before)

    def _in_time(self, batch: DataFrame, marks: Marks) -> DataFrame:
        return batch.where(f"{VALID_FROM} >= {self.plan.watermark(marks)}")


def _failure(rows: Callable[[], DataFrame]) -> str | None:
    """Why rows cannot be made, if so."""
    try:
        rows().write.format("noop").mode("overwrite").save()
    except ExecutionError as error:
        return error.message
    except PySparkException as error:
        return reason(str(error))
    return None


def _nodes(stage: Stage) -> list[Exec]:
    """The operators of a stage."""
    return [node for node in nodes_of(*(root for _, root in stage.outputs)) if node.children]


def first_marks(
    epoch: Epoch, mark_of: Callable[[Edge], int], reports: Sequence[Report]
) -> dict[int, int]:
    """The watermarks of new edges in the first tick of an epoch.

    What was promised to an operator still holds when its rows come another way; to those that go
    on, time must not go back.
    """
    old = epoch.before.staged
    known = {edge.tag for edge in old.edges}
    totals = operator_totals(epoch.before, reports)

    def promised(part: Exec | None) -> int:
        if isinstance(part, EdgeExec):
            return mark_of(old.edge(part.tag))
        return totals[part].watermark if part in totals else BEGIN

    found = {}
    for edge in epoch.staging.staged.edges:
        if edge.made_at and edge.tag not in known:
            maker = epoch.staging.locals[edge.producer]
            before = epoch.carried.get(maker, maker)
            found[edge.tag] = max(promised(before), promised(epoch.inputs.get(edge.tag)))
    return found
