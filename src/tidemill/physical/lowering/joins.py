"""From logical joins to physical ones: which are looked up, and which partners to compare."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from functools import singledispatchmethod

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra import nodes
from tidemill.algebra.nodes import SourceKind
from tidemill.algebra.plan import Plan
from tidemill.algebra.relations import is_changing, is_constant, relation_scan
from tidemill.algebra.scalar import Scalar
from tidemill.algebra.star import StarJoin
from tidemill.expressions.functions import Functions
from tidemill.physical.lowering.items import computing, only, used
from tidemill.physical.lowering.relations import (
    ChangingRelations,
    RelationInput,
    lookup,
    lookup_steps,
)
from tidemill.physical.operator import Exec
from tidemill.physical.operators.aggregate import AggregateExec
from tidemill.physical.operators.distinct import DistinctExec
from tidemill.physical.operators.filter import FilterExec
from tidemill.physical.operators.join import JoinExec
from tidemill.physical.operators.join.keys import split_condition
from tidemill.physical.operators.lookup import LookupKind
from tidemill.physical.operators.merge import MergeExec
from tidemill.physical.operators.project import ProjectExec
from tidemill.physical.operators.row_number import RowNumberExec
from tidemill.physical.operators.sets import StrictDifferenceExec
from tidemill.physical.operators.star import StarJoinExec


class JoinLowering(ABC):
    """The rules for joins, semi-joins and anti-joins."""

    def __init__(self, functions: Functions) -> None:
        self._functions = functions
        self._changing = ChangingRelations(functions)
        self._row_numbers = 0

    @abstractmethod
    def lower(self, plan: Plan, eager: bool) -> Exec:
        """The operators of a plan."""

    @singledispatchmethod
    def join_rule(self, plan: Plan, eager: bool) -> Exec:
        """The operators of a join; each kind of it registers its own."""
        raise TypeError(f"no operator does what {type(plan).__name__} means")

    @join_rule.register
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
        return relation_scan(right) is not None and self.lower(left, eager).validity.chronon

    def _lookup(
        self, kind: LookupKind, left: Plan, right: Plan, condition: Scalar | None, eager: bool
    ) -> Exec:
        rows, relation = self.lower(left, eager), self._relation(right)
        return lookup(kind, rows, relation, condition, self._functions)

    def _relation(self, plan: Plan) -> RelationInput:
        if is_changing(plan):
            return self._changing.of(plan)
        scan = relation_scan(plan)
        return RelationInput(
            self.lower(plan, True), SourceKind.CONSTANT if scan is None else scan.kind
        )

    @join_rule.register
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

    @join_rule.register
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

    @join_rule.register
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
        if not names:
            # With nothing to look at, any one column tells whether there is a row at all.
            return self._existing(right)
        found = only(right, names)
        return found if _has_one_per_group(right, names) else DistinctExec(found, names)

    def _existing(self, right: Exec) -> Exec:
        constant = Scalar(exp.Literal.number(1), pa.int32())
        name = f"#exists{self._fresh()}"
        return DistinctExec(ProjectExec(right, ((name, constant),)), (name,))

    def _numbered(self, child: Exec) -> RowNumberExec:
        return RowNumberExec(child, f"#row{self._fresh()}")

    def _fresh(self) -> int:
        self._row_numbers += 1
        return self._row_numbers

    @join_rule.register
    def _starjoin(self, plan: StarJoin, eager: bool) -> Exec:
        return StarJoinExec(
            tuple(self.lower(stream, True) for stream in plan.streams),
            self._relation(plan.relation).plan,
            plan.stream_keys,
            plan.relation_keys,
            plan.shedding,
            plan.conditions,
            used(self._functions, *plan.conditions),
        )


def _has_one_per_group(plan: Plan, names: tuple[str, ...]) -> bool:
    """Whether no two rows agree in the columns at an instant, since they tell groups apart."""
    if isinstance(plan, MergeExec | FilterExec):
        return _has_one_per_group(plan.child, names)
    return isinstance(plan, AggregateExec) and set(plan.keys) <= set(names)


def _rows(relation: Plan) -> float:
    """How many rows a relation has, where that is known."""
    scan = relation_scan(relation)
    return math.inf if scan is None or scan.rows is None else scan.rows
