"""Work in two phases: in every partition on its own rows, then in one on what is left of them.

Only where little is left: of the rows of a window, few are ever among the first or the largest.
Counts and sums change with every row; a first phase would only be one more.
"""

from __future__ import annotations

from dataclasses import replace

from tidemill.algebra.plan import Plan
from tidemill.physical.operator import Exec
from tidemill.physical.operators.aggregate import AggregateExec
from tidemill.physical.operators.merge import MergeExec
from tidemill.physical.operators.topk import TopKExec
from tidemill.stages.exchange import ExchangeExec

Selective = TopKExec | AggregateExec


def is_selective(node: Plan) -> bool:
    """Whether an operator looks at all rows, and few of them make its answer."""
    match node:
        case TopKExec():
            return True
        case AggregateExec():
            extremes = all(call.is_extreme for call in node.calls)
            # What is above may count on rows that hold for one instant; merged ones do not.
            return extremes and not node.keys and not node.validity.chronon
    return False


def has_phases(node: Selective, child: Exec) -> bool:
    """Whether a first phase costs less than it saves.

    Extremes are found about as fast as rows travel. So they are worth a first phase where rows
    are in a stage anyway, but not a stage of its own.
    """
    in_stage = any(isinstance(below, ExchangeExec) for below in child.walk())
    return isinstance(node, TopKExec) or in_stage


def first_phase(node: Selective, child: Exec) -> Exec:
    """What a partition knows about its rows, and lets go of at once."""
    if isinstance(node, TopKExec):
        # What is not among the first in its partition is not among the first of all.
        most = node.limit + node.offset
        return replace(node, child=child, limit=most, offset=0, eager=True)
    return merged(replace(node, child=child, eager=True))


def second_phase(node: Selective) -> Selective:
    """The answer, from those of the partitions."""
    if isinstance(node, TopKExec):
        return node
    return replace(node, calls=tuple(replace(call, argument=call.name) for call in node.calls))


def merged(node: Selective) -> Exec:
    """Extremes stay the same over many changes of the input: no need to repeat them."""
    return node if isinstance(node, TopKExec) else MergeExec(node)
