"""Columns that are never NULL."""

from __future__ import annotations

from sqlglot import exp

from tidemill.algebra import nodes, sets
from tidemill.algebra.over_rows import OverRows
from tidemill.algebra.plan import Plan
from tidemill.algebra.scalar import Scalar, conjuncts
from tidemill.algebra.unnest import Unnest
from tidemill.optimize.sharing import opened

_STRICT = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)


def never_null(scalar: Scalar, plan: Plan) -> bool:
    """Whether an expression surely has a value in every row of a plan.

    >>> from tidemill.algebra.scalar import column
    >>> from tidemill.optimize.examples import plan_of
    >>> count = plan_of("SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 5) GROUP BY item")
    >>> [never_null(column(each.name, each.type), count) for each in count.schema]
    [False, True]
    """
    if isinstance(scalar.node, exp.Literal | exp.Boolean):
        return True
    return scalar.is_column and _has_values(scalar.node.name, plan)


def _has_values(name: str, plan: Plan) -> bool:
    plan = opened(plan)
    match plan:
        case nodes.Filter(child, predicate):
            return _is_tested(name, predicate) or _has_values(name, child)
        case nodes.Project(child, items):
            return never_null(dict(items)[name], child)
        case nodes.Aggregate(child, keys):
            return _has_values(name, child) if name in keys else _is_counted(name, plan)
        case OverRows(child):
            return name in child.schema and _has_values(name, child)
        case Unnest(child, kept=kept):
            return name in kept and _has_values(name, child)
        case nodes.Unary(child):
            return _has_values(name, child)
        case nodes.Join(left, right, condition):
            side = left if name in left.schema else right
            return _is_tested(name, condition) or _has_values(name, side)
        case sets.SetOperation() if plan.facts.sides is sets.Sides.EITHER:
            return all(_has_values(name, side) for side in plan.children)
        case nodes.Binary(left):
            return _has_values(name, left)
    return False


def _is_counted(name: str, plan: nodes.Aggregate) -> bool:
    """Whether an aggregate has an answer for every group: none is empty."""
    call = next(call for call in plan.calls if call.name == name)
    if call.user is not None or call.argument is None:
        return call.user is None
    return call.function == "COUNT" or (call.is_extreme and _has_values(call.argument, plan.child))


def _is_tested(name: str, condition: Scalar | None) -> bool:
    """Whether a condition is true only of rows with a value in the column."""
    return any(_asks_for(name, part.node.unnest()) for part in conjuncts(condition))


def _asks_for(name: str, node: exp.Expr) -> bool:
    if isinstance(node, exp.Not):
        inner = node.this.unnest()
        is_null = isinstance(inner, exp.Is) and isinstance(inner.expression, exp.Null)
        return is_null and _is_column(name, inner.this)
    return isinstance(node, _STRICT) and any(
        _is_column(name, side) for side in (node.left, node.right)
    )


def _is_column(name: str, node: exp.Expr) -> bool:
    inner = node.unnest()
    return isinstance(inner, exp.Column) and inner.name == name
