"""Parts of a plan that never have a row."""

from __future__ import annotations

from sqlglot import exp

from tidemill.algebra import nodes, sets
from tidemill.algebra.plan import Plan
from tidemill.optimize.sharing import opened


def remove_empty_parts(plan: Plan) -> Plan:
    """Remove subplans that are known to have no rows.

    An outer join whose rows without partner are filtered away becomes an inner join:

    >>> from tidemill.optimize.examples import show
    >>> from tidemill.optimize.rules.push_filters import push_filters
    >>> from tidemill.optimize.rules.simplify_filters import simplify_filters
    >>> sql = "SELECT price FROM bid LEFT JOIN seller ON id = item WHERE id > 7"
    >>> show(remove_empty_parts, sql, after=[push_filters, simplify_filters])
    01 Project [price := bid.price]
    02   Union
    03     Filter seller.id > 7
    04       Join on seller.id = bid.item
    05         Scan bid columns=[item, price]
    06         Scan seller columns=[id] constant
    07     Project [bid.item, bid.price, seller.id := CAST(NULL AS BIGINT)]
    08       Filter FALSE
    09         AntiJoin on seller.id = bid.item
    10           Scan bid columns=[item, price]
    11           Scan seller columns=[id] constant
    =>
    01 Project [price := bid.price]
    02   Filter seller.id > 7
    03     Join on seller.id = bid.item
    04       Scan bid columns=[item, price]
    05       Scan seller columns=[id] constant
    """
    match plan:
        case sets.SetOperation(left, right) if plan.facts.keeps_alone:
            if is_empty(right):
                return left
            if is_empty(left) and plan.facts.sides is sets.Sides.EITHER:
                return right
        case nodes.AntiJoin(left, right):
            if is_empty(right):
                return left
    return plan


def is_empty(plan: Plan) -> bool:
    """Whether the plan surely has no rows: somewhere a filter keeps none."""
    plan = opened(plan)
    match plan:
        case nodes.Filter(child, predicate):
            never = isinstance(predicate.node, exp.Boolean) and predicate.node.this is False
            return never or is_empty(child)
        case sets.SetOperation() if plan.facts.sides is sets.Sides.EITHER:
            return all(map(is_empty, plan.children))
        case sets.SetOperation() if plan.facts.sides is sets.Sides.LEFT:
            return is_empty(plan.left)
        case nodes.AntiJoin():
            return is_empty(plan.left)
    # An aggregate of nothing is nothing; so is a join with nothing, or what both sides have.
    return any(map(is_empty, plan.children))
