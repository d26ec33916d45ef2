"""Semi-joins that find one partner at most."""

from __future__ import annotations

from tidemill.algebra.nodes import Join, Project, SemiJoin
from tidemill.algebra.plan import Plan
from tidemill.algebra.scalar import column
from tidemill.optimize.keys import finds_one


def replace_semi_joins(plan: Plan) -> Plan:
    """Replace a semi-join by a join, if a row has at most one partner.

    Joins can be ordered, and need not look for duplicates on the right.

    >>> from tidemill.optimize.examples import show
    >>> highest = "(SELECT MAX(price) FROM bid WINDOW(RANGE 5))"
    >>> show(replace_semi_joins, f"SELECT item FROM bid WHERE price = {highest}")
    01 Project [item := bid.item]
    02   SemiJoin on bid.price = max1
    03     Scan bid columns=[item, price]
    04     Aggregate [max1 := MAX(bid_2.price)]
    05       TimeWindow range=5
    06         Scan bid as bid_2 columns=[item, price]
    =>
    01 Project [item := bid.item]
    02   Project [bid.item, bid.price]
    03     Join on bid.price = max1
    04       Scan bid columns=[item, price]
    05       Aggregate [max1 := MAX(bid_2.price)]
    06         TimeWindow range=5
    07           Scan bid as bid_2 columns=[item, price]
    """
    match plan:
        case SemiJoin(left, right, condition) if finds_one(condition, left, right):
            kept = ((field.name, column(field.name, field.type)) for field in left.schema)
            return Project(Join(left, right, condition), tuple(kept))
    return plan
