"""Work in two phases: in every partition on its own rows, then in one on what is left of them.

Only where little is left: of the rows of a window, few are ever among the first or the largest.
Counts and sums change with every row; a first phase would only be one more.
"""

from __future__ import annotations

from dataclasses import replace

from tidemill.algebra.plan import Plan
from tidemill.physical.aggregate import AggregateExec
from tidemill.physical.merge import MergeExec
from tidemill.physical.operator import Exec
from tidemill.physical.properties import is_chronon
from tidemill.physical.topk import TopKExec

Phased = TopKExec | AggregateExec


def has_phases(node: Plan) -> bool:
    """Whether an operator works in two phases, if its rows are not together anyway."""
    match node:
        case TopKExec():
            return True
        case AggregateExec():
            extremes = all(c.function in ("MIN", "MAX") and c.user is None for c in node.calls)
            # What is above may count on rows that hold for one instant; merged ones do not.
            return extremes and not node.keys and not is_chronon(node)
    return False


def first_phase(node: Phased, child: Exec) -> Exec:
    """What a partition knows about its rows, and lets go of at once."""
    if isinstance(node, TopKExec):
        # What is not among the first in its partition is not among the first of all.
        most = node.limit + node.offset
        return replace(node, child=child, limit=most, offset=0, eager=True)
    # Extremes stay the same over many changes of the input.
    return MergeExec(replace(node, child=child, eager=True))


def second_phase(node: Phased, first: Exec) -> Exec:
    """The answer, from those of the partitions."""
    if isinstance(node, TopKExec):
        return replace(node, child=first)
    calls = tuple(replace(call, argument=call.name) for call in node.calls)
    return MergeExec(replace(node, child=first, calls=calls))
