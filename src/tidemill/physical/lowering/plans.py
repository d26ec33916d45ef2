"""From logical plans to physical ones: which operator does what."""

from __future__ import annotations

from functools import singledispatchmethod
from typing import Any

from tidemill.algebra import nodes, sets
from tidemill.algebra.over_rows import OverRows
from tidemill.algebra.plan import Memo, Plan
from tidemill.algebra.ranking import Ranking
from tidemill.algebra.relations import is_changing
from tidemill.algebra.sets import SetOperation
from tidemill.algebra.unnest import Unnest
from tidemill.expressions.functions import Functions
from tidemill.physical.lowering.items import only, used
from tidemill.physical.lowering.joins import JoinLowering
from tidemill.physical.operator import Exec
from tidemill.physical.operators.aggregate import AggregateExec
from tidemill.physical.operators.count_window import CountWindowExec
from tidemill.physical.operators.counting import counting
from tidemill.physical.operators.distinct import DistinctExec
from tidemill.physical.operators.filter import FilterExec
from tidemill.physical.operators.granularity import GranularityExec
from tidemill.physical.operators.istream import DstreamExec, IstreamExec
from tidemill.physical.operators.merge import MergeExec
from tidemill.physical.operators.over_rows import OverRowsExec
from tidemill.physical.operators.project import ProjectExec
from tidemill.physical.operators.ranking import RankExec
from tidemill.physical.operators.session_window import SessionWindowExec
from tidemill.physical.operators.source import SourceExec
from tidemill.physical.operators.split import SplitExec
from tidemill.physical.operators.time_window import TimeWindowExec
from tidemill.physical.operators.topk import TopKExec
from tidemill.physical.operators.union import UnionExec
from tidemill.physical.operators.unnest import UnnestExec
from tidemill.physical.operators.versions import VersionsExec


def lower(plan: Plan, functions: Functions) -> Exec:
    """The physical plan of a logical one."""
    return _Lowering(functions).lower(plan, eager=False)


def operators_of(plan: Plan, functions: Functions) -> dict[int, Exec]:
    """For every part of a logical plan, by its identity, the operator that gives its result."""
    lowering = _Lowering(functions)
    lowering.lower(plan, eager=False)
    changing = {id(part): relation.plan for part, relation in lowering._changing.of.items()}
    lowered = {id(part): node for known in lowering.known.values() for part, node in known.items()}
    return changing | lowered


