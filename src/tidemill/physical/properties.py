"""What is known about the validities in a stream, bottom-up through a plan.

- A chronon stream: every row holds for exactly one instant. Windows need such an input.
- End order: rows that start later do not end earlier, so state expires first in, first out.
"""

from __future__ import annotations

from tidemill.algebra import nodes
from tidemill.algebra.plan import Plan



def is_chronon(plan: Plan) -> bool:
    """Whether every row of the result holds for exactly one instant.

    >>> from tidemill.algebra import Scan, Schema, TimeWindow
    >>> bid = Scan("bid", "bid", Schema.of())
    >>> is_chronon(bid), is_chronon(TimeWindow(bid, 10))
    (True, False)
    """
    match plan:
        case nodes.Scan():
            return plan.kind is nodes.SourceKind.STREAM
        case nodes.Istream() | nodes.Dstream() | nodes.Rstream():
            return True
        case nodes.TimeWindow():
            return plan.size == 1 and plan.slide == 1
        case nodes.CountWindow():
            return False
        case nodes.Granularity():
            return plan.granule == 1 and is_chronon(plan.child)
        case nodes.Join():
            return is_chronon(plan.left) or is_chronon(plan.right)
        case nodes.SemiJoin() | nodes.AntiJoin():
            return is_chronon(plan.left)
        case nodes.Difference() | nodes.StrictDifference():
            return is_chronon(plan.left)
        case nodes.Intersection():
            return is_chronon(plan.left) or is_chronon(plan.right)
        case _:
            return all(is_chronon(child) for child in plan.children)


def has_end_order(plan: Plan) -> bool:
    """Whether the ends of rows come in the order of their starts.

    >>> from tidemill.algebra import Scan, Schema, TimeWindow, Union
    >>> bid = Scan("bid", "bid", Schema.of())
    >>> has_end_order(TimeWindow(bid, 10)), has_end_order(Union(TimeWindow(bid, 10), bid))
    (True, False)
    """
    if is_chronon(plan):
        return True
    match plan:
        case nodes.Filter() | nodes.Project() | nodes.Granularity():
            return has_end_order(plan.child)
        case nodes.TimeWindow():
            return True
        case nodes.CountWindow():
            return not plan.partition_by
        case nodes.Aggregate():
            return not plan.keys
        case nodes.Scan():
            return plan.kind is nodes.SourceKind.CONSTANT
        case _:
            return False
