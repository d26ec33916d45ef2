"""The resource manager at the wheel of a running graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tidemill.graph.adaptation import Adaptation
from tidemill.graph.manager.knobs import Knob
from tidemill.graph.manager.manager import LOOK_EVERY, Readings, ResourceManager
from tidemill.graph.quality import Granules, Quality
from tidemill.graph.query_graph import QueryGraph
from tidemill.optimize.statistics import Statistics
from tidemill.physical.operator import Exec
from tidemill.runtime.interface import Job
from tidemill.timeline import TimeDomain


class Steering:
    """Asks the manager before a query is added and after every tick, and does what it decides."""

    def __init__(
        self,
        graph: QueryGraph,
        adaptation: Adaptation,
        manager: ResourceManager,
        statistics: Callable[[], Statistics],
    ) -> None:
        self.manager = manager
        self._graph = graph
        self._adaptation = adaptation
        self._statistics = statistics
        self._known = statistics()
        self._sets = False
        graph.gates.append(self._admitted)
        graph.after_revision.append(self._revised)
        graph.after_each_tick(self._look)

    def _admitted(self, name: str, job: Job) -> Job:
        if job.domain is TimeDomain.MICROSECONDS:
            self.manager.follow_clock()
        own = self._adaptation.histories(name)
        allowed = self._adaptation.allowed
        knobs = [_knob(knob, allowed[knob]) for knob in own]
        self._known = self._statistics()  # there may be hints since the last look
        self.manager.admit(name, job.running, knobs, self._known)
        return job

    def _revised(self, carried: Mapping[Exec, Exec]) -> None:
        self.manager.revised(self._graph.run.nodes, carried)
        if not self._sets and not any(self._graph.run.came.values()):
            # Rows keep the size that they have, so the first ones should have the right one.
            self._set(self.manager.first_sizes(knobs_of(self._adaptation)))

    def _look(self) -> None:
        run = self._graph.run
        if not run.came:
            return
        if run.ticks % LOOK_EVERY == 0:
            self._known = self._statistics()  # which takes its time: distinct values are counted
        rows = {name: source.rows for name, source in run.sources.items()}
        now = max(run.came.values())
        histories = self._adaptation.all_histories
        readings = Readings(run.nodes, rows, now, run.seconds, run.ticks, histories)
        self._set(self.manager.observe(readings, knobs_of(self._adaptation), self._known))

    def _set(self, sizes: Mapping[str, int]) -> None:
        if not sizes:
            return
        self._sets = True  # which is a revision, too
        try:
            changes = self._adaptation.adapt(sizes)
        finally:
            self._sets = False
        self.manager.changed({knob: size for knob, (_, size) in changes.items()})


def knobs_of(adaptation: Adaptation) -> list[Knob]:
    """All sizes of a graph that can be changed."""
    users = adaptation.users
    allowed = adaptation.allowed.items()
    return [_knob(name, quality, users.get(name, 1)) for name, quality in allowed]


def _knob(name: str, quality: Quality, weight: int = 1) -> Knob:
    if isinstance(quality, Granules):
        return Knob(name, max(quality.allowed), min(quality.allowed), weight, quality.allowed)
    return Knob(name, quality.low, quality.high, weight)
