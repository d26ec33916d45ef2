"""What every part of a graph has done, over all partitions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from tidemill.algebra.plan import Plan
from tidemill.physical.operator import Exec
from tidemill.physical.operators.migrating import MigratingExec
from tidemill.physical.operators.project import ProjectExec
from tidemill.physical.operators.source import SourceExec
from tidemill.physical.operators.union import UnionExec
from tidemill.physical.operators.versions import VersionsExec
from tidemill.runtime.clock import Clocks
from tidemill.runtime.operator_progress import OperatorProgress, with_state_of
from tidemill.runtime.reports import TaskReport, level_totals
from tidemill.stages import Mode
from tidemill.stages.stages import ReceiveExec, is_native
from tidemill.stages.staging import Staging
from tidemill.timeline import BEGIN


def operator_totals(
    staging: Staging, reports: Sequence[TaskReport]
) -> dict[Exec, OperatorProgress]:
    """What the operators of all stages have done, in all partitions together."""
    by_level = level_totals(reports)
    found: dict[Exec, OperatorProgress] = {}
    for stage in staging.staged.stages:
        found |= zip(stage.nodes, by_level.get(stage.level, ()), strict=False)
    return found


class NativeTotals(dict[Exec, OperatorProgress]):
    """What the parts next to the sources have done; tasks tell of one tick each.

    With a migration, a part may come to a stage or leave it: of those in stages, what is here they
    did before, next to a source.
    """

    def add(self, nodes: Sequence[Exec], reports: Sequence[TaskReport]) -> None:
        """Take a tick into account; the nodes are those of the parts, in their order."""
        for report in reports:
            if report.level == 0 and report.operators:
                for node, progress in zip(nodes, report.operators, strict=True):
                    if progress.rows_out or progress.rows_in:
                        self._add(node, progress)

    def carry(self, carried: Mapping[Exec, Exec], nodes: Mapping[Exec, OperatorProgress]) -> None:
        """Parts that go on in others' place have done what those did, the old nodes."""
        # What operators of stages did, these tell themselves if they stay in one.
        known = {new: nodes if is_native(new) else self for new in carried}
        found = {n: known[n][old].copy() for n, old in carried.items() if old in known[n]}
        self.update(found)

    def _add(self, node: Exec, progress: OperatorProgress) -> None:
        known = self.get(node)
        if known is None:
            self[node] = progress.copy()
        else:
            known.merge(progress)


_PASSED = (UnionExec, MigratingExec, VersionsExec, ProjectExec)
"""What exchanges are put below of; see `tidemill.stages.colocation`."""


class GraphNodes(Mapping[Exec, OperatorProgress]):
    """By part of the plans in force; each is worked out when somebody asks for it."""

    def __init__(
        self,
        staging: Staging,
        operators: Mapping[Exec, OperatorProgress],
        native: Mapping[Exec, OperatorProgress],
        clocks: Clocks,
    ) -> None:
        self._staging = staging
        self._bare = staging.bare
        self._totals = operators
        self._native = native
        self._clocks = clocks
        self._known: dict[Exec, OperatorProgress] = {}

    def __getitem__(self, node: Exec) -> OperatorProgress:
        if node not in self._known:
            if node not in self._staging.placed:
                raise KeyError(node)
            native = is_native(node)
            self._known[node] = self._next_to_source(node) if native else self._in_stage(node)
        return self._known[node]

    def __contains__(self, node: object) -> bool:
        return node in self._staging.placed

    def __iter__(self) -> Iterator[Exec]:
        return (node for node in self._staging.placed if isinstance(node, Exec))

    def __len__(self) -> int:
        return len(self._staging.placed)

    def readings_of(self, source: str) -> Sequence[SourceExec]:
        """The parts that read a source."""
        return self._staging.readings.get(source, ())

    def is_copied(self, node: Exec) -> bool:
        """Whether the rows of some input were counted in every partition."""
        local = self._staging.locals.get(self._staging.placed[node].plan)
        leaves = () if local is None else local.walk()
        exchanges = (
            self._staging.staged.exchange(n.tag) for n in leaves if isinstance(n, ReceiveExec)
        )
        return any(exchange.mode is Mode.BROADCAST for exchange in exchanges)

    def _in_stage(self, node: Exec) -> OperatorProgress:
        now, before = self._of_stage(node), self._native.get(node)
        if before is None:
            return now
        return replace(
            now,
            rows_out=now.rows_out + before.rows_out,
            latest_start=max(now.latest_start, before.latest_start),
            latest_end=max(now.latest_end, before.latest_end),
        )

    def _of_stage(self, node: Exec) -> OperatorProgress:
        operators = [self._totals[o] for o in self._operators(node) if o in self._totals]
        if not operators:
            moved = self._moved.get(self._bare(self._staging.placed[node].plan), node)
            known = self._totals.get(moved)
            return OperatorProgress(node.label) if known is None else known.copy()
        # What one part has become takes in what the lowest operator does, and gives what the top
        # one gives. It is a copy: operators in this process go on counting.
        whole = with_state_of(operators[0], operators[1:])
        if len(operators) > 1:
            whole.operator, whole.rows_by_input = node.label, operators[-1].rows_by_input
        return whole

    def _operators(self, node: Exec) -> Iterator[Exec]:
        """The operators that a part has become, from the top."""
        below: set[Plan] = {self._staging.placed[child].plan for child in node.children}
        below |= {self._bare(plan) for plan in below if isinstance(plan, _PASSED)}
        waiting: list[Plan] = [self._staging.placed[node].plan]
        while waiting:
            plan = waiting.pop()
            moved = self._bare(plan) if isinstance(plan, _PASSED) else plan
            if plan not in below and moved not in below and not is_native(plan):
                if isinstance(plan, Exec) and plan in self._staging.locals:
                    yield self._staging.locals[plan]
                waiting.extend(plan.children)

    @cached_property
    def _moved(self) -> dict[Plan, Exec]:
        """Operators of parts whose rows move before them, though they were to move after them."""
        plans = self._staging.locals.items()
        return {self._bare(plan): local for plan, local in plans if isinstance(plan, _PASSED)}

    def _next_to_source(self, node: Exec) -> OperatorProgress:
        known = self._native.get(node)
        progress = OperatorProgress(node.label) if known is None else known.copy()
        sources = [n.scan.source for n in node.walk() if isinstance(n, SourceExec)]
        marks = [self._clocks[name].mark for name in sources if name in self._clocks]
        progress.watermark = progress.reached = min(marks, default=BEGIN)
        return progress
