"""Filters above joins."""

from __future__ import annotations

from tidemill.algebra.nodes import Filter, Join
from tidemill.algebra.plan import Plan
from tidemill.algebra.scalar import conjuncts
from tidemill.expressions.bounds import bounds_of
from tidemill.optimize.expressions import all_of, is_total


def join_on_filters(plan: Plan) -> Plan:
    """Move a filter above a join, or a product, into its condition.

    >>> from tidemill.optimize.examples import show
    >>> show(join_on_filters, "SELECT price FROM bid, auction WHERE bid.item < auction.item")
    01 Project [price := bid.price]
    02   Filter bid.item < auction.item
    03     Join
    04       Scan bid columns=[item, price]
    05       Scan auction columns=[item, seller]
    =>
    01 Project [price := bid.price]
    02   Join on bid.item < auction.item
    03     Scan bid columns=[item, price]
    04     Scan auction columns=[item, seller]
    """
    match plan:
        case Filter(Join(left, right, condition) as join, predicate):
            parts = conjuncts(predicate)
            # A join tries its condition on pairs that the rest of it rejects: it must not fail.
            moved = [part for part in parts if part.columns and is_total(part, join.schema)]
            if condition is None:  # there is no rest, and ranges spare it most pairs
                sides = [left.schema, right.schema]
                moved = [part for part in parts if part in moved or bounds_of([part], sides)]
            if moved:
                joined = Join(left, right, all_of([*conjuncts(condition), *moved]))
                kept = [part for part in parts if part not in moved]
                return Filter(joined, all_of(kept)) if kept else joined
    return plan
