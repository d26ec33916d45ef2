"""How many rows rankings keep."""

from __future__ import annotations

from math import log

from tidemill.algebra.ranking import Ranked, Strategy

_OPEN_SHARE = 0.5
"""The part of a window that exact pruning keeps while scores are open.

An instance goes when k others are later and above all that it can still reach. It keeps a constant
share of the window: about this, if half of what makes a score has not been seen yet.
"""


def retained(ranked: Ranked, rows: float) -> float:
    """How many of the rows in the window are kept.

    Of rows whose scores are known, k times the logarithm: those with fewer than k better ones
    among the later rows. What is likely to come opens scores less than what is possible.
    """
    if ranked.strategy is Strategy.SLA:
        return rows
    certain = min(rows, ranked.limit * (1 + log(max(rows / ranked.limit, 1.0))))
    if all(promise.most is None for promise in ranked.streams):
        return certain
    if ranked.strategy is Strategy.APPROXIMATE:
        return min(rows, 2 * certain)
    return max(certain, _OPEN_SHARE * rows)
