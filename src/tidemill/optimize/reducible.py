"""Snapshot-reducible operators.

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
    nodes.SessionWindow,
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
