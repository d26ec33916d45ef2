"""The tasks of a tick: what its plans, its sources and the ticks before come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tidemill.deadline import TickLimits
from tidemill.feeds import effort_of
from tidemill.fragments.staging import Staging
from tidemill.runtime.clock import Clocks
from tidemill.runtime.nodes import operator_totals
from tidemill.runtime.outlets import Outlets
from tidemill.runtime.planned import PlannedEpoch
from tidemill.runtime.reports import Report, gathered
from tidemill.runtime.source_task import SourcePiece, SourceTask, dealt
from tidemill.runtime.stage_task import StageTask
from tidemill.runtime.ticks import Begun
from tidemill.runtime.validity import Timing
from tidemill.store import Store


@dataclass(frozen=True)
class Before:
    """What the tick before has left: what ran in it, what was told, and the clocks after it."""

    staging: Staging
    reports: Sequence[Report]
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
        outlets: Outlets,
    ) -> list[SourceTask]:
        """Tasks that read, one for every partition."""
        staged = planned.staged
        effort = sum(effort_of(piece.slice) for piece in pieces)
        direct = self.partitions > 1 and bool(staged.stages) and effort <= self.direct
        each = [pieces] * self.partitions if direct else dealt(pieces, self.partitions)
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
                outlets,
                # Filters and projections alone are so cheap that looking at values would show.
                bool(staged.stages),
                direct,
                self.limits,
            )
            for number, mine in enumerate(each)
        ]

    def of_stages(
        self, tick: int, planned: PlannedEpoch, clocks: Clocks, outlets: Outlets, before: Before
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
                outlets,
                self.is_local,
                limits=self.limits,
            )
            for stage in planned.staged.stages
        ]
