"""Whether the rows of a plan are whole: each has the start and the end that its meaning gives it.

Snapshots do not tell whether a row holds on or ends where an equal one starts, and operators are
free to cut rows where it suits them. Rows of streams, their windows, and what is computed from
single rows are never cut.
"""

from __future__ import annotations

from tidemill.algebra.nodes import (
    Dstream,
    Filter,
    Granularity,
    Istream,
    Project,
    Rstream,
    Scan,
    SourceKind,
    TimeWindow,
)
from tidemill.algebra.plan import Plan
from tidemill.algebra.sets import Union
from tidemill.algebra.unnest import Unnest


def has_whole_rows(plan: Plan) -> bool:
    """Whether no row of a plan is a piece of one.

    >>> from tidemill.algebra import CountWindow, Schema
    >>> bid = Scan("bid", "b", Schema.of())
    >>> has_whole_rows(TimeWindow(bid, 9)), has_whole_rows(CountWindow(bid, 9))
    (True, False)
    """
    match plan:
        case Scan():
            return plan.kind is not SourceKind.CHANGING
        case TimeWindow() | Istream() | Dstream() | Rstream():
            return True
        case Filter() | Project() | Unnest() | Granularity() | Union():
            return all(map(has_whole_rows, plan.children))
    return False
