"""Conditions that contain subqueries: EXISTS, IN, ANY and ALL, by semi and anti joins.

Such a condition is true, false or NULL for a row. The rows of each case are a plan of their own,
and the rest of the condition is simplified for each case; most cases then vanish. So a plain
`x IN (SELECT y ...)` is just a semi-join on x = y.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra import AntiJoin, Filter, Plan, Scalar, SemiJoin, Union
from tidemill.analyze.folding import FALSE, NULL, TRUE, as_filter
from tidemill.analyze.inner import Inner, plan_inner
from tidemill.analyze.scalar_subqueries import attach_scalars, compare_directly, with_single_rows
from tidemill.analyze.stage import PlanStage, with_column
from tidemill.analyze.trees import COMPARISONS, all_of, outside_subqueries, rewrite
from tidemill.errors import PlanError
from tidemill.sql import error_at

_OPPOSITE: dict[type[exp.Expr], type[exp.Binary]] = {
    exp.EQ: exp.NEQ,
    exp.NEQ: exp.EQ,
    exp.LT: exp.GTE,
    exp.GTE: exp.LT,
    exp.GT: exp.LTE,
    exp.LTE: exp.GT,
    exp.NullSafeEQ: exp.NullSafeNEQ,
    exp.NullSafeNEQ: exp.NullSafeEQ,
}
_VALUES = (TRUE, FALSE, NULL)


def filter_with_subqueries(stage: PlanStage, node: exp.Expr, clause: str) -> None:
    """Keep the rows of a stage for which a bound condition with subqueries is true."""
    node = with_single_rows(node, stage)
    if compare_directly(stage, node):
        return
    node = as_filter(attach_scalars(stage, node))
    stage.plan = _split(stage, stage.plan, node, _predicates(stage, node), clause)


def attach(stage: PlanStage, node: exp.Expr) -> exp.Expr:
    """Give the stage a column for every subquery of a bound expression; the plain expression."""
    node = attach_scalars(stage, with_single_rows(node, stage))
    for predicate in _predicates(stage, node):
        name = stage.context.fresh("found")
        plans = []
        for value in _VALUES:
            if (plan := predicate.rows(stage.plan, value)) is not None:
                plans.append(with_column(plan, name, Scalar(value.copy(), pa.bool_())))
        stage.plan = _union(plans)
        node = _substitute(node, predicate.node, exp.column(name, quoted=True))
    return node


def _split(
    stage: PlanStage, plan: Plan, node: exp.Expr, predicates: Sequence[_Predicate], clause: str
) -> Plan:
    """The rows for which the condition is true, by the cases of its predicates."""
    remaining = [each for each in predicates if any(each.node == p for p in node.walk())]
    if not remaining:
        if node == TRUE:
            return plan
        around = PlanStage(stage.context, plan, stage.scope)
        return Filter(plan, around.condition(node, clause))
    plans = []
    for value in _VALUES:
        case = as_filter(_substitute(node, remaining[0].node, value))
        rows = remaining[0].rows(plan, value) if case != FALSE else None
        if rows is not None:
            plans.append(_split(stage, rows, case, remaining[1:], clause))
    return _union(plans) if plans else Filter(plan, Scalar(FALSE.copy(), pa.bool_()))


def _union(plans: Sequence[Plan]) -> Plan:
    whole = plans[0]
    for plan in plans[1:]:
        whole = Union(whole, plan)
    return whole


def _substitute(node: exp.Expr, part: exp.Expr, value: exp.Expr) -> exp.Expr:
    return rewrite(node, lambda each: value.copy() if each == part else None)


def _predicates(stage: PlanStage, node: exp.Expr) -> list[_Predicate]:
    found: dict[exp.Expr, _Predicate] = {}
    for part in outside_subqueries(node):
        if part not in found and (predicate := _predicate(stage, part)) is not None:
            found[part] = predicate
    return list(found.values())


def _predicate(stage: PlanStage, node: exp.Expr) -> _Predicate | None:
    if isinstance(node, exp.Exists):
        return _Predicate(stage, node, "EXISTS", _inner(stage, _unlimited(node.this)))
    if isinstance(node, exp.In) and node.args.get("query") is not None:
        inner = _inner(stage, node.args["query"])
        return _Predicate(stage, node, "ANY", inner, exp.EQ, node.this)
    if isinstance(node, COMPARISONS) and isinstance(node.expression, exp.Any | exp.All):
        kind = "ANY" if isinstance(node.expression, exp.Any) else "ALL"
        inner = _inner(stage, node.expression.this)
        return _Predicate(stage, node, kind, inner, type(node), node.this)
    return None


def _unlimited(tree: exp.Expr) -> exp.Expr:
    """The query without its LIMIT, which changes nothing about whether there are rows."""
    query = tree.copy()
    plain = query.unnest()
    limit = plain.args.get("limit")
    if limit is None or plain.args.get("offset") or limit.expression.name == "0":
        return tree
    plain.set("limit", None)
    plain.set("order", None)
    return query


def _inner(stage: PlanStage, tree: exp.Expr) -> Inner:
    query = tree.copy()
    plain = query.unnest()
    if isinstance(plain, exp.Select) and not plain.args.get("limit"):
        plain.set("distinct", None)  # the number of partners does not matter
    return plan_inner(query, stage)


@dataclass
class _Predicate:
    """A predicate over a subquery, and the rows for which it has a value."""

    stage: PlanStage
    node: exp.Expr
    kind: str
    inner: Inner
    operator: type[exp.Expr] = exp.EQ
    operand: exp.Expr | None = None

    def rows(self, plan: Plan, value: exp.Expr) -> Plan | None:
        """The rows of the plan for which the predicate has this value; None: there are none."""
        if self.kind == "EXISTS":
            return None if value == NULL else self._join(plan, value == TRUE, [])
        test = self._test()
        decisive = test if self.kind == "ANY" else self._negated(test)
        unknown = exp.Is(this=exp.Paren(this=test.copy()), expression=exp.null())
        if value == NULL:
            return self._undecided(plan, decisive, unknown)
        if (value == TRUE) == (self.kind == "ANY"):
            return self._join(plan, True, [decisive])
        if self._is_total:
            return self._join(plan, False, [decisive])
        return self._join(plan, False, [exp.Paren(this=exp.or_(decisive, unknown))])

    def _undecided(self, plan: Plan, decisive: exp.Expr, unknown: exp.Expr) -> Plan | None:
        if self._is_total:
            return None
        return self._join(self._join(plan, False, [decisive]), True, [unknown])

    @property
    def _is_total(self) -> bool:
        return self.operator in (exp.NullSafeEQ, exp.NullSafeNEQ)

    def _negated(self, test: exp.Expr) -> exp.Expr:
        return _OPPOSITE[type(test)](this=test.this.copy(), expression=test.expression.copy())

    def _test(self) -> exp.Expr:
        """The comparison of the operand with the columns of the subquery."""
        assert self.operand is not None
        operand = self.operand.unnest()
        sides = operand.expressions if isinstance(operand, exp.Tuple) else [operand]
        outputs = self.inner.relation.outputs
        if len(sides) != len(outputs) or (self.kind == "ALL" and len(sides) > 1):
            message = (
                f"the subquery has {len(outputs)} columns, what it is compared with {len(sides)}"
            )
            help = "select as many columns in the subquery; ALL takes one"
            raise error_at(PlanError, message, self.node, help)
        tests = (
            self.operator(this=side.copy(), expression=output.scalar.node.copy())
            for side, output in zip(sides, outputs, strict=True)
        )
        test = all_of(tests)
        assert test is not None
        return test

    def _join(self, plan: Plan, wanted: bool, tests: list[exp.Expr]) -> Plan:
        right = self.inner.relation.plan
        node = all_of([*self.inner.conditions, *tests])
        around = PlanStage(self.stage.context, plan, self.stage.scope, right.schema)
        condition = around.condition(node, "WHERE") if node is not None else None
        return (SemiJoin if wanted else AntiJoin)(plan, right, condition)
