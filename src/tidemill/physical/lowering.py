"""From logical plans to physical ones: which operator does what."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tidemill.algebra import nodes
from tidemill.algebra.plan import Memo, Plan
from tidemill.algebra.ranking import Ranking
from tidemill.algebra.relations import is_changing
from tidemill.expressions.functions import Functions
from tidemill.physical.aggregate import AggregateExec
from tidemill.physical.count_window import CountWindowExec
from tidemill.physical.difference import DifferenceExec
from tidemill.physical.distinct import DistinctExec
from tidemill.physical.eagerness import eager as as_eager
from tidemill.physical.filter import FilterExec
from tidemill.physical.granularity import GranularityExec
from tidemill.physical.intersection import IntersectionExec
from tidemill.physical.istream import DstreamExec, IstreamExec
from tidemill.physical.items import only, used
from tidemill.physical.lowering_joins import JoinLowering
from tidemill.physical.max_union import MaxUnionExec
from tidemill.physical.merge import MergeExec
from tidemill.physical.operator import Exec
from tidemill.physical.project import ProjectExec
from tidemill.physical.properties import is_chronon
from tidemill.physical.ranking import RankExec
from tidemill.physical.source import SourceExec
from tidemill.physical.split import SplitExec
from tidemill.physical.strict_difference import StrictDifferenceExec
from tidemill.physical.time_window import TimeWindowExec
from tidemill.physical.topk import TopKExec
from tidemill.physical.union import UnionExec
from tidemill.physical.versions import VersionsExec


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
            False: Memo(lambda plan: self._rule(plan)(plan, False)),
            True: Memo(lambda plan: self._rule(plan)(plan, True)),
        }

    def lower(self, plan: Plan, eager: bool) -> Exec:
        """The operators of a plan; a part that occurs several times is lowered once.

        Parts that are operators already stay as they are.
        """
        if isinstance(plan, Exec):
            return as_eager(plan) if eager else plan
        return self.known[eager](plan)

    def _rule(self, plan: Plan) -> Callable[[Any, bool], Exec]:
        if is_changing(plan):
            return self._versions
        rule: Callable[[Any, bool], Exec] = getattr(self, f"_{type(plan).__name__.lower()}")
        return rule

    # Leaves and single rows

    def _scan(self, plan: nodes.Scan, eager: bool) -> Exec:
        return SourceExec(plan)

    def _filter(self, plan: nodes.Filter, eager: bool) -> Exec:
        child = self.lower(plan.child, eager)
        return FilterExec(child, plan.predicate, used(self._functions, plan.predicate))

    def _project(self, plan: nodes.Project, eager: bool) -> Exec:
        calls = used(self._functions, *(scalar for _, scalar in plan.items))
        return ProjectExec(self.lower(plan.child, eager), plan.items, calls)

    def _versions(self, plan: Plan, eager: bool) -> Exec:
        """A relation that changes, as rows with known ends: for all but lookups."""
        relation = self._changing.of(plan)
        assert relation.version is not None
        return only(VersionsExec(relation.plan, relation.version, eager), plan.schema.names)

    # Windows

    def _timewindow(self, plan: nodes.TimeWindow, eager: bool) -> Exec:
        child = self._chronons(plan.child, eager)
        return TimeWindowExec(child, plan.size, plan.slide, **_adjusting(plan))

    def _countwindow(self, plan: nodes.CountWindow, eager: bool) -> Exec:
        child = self._chronons(plan.child, True)
        by = plan.partition_by
        return CountWindowExec(child, plan.rows, plan.slide, by, eager, **_adjusting(plan))

    def _granularity(self, plan: nodes.Granularity, eager: bool) -> Exec:
        return GranularityExec(self.lower(plan.child, eager), plan.granule, **_adjusting(plan))

    def _chronons(self, plan: Plan, eager: bool) -> Exec:
        """The input of a window: split, unless every row holds for one instant anyway."""
        child = self.lower(plan, eager)
        return child if is_chronon(child) else SplitExec(self.lower(plan, True))

    def _rstream(self, plan: nodes.Rstream, eager: bool) -> Exec:
        return self._chronons(plan.child, eager)

    def _istream(self, plan: nodes.Istream, eager: bool) -> Exec:
        return IstreamExec(self.lower(plan.child, True))

    def _dstream(self, plan: nodes.Dstream, eager: bool) -> Exec:
        return DstreamExec(self.lower(plan.child, True))

    # Rows of one input together

    def _distinct(self, plan: nodes.Distinct, eager: bool) -> Exec:
        child = self.lower(plan.child, True)
        return DistinctExec(child, child.schema.names)

    def _topk(self, plan: nodes.TopK, eager: bool) -> Exec:
        return TopKExec(self.lower(plan.child, True), plan.order, plan.limit, plan.offset, eager)

    def _ranking(self, plan: Ranking, eager: bool) -> Exec:
        calls = used(self._functions, *(scalar for _, scalar in plan.ranked.items))
        return RankExec(self._chronons(plan.child, True), plan.ranked, calls, eager)

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
        worth = eager and all(c.is_extreme for c in plan.calls) and not is_chronon(node)
        return MergeExec(node, plan.keys) if worth else node

    def _distinct_values(self, child: Exec, keys: tuple[str, ...], argument: str) -> Exec:
        names = (*keys, argument) if argument not in keys else keys
        return DistinctExec(only(child, names), names)

    # Two inputs

    def _union(self, plan: nodes.Union, eager: bool) -> Exec:
        return UnionExec(self.lower(plan.left, eager), self.lower(plan.right, eager))

    def _difference(self, plan: nodes.Difference, eager: bool) -> Exec:
        return self._counting(DifferenceExec, plan, eager)

    def _strictdifference(self, plan: nodes.StrictDifference, eager: bool) -> Exec:
        return self._counting(StrictDifferenceExec, plan, eager)

    def _intersection(self, plan: nodes.Intersection, eager: bool) -> Exec:
        return self._counting(IntersectionExec, plan, eager)

    def _maxunion(self, plan: nodes.MaxUnion, eager: bool) -> Exec:
        return self._counting(MaxUnionExec, plan, eager)

    def _counting(self, kind: type[Any], plan: nodes.SetOperation, eager: bool) -> Exec:
        left, right = self.lower(plan.left, True), self.lower(plan.right, True)
        result: Exec = kind(left, right, left.schema.names, eager)
        return result


def _adjusting(plan: nodes.Adjustable) -> dict[str, Any]:
    return {"bounds": plan.bounds, "changes": plan.changes, "knob": plan.knob}
