"""Equal windows below a union."""

from __future__ import annotations

from dataclasses import replace

from tidemill.algebra.nodes import TimeWindow, Union
from tidemill.algebra.plan import Plan
from tidemill.analyze.boundedness import validity
from tidemill.optimize.sharing import opened


def merge_windows(plan: Plan) -> Plan:
    """Take one time window above a union for two equal ones below (10.10).

    A union of windows has ends in any order; a window of a union has them in order.

    >>> from tidemill.optimize.examples import show
    >>> from tidemill.optimize.rules.push_projects import push_projects
    >>> parts = [f"SELECT item FROM {name} WINDOW(RANGE 5)" for name in ("bid", "auction")]
    >>> show(merge_windows, " UNION ALL ".join(parts), after=[push_projects])
    01 Union
    02   TimeWindow range=5
    03     Project [item := bid.item]
    04       Scan bid columns=[item, price]
    05   TimeWindow range=5
    06     Project [item := auction.item]
    07       Scan auction columns=[item, seller]
    =>
    01 TimeWindow range=5
    02   Union
    03     Project [item := bid.item]
    04       Scan bid columns=[item, price]
    05     Project [item := auction.item]
    06       Scan auction columns=[item, seller]
    """
    match plan:
        case Union(TimeWindow(left) as window, TimeWindow(right) as other):
            if window == replace(other, child=left) and _is_instant(left) == _is_instant(right):
                return replace(window, child=Union(left, right))
    return plan


def _is_instant(plan: Plan) -> bool:
    # Rows that hold longer are split below a window: those of a stream need not be.
    return validity(opened(plan)).instant
