"""Time windows above unions."""

from __future__ import annotations

from dataclasses import replace

from tidemill.algebra.nodes import (
    TimeWindow,
)
from tidemill.algebra.plan import Plan
from tidemill.algebra.sets import (
    Union,
)


def push_windows(plan: Plan) -> Plan:
    """Move a time window below a union, to its inputs.

    (Law 10.10.) Next to a source, a window costs nothing: rows are read with the end that it
    gives them, and each side travels by itself. The other direction would need the windows to be
    equal, and on Spark a stage more.

    >>> from tidemill.optimize.examples import show
    >>> from tidemill.optimize.rules.push_projects import push_projects
    >>> from tidemill.optimize.rules.merge_projects import merge_projects
    >>> first = [push_projects, merge_projects]
    >>> union = "(SELECT item FROM bid UNION ALL SELECT item FROM auction)"
    >>> show(push_windows, f"SELECT item FROM {union} WINDOW(RANGE 5)", after=first)
    01 TimeWindow range=5
    02   Union
    03     Project [item := bid.item]
    04       Scan bid columns=[item, price]
    05     Project [item := auction.item]
    06       Scan auction columns=[item, seller]
    =>
    01 Union
    02   TimeWindow range=5
    03     Project [item := bid.item]
    04       Scan bid columns=[item, price]
    05   TimeWindow range=5
    06     Project [item := auction.item]
    07       Scan auction columns=[item, seller]
    """
    match plan:
        case TimeWindow(Union(left, right)):
            return Union(replace(plan, child=left), replace(plan, child=right))
    return plan
