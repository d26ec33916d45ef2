"""What a migration is: two plans, the instant that divides their answers, and how far it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from tidemill.algebra.plan import lines_of, nodes_of
from tidemill.explain import Explanation, PlanLine
from tidemill.physical.operator import Exec
from tidemill.physical.operators.fuse import FuseExec
from tidemill.physical.operators.migrating import MigratingExec
from tidemill.physical.operators.reference_point import ReferencePointExec
from tidemill.runtime.operator_progress import OperatorProgress
from tidemill.runtime.progress import MigrationProgress

Progress = Mapping[Exec, OperatorProgress]


class Phase(Enum):
    """How far a migration is."""

    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"


@dataclass
class Migration:
    """A query on its way from one plan to another.

    Answers before `split` come from the old plan, later ones from the new one. It is
    `handing_over` while both run. Parts were `made_eager` for that time, so that they tell how
    far they have come. `started` and `ended` are numbers of ticks.
    """

    query: str
    old: Exec
    new: Exec
    split: int
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

    def remaining(self, running: Progress) -> MigrationProgress:
        """What is still to come: time until the split, and what only the old plan keeps."""
        places = [p for p in hand_overs(self.handing_over) if p in running]
        new = set(nodes_of(*(place.new for place in places)))
        old = [node for node in nodes_of(*(place.old for place in places)) if node not in new]
        marks = [_passed(place, running) for place in places]
        rows = sum(running[node].state_rows for node in old)
        left = max(0, self.split - min(marks, default=self.split))
        return MigrationProgress(self.split, left, rows)

    def explanation(self, running: Progress) -> Explanation:
        """Both plans, the split, and what remains."""
        title = f"migration of {self.query}: {self.phase.value}, split={self.split}"
        lines: list[PlanLine] = []
        if self.is_running:
            left = self.remaining(running)
            remains = f"remaining: {left.time} instants, {left.old_rows} rows of the old plan"
            lines += [PlanLine(place.label) for place in hand_overs(self.handing_over)]
            lines += [PlanLine(remains), PlanLine("old"), *lines_of(self.old)]
        return Explanation(title, (*lines, PlanLine("new"), *lines_of(self.new)))


def hand_overs(plan: Exec) -> list[MigratingExec]:
    """The places in a plan where a new part takes over from an old one."""
    return [node for node in nodes_of(plan) if isinstance(node, MigratingExec)]


def groups(migrations: Iterable[Migration]) -> list[list[Migration]]:
    """Migrations that have to end together, because they share a place of handing over."""
    found: list[list[Migration]] = []
    for migration in migrations:
        places = set(hand_overs(migration.handing_over))
        shared = [g for g in found if any(places & set(hand_overs(m.handing_over)) for m in g)]
        found = [g for g in found if g not in shared]
        found.append([*(each for group in shared for each in group), migration])
    return found


def _passed(place: MigratingExec, running: Progress) -> int:
    """How far the new plan is; before its first tick, as far as the streams of the old one."""
    leaves = [node for node in nodes_of(place.old) if not node.children]
    return max(running[place.new].watermark, min(running[leaf].watermark for leaf in leaves))


def variant_for(old: Exec, new: Exec, same_meaning: bool) -> type[MigratingExec]:
    """How whole plans hand answers over: by reference points where they must have the same rows."""
    same_rows = same_meaning and all(node.same_rows for node in nodes_of(old, new))
    return ReferencePointExec if same_rows else FuseExec


def split_time(variant: type[MigratingExec], given: OperatorProgress, missed: int) -> int:
    """The first instant that a new plan can answer for, given what the old one gave, and until
    when the new one misses something.

    What the old plan gave already is not given again. By reference points, that is decided by
    the starts of rows.
    """
    if variant is FuseExec:
        return max(missed, given.latest_end)
    return max(missed, given.latest_start + 1) if given.rows_out else missed
