"""Duplicate elimination where there are no duplicates, or where they do not matter."""

from __future__ import annotations

from tidemill.algebra import nodes, sets
from tidemill.algebra.plan import Plan
from tidemill.optimize.keys import is_distinct


def remove_distinct(plan: Plan) -> Plan:
    """Remove DISTINCT over rows that are distinct, or whose copies do not matter.

    >>> from tidemill.optimize.examples import show
    >>> count = "SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 5) GROUP BY item"
    >>> show(remove_distinct, f"SELECT DISTINCT item FROM ({count})")
    01 Distinct
    02   Project [item := subquery1.item]
    03     Project [subquery1.item := bid.item, subquery1.n := count1]
    04       Aggregate by=[bid.item] [count1 := COUNT(*)]
    05         TimeWindow range=5
    06           Scan bid columns=[item, price]
    =>
    01 Project [item := subquery1.item]
    02   Project [subquery1.item := bid.item, subquery1.n := count1]
    03     Aggregate by=[bid.item] [count1 := COUNT(*)]
    04       TimeWindow range=5
    05         Scan bid columns=[item, price]
    """
    match plan:
        case nodes.Distinct(child) if is_distinct(child):
            return child
        case nodes.Distinct(sets.SetOperation() as both) if not both.facts.drops_rows:
            return plan.with_children([both.with_children(_with_copies(*both.children))])
        case sets.StrictDifference() | nodes.SemiJoin() | nodes.AntiJoin():
            # Whether there is an equal row, or a partner, does not depend on copies.
            return plan.with_children([plan.left, *_with_copies(plan.right)])
    return plan


def _with_copies(*sides: Plan) -> list[Plan]:
    return [side.child if isinstance(side, nodes.Distinct) else side for side in sides]
