"""The tasks of a tick: what its plans, its sources and the ticks before come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tidemill.connectors.feeds import effort_of
from tidemill.deadline import TickLimits
from tidemill.runtime.clock import Clocks
from tidemill.runtime.operator_totals import operator_totals
from tidemill.runtime.planned_epoch import PlannedEpoch
from tidemill.runtime.reports import TaskReport, gathered
from tidemill.runtime.source_task import SourcePiece, SourceTask, shared_out
from tidemill.runtime.stage_task import StageTask
from tidemill.runtime.task_sinks import TaskSinks
from tidemill.runtime.ticks import Begun
from tidemill.runtime.validity import Timing
from tidemill.stages.staging import Staging
from tidemill.store import Store


@dataclass(frozen=True)
class Before:
    """What the tick before has left: what ran in it, its reports, and the clocks after it."""

    staging: Staging
    reports: Sequence[TaskReport]
    clocks: Clocks


@dataclass(frozen=True)
class TickTasks:
    """Makes the tasks of the ticks of a run; see `Fabric` for what `is_local` and `direct` mean."""

    run: str
    is_local: bool
    direct: int
    partitions: int
    store: Store | None
    limits: TickLimits

    def reading(
        self,
        begun: Begun,
        planned: PlannedEpoch,
        pieces: Sequence[SourcePiece],
        timings: Mapping[str, Timing],
        task_sinks: TaskSinks,
    ) -> list[SourceTask]:
        """Tasks that read, one for every partition."""
        staged = planned.staged
        effort = sum(effort_of(piece.slice) for piece in pieces)
        direct = self.partitions > 1 and bool(staged.stages) and effort <= self.direct
        each = [pieces] * self.partitions if direct else shared_out(pieces, self.partitions)
        return [
            SourceTask(
                number,
                begun.tick,
                staged,
                timings,
                mine,
                self.partitions,
                f"{self.run}/{planned.epoch.tick}",
                begun.arrived,
                task_sinks,
                # Filters and projections alone are so cheap that looking at values would show.
                bool(staged.stages),
                direct,
                self.limits,
            )
            for number, mine in enumerate(each)
        ]

    def of_stages(
        self,
        tick: int,
        planned: PlannedEpoch,
        clocks: Clocks,
        task_sinks: TaskSinks,
        before: Before,
    ) -> list[StageTask]:
        """Tasks of the stages, in their order; the first tick of an epoch takes over."""
        first = tick == planned.epoch.tick
        handovers = planned.handovers(before.reports) if first else {}
        totals = operator_totals(before.staging, before.reports) if first else {}
        promised = planned.promised(totals, before.clocks) if first else {}
        return [
            StageTask(
                planned.staged,
                stage,
                tick,
                clocks,
                self.partitions,
                self.run,
                self.store,
                promised,
                gathered(before.reports, stage.level),
                handovers.get(stage.level),
                task_sinks,
                self.is_local,
                limits=self.limits,
            )
            for stage in planned.staged.stages
        ]
