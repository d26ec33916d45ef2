"""Windows of one instant."""

from __future__ import annotations

from tidemill.algebra.nodes import TimeWindow
from tidemill.algebra.plan import Plan


def remove_now_windows(plan: Plan) -> Plan:
    """Remove windows of one instant: they change nothing.

    (Law 10.7.) This holds for rows of any length: cut into instants, each piece holds for its
    instant.

    >>> from tidemill.optimize.examples import show
    >>> show(remove_now_windows, "SELECT item FROM bid WINDOW(RANGE 1)")
    01 Project [item := bid.item]
    02   TimeWindow range=1
    03     Scan bid columns=[item, price]
    =>
    01 Project [item := bid.item]
    02   Scan bid columns=[item, price]
    """
    match plan:
        # Others may be given another size while they run.
        case TimeWindow(child, size=1, slide=1, delay=0, is_fixed=True):
            return child
    return plan
