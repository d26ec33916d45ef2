"""What a migration is: two plans, the instant that divides their answers, and how far it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from tidemill.algebra.plan import render
from tidemill.graph.missing import NEVER
from tidemill.physical.filter import FilterExec
from tidemill.physical.fuse import FuseExec
from tidemill.physical.granularity import GranularityExec
from tidemill.physical.hand_over import HandOverExec
from tidemill.physical.join import JoinExec
from tidemill.physical.operator import Exec
from tidemill.physical.project import ProjectExec
from tidemill.physical.reference_point import ReferencePointExec
from tidemill.physical.source import SourceExec
from tidemill.physical.time_window import TimeWindowExec
from tidemill.physical.union import UnionExec
from tidemill.runtime.graph import NodeProgress, nodes_of
from tidemill.timeline import BEGIN

_SAME_ROWS = (
    FilterExec,
    GranularityExec,
    JoinExec,
    ProjectExec,
    SourceExec,
    TimeWindowExec,
    UnionExec,
)
"""Plans of these that have the same snapshots have the very same rows."""

Progress = Mapping[Exec, NodeProgress]


class Phase(Enum):
    """How far a migration is."""

    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"


@dataclass
class Migration:
    """A query on its way from one plan to another.

    Answers before `split` are those of the old plan, from then on those of the new one. It is
    `handing_over` while both run. Parts were `made_eager` for that time, so that they tell how
    far they have come. `started` and `ended` are numbers of ticks.
    """

    query: str
    old: Exec
    new: Exec
    split: int
    variant: type[HandOverExec]
    handing_over: Exec
    started: int
    made_eager: dict[Exec, Exec] = field(default_factory=dict)
    phase: Phase = Phase.RUNNING
    ended: int | None = None

    @property
    def is_running(self) -> bool:
        return self.phase is Phase.RUNNING

    def end(self, tick: int, phase: Phase = Phase.DONE) -> None:
        """Take note that it is over."""
        self.phase, self.ended = phase, tick

    def remaining(self, running: Progress) -> Remaining:
        """What is still to come: time until the split, and what only the old plan keeps."""
        places = hand_overs(self.handing_over)
        new = set(nodes_of(*(place.new for place in places)))
        old = [node for node in nodes_of(*(place.old for place in places)) if node not in new]
        marks = [running[place.new].watermark for place in places if place.new in running]
        rows = sum(running[node].state_rows for node in old if node in running)
        return Remaining(max(0, self.split - min(marks, default=self.split)), rows)

    def report(self, running: Progress) -> str:
        """Both plans, the split, and what remains, as text."""
        kind = "reference points" if self.variant is ReferencePointExec else "fused"
        lines = [f"migration of {self.query}: {self.phase.value}, split={self.split}, {kind}"]
        if self.is_running:
            left = self.remaining(running)
            lines.append(f"remaining: {left.time} instants, {left.old_rows} rows of the old plan")
            lines += ["old", render(self.old)]
        return "\n".join([*lines, "new", render(self.new)])


@dataclass(frozen=True)
class Remaining:
    """Instants until the split, and rows that only the old plan keeps."""

    time: int
    old_rows: int


def hand_overs(plan: Exec) -> list[HandOverExec]:
    """The places in a plan where a new part takes over from an old one."""
    return [node for node in nodes_of(plan) if isinstance(node, HandOverExec)]


def variant_for(parts: Iterable[tuple[Exec, Exec]], same_meaning: bool) -> type[HandOverExec]:
    """How answers are handed over: by reference points where plans must have the same rows."""
    nodes = [node for pair in parts for node in nodes_of(*pair)]
    same_rows = same_meaning and all(isinstance(node, _SAME_ROWS) for node in nodes)
    return ReferencePointExec if same_rows else FuseExec


def split_time(
    parts: Iterable[tuple[Exec, int]], running: Progress, variant: type[HandOverExec]
) -> int:
    """The first instant that the new plan can answer for: `parts` are old ones, with what the new
    ones miss.

    Rows that the old plan gave already are not given again. By reference points, they are not
    touched.
    """
    split = BEGIN
    for old, missed in parts:
        given = running[old].latest_end if variant is FuseExec else BEGIN
        split = max(split, missed, given)
    return min(split, NEVER)
