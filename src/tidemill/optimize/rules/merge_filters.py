"""Two filters, one above the other."""

from __future__ import annotations

from tidemill.algebra.nodes import Filter
from tidemill.algebra.plan import Plan
from tidemill.optimize.expressions import all_of, is_total


def merge_filters(plan: Plan) -> Plan:
    """Join adjacent filters into one.

    >>> from tidemill.optimize.examples import show
    >>> from tidemill.optimize.rules.push_filters import push_filters
    >>> derived = "(SELECT * FROM bid WHERE price > 1)"
    >>> show(merge_filters, f"SELECT item FROM {derived} WHERE item > 2", after=[push_filters])
    01 Project [item := subquery1.item]
    02   Project [subquery1.item := bid.item, subquery1.price := bid.price]
    03     Filter bid.item > 2
    04       Filter bid.price > 1
    05         Scan bid columns=[item, price]
    =>
    01 Project [item := subquery1.item]
    02   Project [subquery1.item := bid.item, subquery1.price := bid.price]
    03     Filter bid.price > 1 AND bid.item > 2
    04       Scan bid columns=[item, price]
    """
    match plan:
        # In one filter the upper condition sees all rows, so it must not be able to fail.
        case Filter(Filter(child, lower), upper) if is_total(upper, child.schema):
            return Filter(child, all_of([lower, upper]))
    return plan
