"""From logical plans to physical ones: which operator does what."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra import nodes
from tidemill.algebra.nodes import SourceKind
from tidemill.algebra.plan import Plan
from tidemill.algebra.relations import is_changing, is_constant, relation_scan
from tidemill.algebra.scalar import Scalar
from tidemill.algebra.star import StarJoin
from tidemill.expressions.functions import Functions
from tidemill.physical.aggregate import AggregateExec
from tidemill.physical.count_window import CountWindowExec
from tidemill.physical.difference import DifferenceExec
from tidemill.physical.distinct import DistinctExec
from tidemill.physical.filter import FilterExec
from tidemill.physical.granularity import GranularityExec
from tidemill.physical.intersection import IntersectionExec
from tidemill.physical.istream import DstreamExec, IstreamExec
from tidemill.physical.items import computing, only, used
from tidemill.physical.join import JoinExec
from tidemill.physical.join.keys import split_condition
from tidemill.physical.lookup import LookupKind
from tidemill.physical.max_union import MaxUnionExec
from tidemill.physical.merge import MergeExec
from tidemill.physical.operator import Exec
from tidemill.physical.project import ProjectExec
from tidemill.physical.properties import is_chronon
from tidemill.physical.relations import Relation, lookup, lookup_steps, relation_of
from tidemill.physical.row_number import RowNumberExec
from tidemill.physical.source import SourceExec
from tidemill.physical.split import SplitExec
from tidemill.physical.star import StarJoinExec
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
    return {part: operator for (part, _), operator in lowering._done.items()}


class _Lowering:
    """`eager` is true below an operator that waits for its input's watermark."""

    def __init__(self, functions: Functions) -> None:
        self._functions = functions
        self._row_numbers = 0
        self._done: dict[tuple[int, bool], Exec] = {}

    def lower(self, plan: Plan, eager: bool) -> Exec:
        """The operators of a plan; a part that occurs several times is lowered once."""
        key = (id(plan), eager)
        if key not in self._done:
            self._done[key] = self._rule(plan)(plan, eager)
        return self._done[key]

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
        relation = relation_of(plan, self._functions)
        assert relation.version is not None
        return only(VersionsExec(relation.plan, relation.version, eager), plan.schema.names)

    # Windows

    def _timewindow(self, plan: nodes.TimeWindow, eager: bool) -> Exec:
        return TimeWindowExec(self._chronons(plan.child, eager), plan.size, plan.slide)

    def _countwindow(self, plan: nodes.CountWindow, eager: bool) -> Exec:
        child = self._chronons(plan.child, True)
        return CountWindowExec(child, plan.rows, plan.slide, plan.partition_by, eager)

    def _granularity(self, plan: nodes.Granularity, eager: bool) -> Exec:
        return GranularityExec(self.lower(plan.child, eager), plan.granule)

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
        worth = (
            eager and plan.keys and all(c.is_extreme for c in plan.calls) and not is_chronon(node)
        )
        return MergeExec(node, plan.keys) if worth else node

    def _distinct_values(self, child: Exec, keys: tuple[str, ...], argument: str) -> Exec:
        names = (*keys, argument) if argument not in keys else keys
        return DistinctExec(only(child, names), names)

    # Two inputs

    def _starjoin(self, plan: StarJoin, eager: bool) -> Exec:
        return StarJoinExec(
            tuple(self.lower(stream, True) for stream in plan.streams),
            relation_of(plan.relation, self._functions).plan,
            plan.stream_keys,
            plan.relation_keys,
            plan.shedding,
            plan.conditions,
            used(self._functions, *plan.conditions),
        )

    def _union(self, plan: nodes.Union, eager: bool) -> Exec:
        return UnionExec(self.lower(plan.left, eager), self.lower(plan.right, eager))

    def _join(self, plan: nodes.Join, eager: bool) -> Exec:
        sides = ((plan.left, plan.right), (plan.right, plan.left))
        ways = [(one, other) for one, other in sides if self._is_lookup(one, other, eager)]
        if ways:
            one, other = min(ways, key=lambda way: _rows(way[1]))
            found = self._lookup(LookupKind.INNER, one, other, plan.condition, eager)
            return only(found, plan.schema.names)
        left, right = self.lower(plan.left, True), self.lower(plan.right, True)
        return self._joined(left, right, plan.condition)

    def _is_lookup(self, left: Plan, right: Plan, eager: bool) -> bool:
        """Whether rows of the left side find all their partners when they start."""
        if is_constant(right):
            return True
        return relation_scan(right) is not None and is_chronon(self.lower(left, eager))

    def _lookup(
        self, kind: LookupKind, left: Plan, right: Plan, condition: Scalar | None, eager: bool
    ) -> Exec:
        rows, relation = self.lower(left, eager), self._relation(right)
        return lookup(kind, rows, relation, condition, self._functions)

    def _relation(self, plan: Plan) -> Relation:
        if relation_scan(plan) is not None:
            return relation_of(plan, self._functions)
        return Relation(self.lower(plan, True), SourceKind.CONSTANT)

    def _multijoin(self, plan: nodes.MultiJoin, eager: bool) -> Exec:
        streams = [number for number, child in enumerate(plan.inputs) if not is_constant(child)]
        if len(streams) <= 1:
            return self._lookups(plan, streams[0] if streams else 0, eager)
        inputs = tuple(self.lower(child, True) for child in plan.inputs)
        calls = used(self._functions, *plan.conditions)
        return JoinExec(inputs, plan.keys, plan.conditions, orders=plan.orders, functions=calls)

    def _lookups(self, plan: nodes.MultiJoin, origin: int, eager: bool) -> Exec:
        """Rows of one input find all others, which are constant, one after the other."""
        found = self.lower(plan.inputs[origin], eager)
        for number, condition in lookup_steps(plan, origin):
            relation = self._relation(plan.inputs[number])
            names = found.schema.names + relation.plan.schema.names
            pairs = lookup(LookupKind.INNER, found, relation, condition, self._functions)
            found = only(pairs, names)
        return only(found, plan.schema.names)

    def _joined(self, left: Exec, right: Exec, condition: Scalar | None) -> Exec:
        """A join; columns that were computed for its keys are taken away again."""
        split = split_condition(condition, left.schema, right.schema)
        with_left = computing(left, split.left_items, self._functions)
        with_right = computing(right, split.right_items, self._functions)
        keys = (tuple(k.left for k in split.keys), tuple(k.right for k in split.keys))
        joined = JoinExec(
            (with_left, with_right),
            keys,
            () if split.residual is None else (split.residual,),
            tuple(key.null_safe for key in split.keys),
            functions=used(self._functions, split.residual),
        )
        return only(joined, left.schema.names + right.schema.names)

    def _semijoin(self, plan: nodes.SemiJoin, eager: bool) -> Exec:
        if self._is_lookup(plan.left, plan.right, eager):
            found = self._lookup(LookupKind.SEMI, plan.left, plan.right, plan.condition, eager)
            return only(found, plan.schema.names)
        left, right = self.lower(plan.left, True), self.lower(plan.right, True)
        split = split_condition(plan.condition, left.schema, right.schema)
        partners = self._partners(right, plan.condition)
        if split.residual is None and split.keys and not split.right_items:
            # Without duplicates on the right, equality finds at most one partner at a time
            # (not so for computed keys: different values may give the same key).
            return only(self._joined(left, partners, plan.condition), left.schema.names)
        numbered = self._numbered(left)
        pairs = self._joined(numbered, partners, plan.condition)
        matched = only(pairs, numbered.schema.names)
        once = DistinctExec(matched, (numbered.name,))
        return only(once, left.schema.names)

    def _antijoin(self, plan: nodes.AntiJoin, eager: bool) -> Exec:
        if self._is_lookup(plan.left, plan.right, eager):
            found = self._lookup(LookupKind.ANTI, plan.left, plan.right, plan.condition, eager)
            return only(found, plan.schema.names)
        left, right = self.lower(plan.left, True), self.lower(plan.right, True)
        numbered = self._numbered(left)
        pairs = self._joined(numbered, self._partners(right, plan.condition), plan.condition)
        matched = only(pairs, numbered.schema.names)
        unmatched = StrictDifferenceExec(numbered, matched, (numbered.name,), eager)
        return only(unmatched, left.schema.names)

    def _partners(self, right: Exec, condition: Scalar | None) -> Exec:
        """What the condition looks at on the right, once per instant."""
        used = condition.columns if condition is not None else frozenset()
        names = tuple(name for name in right.schema.names if name in used)
        # With nothing to look at, any one column tells whether there is a row at all.
        return self._existing(right) if not names else DistinctExec(only(right, names), names)

    def _existing(self, right: Exec) -> Exec:
        constant = Scalar(exp.Literal.number(1), pa.int32())
        name = f"#exists{self._fresh()}"
        return DistinctExec(ProjectExec(right, ((name, constant),)), (name,))

    def _numbered(self, child: Exec) -> RowNumberExec:
        return RowNumberExec(child, f"#row{self._fresh()}")

    def _fresh(self) -> int:
        self._row_numbers += 1
        return self._row_numbers

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


def _rows(relation: Plan) -> float:
    """How many rows a relation has, where that is known."""
    scan = relation_scan(relation)
    return math.inf if scan is None or scan.rows is None else scan.rows
