"""Conditions that follow from others."""

from __future__ import annotations

from tidemill.algebra.nodes import Join
from tidemill.algebra.plan import Plan
from tidemill.algebra.scalar import conjuncts
from tidemill.optimize.expressions import all_of
from tidemill.optimize.implied import implied_tests


def derive_filters(plan: Plan) -> Plan:
    """Apply a test to equal columns, too: from a = b and b = 5 follows a = 5.

    >>> from tidemill.optimize.examples import show
    >>> join = "bid b JOIN auction a ON a.item = b.item AND a.item IN (5, 7)"
    >>> show(derive_filters, f"SELECT price FROM {join}")
    01 Project [price := b.price]
    02   Join on a.item = b.item AND a.item IN (5, 7)
    03     Scan bid as b columns=[item, price]
    04     Scan auction as a columns=[item, seller]
    =>
    01 Project [price := b.price]
    02   Join on a.item = b.item AND a.item IN (5, 7) AND b.item IN (5, 7)
    03     Scan bid as b columns=[item, price]
    04     Scan auction as a columns=[item, seller]
    """
    match plan:
        case Join(left, right, condition):
            parts = conjuncts(condition)
            if new := implied_tests(plan, parts):
                return Join(left, right, all_of([*parts, *new]))
    return plan
