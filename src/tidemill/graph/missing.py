"""What new parts of a running graph have missed: until which instant rows that came before count.

A part that begins later gives what it would give had it always been there, from the instant on
at which nothing counts any more that its inputs gave before.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tidemill.algebra.nodes import SourceKind
from tidemill.algebra.plan import Plan, nodes_of
from tidemill.physical.adjusting import AdjustableExec
from tidemill.physical.count_window import CountWindowExec
from tidemill.physical.granularity import GranularityExec
from tidemill.physical.istream import IstreamExec
from tidemill.physical.net_changes import ChangesExec
from tidemill.physical.operator import Exec
from tidemill.physical.ranking import RankExec
from tidemill.physical.source import SourceExec
from tidemill.physical.star import StarJoinExec
from tidemill.physical.time_window import TimeWindowExec
from tidemill.runtime.operators import NodeProgress
from tidemill.timeline import BEGIN, OPEN_END, add, round_up

NEVER = OPEN_END
"""What was missed will count for ever."""


class Missing:
    """The parts that run, and for every source that is read, what a new reading has missed: the
    end of the newest row that is not there any more.

    `lacking` are parts that have missed something themselves when they began, until when.
    """

    def __init__(
        self,
        running: Mapping[Exec, NodeProgress],
        newest: Mapping[str, int],
        lacking: Mapping[Exec, int],
    ) -> None:
        self._running = running
        self._newest = newest
        self._lacking = lacking
        self._done: dict[Plan, int] = {}

    def until(self, plan: Plan) -> int:
        """Before which instant a new user of this part does not get all that it should give."""
        if plan not in self._done:
            assert isinstance(plan, Exec)
            # A log of changes begins anew: what came before it began comes at its beginning.
            running = None if isinstance(plan, ChangesExec) else self._running.get(plan)
            if running is None:
                self._done[plan] = self._new(plan)
            else:
                self._done[plan] = max(running.latest_end, self._lacking.get(plan, BEGIN))
        return self._done[plan]

    def of_new_parts(self, plan: Exec) -> dict[Exec, int]:
        """For the parts of a plan that do not run yet, until when they lack something."""
        new = [node for node in nodes_of(plan) if node not in self._running]
        return {node: self.until(node) for node in new if self.until(node) > BEGIN}

    def _new(self, plan: Plan) -> int:
        """Of a part that does not run yet: what its own results lack."""
        if isinstance(plan, SourceExec):
            # Of a relation that changes, what was deleted before is not there any more.
            moves = plan.scan.kind in (SourceKind.STREAM, SourceKind.CHANGING)
            return self._newest.get(plan.scan.source, BEGIN) if moves else BEGIN
        missed = max(map(self.until, plan.children))
        return _through(plan, missed) if missed > BEGIN else BEGIN


def _through(plan: Plan, missed: int) -> int:
    """Until when an operator's results lack rows that it has not seen, which end before `missed`.

    At any instant, most operators need only rows that hold there, or later.
    """
    match plan:
        case TimeWindowExec():
            return _windowed(plan, missed)
        case GranularityExec():
            granules = [plan.size_at(start) or 1 for start in _last_starts(plan, missed)]
            return max(int(round_up(np.array([missed]), granule)[0]) for granule in granules)
        case IstreamExec():
            return add(missed, 1)  # what holds an instant before counts, too
        case RankExec():
            size = plan.ranked.size
            return NEVER if size is None else add(missed - 1, size)
        case CountWindowExec() | StarJoinExec():
            # Which rows they keep depends on all rows before.
            return NEVER
    return missed


def _windowed(window: TimeWindowExec, missed: int) -> int:
    _, ends = window.interval(np.array(_last_starts(window, missed)))
    return int(ends.max())


def _last_starts(node: AdjustableExec, missed: int) -> list[int]:
    """The instants of the newest rows of each size."""
    return [missed - 1, *(at - 1 for at, _ in node.changes if 0 < at < missed)]
