"""Numbers of rows that are only tested."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from tidemill.algebra.nodes import Filter, Project, TopK
from tidemill.algebra.over_rows import OverRows
from tidemill.algebra.plan import Plan
from tidemill.algebra.scalar import Scalar, conjuncts
from tidemill.optimize.expressions import all_of

_TURNED: dict[type[exp.Expr], type[exp.Binary]] = {exp.GT: exp.LT, exp.GTE: exp.LTE, exp.EQ: exp.EQ}

_DIGITS = 18
"""Of numbers that fit into 64 bits, whatever they are."""


def take_first_rows(plan: Plan) -> Plan:
    """Take the first rows where their ROW_NUMBER is only compared with a constant.

    >>> from tidemill.optimize.examples import show
    >>> rows = "bid WINDOW(RANGE 5) QUALIFY ROW_NUMBER() OVER (ORDER BY price DESC) <= 3"
    >>> show(take_first_rows, f"SELECT item, price FROM {rows}")
    01 Project [item := bid.item, price := bid.price]
    02   Filter row1 <= 3
    03     OverRows order=[bid.price DESC] [row1 := ROW_NUMBER()]
    04       TimeWindow range=5
    05         Scan bid columns=[item, price]
    =>
    01 Project [item := bid.item, price := bid.price]
    02   TopK order=[bid.price DESC] limit=3
    03     TimeWindow range=5
    04       Scan bid columns=[item, price]
    """
    match plan:
        case Project(Filter(OverRows(child, (), order, (call,)), predicate), items):
            number = call.name
            bounds = [_most(part, number) for part in conjuncts(predicate)]
            known = [bound for bound in bounds if bound is not None]
            pairs = zip(conjuncts(predicate), bounds, strict=True)
            rest = [part for part, bound in pairs if bound is None]
            asked = [*rest, *(scalar for _, scalar in items)]
            if call.function != "ROW_NUMBER" or not known or min(known) < 1:
                return plan
            if any(number in part.columns for part in asked):
                return plan
            return Project(_filtered(TopK(child, order, min(known)), rest), items)
    return plan


def _filtered(plan: Plan, conditions: Sequence[Scalar]) -> Plan:
    return Filter(plan, all_of(conditions)) if conditions else plan


def _most(test: Scalar, number: str) -> int | None:
    """The largest number that passes a test on it alone; None if the test says something else."""
    node = test.node.unnest()
    if not isinstance(node, exp.Binary):
        return None
    if type(node) in _TURNED and isinstance(node.left, exp.Literal):
        node = _TURNED[type(node)](this=node.right, expression=node.left)
    if not isinstance(node, exp.LT | exp.LTE | exp.EQ) or not _is(node.left, number):
        return None
    bound = node.right.unnest()
    if not isinstance(bound, exp.Literal) or bound.is_string or not bound.name.isdecimal():
        return None
    if len(bound.name) > _DIGITS:
        return None
    most = int(bound.name)
    if isinstance(node, exp.EQ):
        return 1 if most == 1 else None
    return most - isinstance(node, exp.LT)


def _is(node: exp.Expr, name: str) -> bool:
    inner = node.unnest()
    return isinstance(inner, exp.Column) and inner.name == name
