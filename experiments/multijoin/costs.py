"""Costs of m-way window joins: rows looked at per unit of time.

All algorithms are nested loops over the windows. New rows of one stream, the origin, are joined
with the windows of the others; the algorithms differ in the order of the loops and in how many new
rows are joined at once. Inserting and expiring are left out, for no order changes them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from experiments.multijoin.windows import LoopWindow, check
from tidemill.optimize.joins.choice import orders_by_origin


def join_size(windows: Iterable[LoopWindow], tau: float | None = None) -> float:
    """How many rows the join of whole windows is expected to have (φ; with `tau`, φ̂).

    Step by step, the size is multiplied by the rows of the next window and divided by the larger
    of its distinct values and the fewest so far. So all counts of distinct values divide, except
    the smallest; the order of the steps does not matter.

    >>> join_size([LoopWindow("a", 10, 100, 500), LoopWindow("b", 1, 100, 50)])
    200.0
    """
    return _size({window: window.rows(tau) for window in windows})


def _size(rows: Mapping[LoopWindow, float]) -> float:
    fewest = min(window.distinct for window in rows)
    return fewest * math.prod(count / window.distinct for window, count in rows.items())


def origin_cost(origin: str, order: Sequence[LoopWindow], tau: float | None = None) -> float:
    """The cost of joining the new rows of one stream by loops in this very order.

    The loop at the top is not counted: the model counts comparisons. A hash index divides what a
    loop scans, never what matches. One new row is compared as it is; a batch of them, in a deeper
    loop, is found through the index as well.

    >>> a, b, c = (LoopWindow(name, 1, 100, 50) for name in "abc")
    >>> origin_cost("c", [c, a, b]), origin_cost("c", [a, b, c])
    (300.0, 10200.0)
    """
    rows: dict[LoopWindow, float] = {}
    cost = 0.0
    for window in order:
        new = window.name == origin
        count = window.fresh(tau) if new else window.rows(tau)
        if rows:
            repeated = _size(rows)
            matches = _size({**rows, window: count}) if window.buckets is None else 0
            cost += matches + repeated * (1 if new and tau is None else window.scanned(count))
        rows[window] = count
    (source,) = (window for window in order if window.name == origin)
    return source.evaluations(tau) * cost


def general_costs(
    orders: Mapping[str, Sequence[LoopWindow]], tau: float | None = None
) -> dict[str, float]:
    """By origin, the cost of the join with loops of its own for every origin."""
    for order in orders.values():
        check(order, tau)
    return {origin: origin_cost(origin, order, tau) for origin, order in orders.items()}


def multiway_costs(order: Sequence[LoopWindow], tau: float | None = None) -> dict[str, float]:
    """By origin, the cost of the multi-way join: new rows at the top (C; with `tau`, L).

    >>> multiway_costs([LoopWindow("a", 10, 100, 500), LoopWindow("b", 1, 100, 50)])
    {'a': 1000.0, 'b': 1000.0}
    """
    return general_costs(orders_by_origin(order), tau)


def naive_costs(order: Sequence[LoopWindow], tau: float | None = None) -> dict[str, float]:
    """By origin, the cost of the naive join: one order of loops for all (G; with `tau`, H)."""
    return general_costs({window.name: order for window in order}, tau)


def total(costs: Mapping[str, float]) -> float:
    """The cost of all origins together."""
    return math.fsum(costs.values())
