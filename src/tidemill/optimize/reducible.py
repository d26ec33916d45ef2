"""Snapshot-reducible operators and subplans.

An operator is snapshot-reducible if its result at an instant depends on its inputs at that
instant only, as its relational counterpart says. The laws of relational algebra hold for plans
of such operators. Windows, granularity, and what turns relations into streams look at other
instants.
"""

from __future__ import annotations

from tidemill.algebra import nodes
from tidemill.algebra.plan import Plan
from tidemill.algebra.ranking import Ranking
from tidemill.algebra.star import StarJoin

_OTHER_INSTANTS = (
    nodes.TimeWindow,
    nodes.CountWindow,
    nodes.Granularity,
    nodes.Istream,
    nodes.Dstream,
    nodes.Rstream,
    Ranking,  # its window is part of it
    StarJoin,  # what is kept depends on what came before
)


def is_reducible(node: Plan) -> bool:
    """Whether the operator itself is snapshot-reducible; a source is no operator.

    >>> from tidemill.algebra import Distinct, Scan, Schema, TimeWindow
    >>> bid = Scan("bid", "bid", Schema(()))
    >>> is_reducible(Distinct(bid)), is_reducible(TimeWindow(bid, 10)), is_reducible(bid)
    (True, False, False)
    """
    return bool(node.children) and not isinstance(node, _OTHER_INSTANTS)


def reducible_subplans(plan: Plan) -> list[Plan]:
    """The tops of the largest snapshot-reducible subplans, from the top of the plan.

    A subplan ends where a source or an operator begins that is not snapshot-reducible.

    >>> from tidemill.algebra import Distinct, Filter, Scan, Schema, TimeWindow, Union
    >>> once = Distinct(Scan("bid", "bid", Schema(())))
    >>> plan = Distinct(Union(TimeWindow(once, 5), once))
    >>> [top.label for top in reducible_subplans(plan)]
    ['Distinct', 'Distinct']
    """
    found: list[Plan] = []
    seen: set[int] = set()
    waiting = [(plan, False)]
    while waiting:
        node, inside = waiting.pop()
        reducible = is_reducible(node)
        if reducible and not inside and all(node is not top for top in found):
            found.append(node)
        if id(node) in seen:
            continue
        seen.add(id(node))
        waiting.extend((child, reducible) for child in reversed(node.children))
    return found