class _Lowering(JoinLowering):
    """`eager` is true below an operator that waits for its input's watermark."""

    def __init__(self, functions: Functions) -> None:
        super().__init__(functions)
        self.known: dict[bool, Memo[Plan, Exec]] = {
            False: Memo(lambda plan: self._lowered(plan, False)),
            True: Memo(lambda plan: self._lowered(plan, True)),
        }

    def lower(self, plan: Plan, eager: bool) -> Exec:
        """The operators of a plan; a part that occurs several times is lowered once.

        Parts that are operators already stay as they are.
        """
        if isinstance(plan, Exec):
            return plan.with_eager(True) if eager else plan
        return self.known[eager](plan)

    def _lowered(self, plan: Plan, eager: bool) -> Exec:
        return self._versions(plan, eager) if is_changing(plan) else self._rule(plan, eager)

    @singledispatchmethod
    def _rule(self, plan: Plan, eager: bool) -> Exec:
        """The operators of a node; each kind of node registers its own."""
        return self.join_rule(plan, eager)

    # Leaves and single rows

    @_rule.register
    def _scan(self, plan: nodes.Scan, eager: bool) -> Exec:
        return SourceExec(plan)

    @_rule.register
    def _filter(self, plan: nodes.Filter, eager: bool) -> Exec:
        child = self.lower(plan.child, eager)
        return FilterExec(child, plan.predicate, used(self._functions, plan.predicate))

    @_rule.register
    def _project(self, plan: nodes.Project, eager: bool) -> Exec:
        calls = used(self._functions, *(scalar for _, scalar in plan.items))
        return ProjectExec(self.lower(plan.child, eager), plan.items, calls)

    @_rule.register
    def _unnest(self, plan: Unnest, eager: bool) -> Exec:
        child, calls = self.lower(plan.child, eager), used(self._functions, plan.values)
        return UnnestExec(
            child, plan.values, plan.element, plan.ordinal, plan.outer, plan.kept, calls
        )

    def _versions(self, plan: Plan, eager: bool) -> Exec:
        """A relation that changes, as rows with known ends: for all but lookups."""
        relation = self._changing.of(plan)
        assert relation.version is not None
        return only(VersionsExec(relation.plan, relation.version, eager), plan.schema.names)

    # Windows

    @_rule.register
    def _timewindow(self, plan: nodes.TimeWindow, eager: bool) -> Exec:
        child = self._chronons(plan.child, eager)
        return TimeWindowExec(child, plan.size, plan.slide, plan.delay, **_adjusting(plan))

    @_rule.register
    def _countwindow(self, plan: nodes.CountWindow, eager: bool) -> Exec:
        child = self._chronons(plan.child, True)
        by = plan.partition_by
        return CountWindowExec(child, plan.rows, plan.slide, by, eager, **_adjusting(plan))

    @_rule.register
    def _sessionwindow(self, plan: nodes.SessionWindow, eager: bool) -> Exec:
        child = self._chronons(plan.child, True)
        return SessionWindowExec(child, plan.gap, plan.partition_by, eager)

    @_rule.register
    def _granularity(self, plan: nodes.Granularity, eager: bool) -> Exec:
        return GranularityExec(self.lower(plan.child, eager), plan.granule, **_adjusting(plan))

    def _chronons(self, plan: Plan, eager: bool) -> Exec:
        """The input of a window: split, unless every row holds for one instant anyway."""
        child = self.lower(plan, eager)
        return child if child.validity.chronon else SplitExec(self.lower(plan, True))

    @_rule.register
    def _rstream(self, plan: nodes.Rstream, eager: bool) -> Exec:
        return self._chronons(plan.child, eager)

    @_rule.register
    def _istream(self, plan: nodes.Istream, eager: bool) -> Exec:
        return IstreamExec(self.lower(plan.child, True))

    @_rule.register
    def _dstream(self, plan: nodes.Dstream, eager: bool) -> Exec:
        return DstreamExec(self.lower(plan.child, True))

    # Rows of one input together

    @_rule.register
    def _distinct(self, plan: nodes.Distinct, eager: bool) -> Exec:
        child = self.lower(plan.child, True)
        return DistinctExec(child, child.schema.names)

    @_rule.register
    def _topk(self, plan: nodes.TopK, eager: bool) -> Exec:
        return TopKExec(self.lower(plan.child, True), plan.order, plan.limit, plan.offset, eager)

    @_rule.register
    def _over_rows(self, plan: OverRows, eager: bool) -> Exec:
        child = self.lower(plan.child, True)
        return OverRowsExec(child, plan.partition_by, plan.order, plan.calls, eager)

    @_rule.register
    def _ranking(self, plan: Ranking, eager: bool) -> Exec:
        calls = used(self._functions, *(scalar for _, scalar in plan.ranked.items))
        return RankExec(self._chronons(plan.child, True), plan.ranked, calls, eager)

    @_rule.register
    def _aggregate(self, plan: nodes.Aggregate, eager: bool) -> Exec:
        child = self.lower(plan.child, True)
        distinct: list[Exec] = []
        inputs = []
        for call in plan.calls:
            if call.distinct and call.argument is not None and call.function not in ("MIN", "MAX"):
                values = self._distinct_values(child, plan.keys, call.argument)
                if values not in distinct:
                    distinct.append(values)
                inputs.append(1 + distinct.index(values))
            else:
                inputs.append(0)
        node = AggregateExec(child, tuple(distinct), plan.keys, plan.calls, tuple(inputs), eager)
        # An extreme outlives most changes of its group. What keeps rows gets fewer of them.
        worth = eager and all(c.is_extreme for c in plan.calls) and not node.validity.chronon
        return MergeExec(node, plan.keys) if worth else node

    def _distinct_values(self, child: Exec, keys: tuple[str, ...], argument: str) -> Exec:
        names = (*keys, argument) if argument not in keys else keys
        return DistinctExec(only(child, names), names)

    # Two inputs

    @_rule.register
    def _union(self, plan: sets.Union, eager: bool) -> Exec:
        return UnionExec(self.lower(plan.left, eager), self.lower(plan.right, eager))

    @_rule.register
    def _set_operation(self, plan: SetOperation, eager: bool) -> Exec:
        left, right = self.lower(plan.left, True), self.lower(plan.right, True)
        return counting(type(plan))(left, right, left.schema.names, eager)


def _adjusting(plan: nodes.Adjustable) -> dict[str, Any]:
    return {"bounds": plan.bounds, "changes": plan.changes, "knob": plan.knob}
