"""Semi-joins and anti-joins: left rows while they have a partner, or none.

A left row has p = live right rows × selectivity partners on average, so none with probability
exp(-p), and partners come at the rate selectivity / d of the right side.
"""

from __future__ import annotations

from math import exp

from tidemill.optimize.cost.characteristics import Characteristics


def semi_joined(
    left: Characteristics, right: Characteristics, selectivity: float
) -> Characteristics:
    """Left rows while they have partners: one piece at first, one with every new partner.

    >>> semi_joined(Characteristics(10, 1), Characteristics.of_relation(1000), 0.001).live_rows
    0.063...
    """
    lonely = exp(-right.live_rows * selectivity)
    pieces = 1 - lonely + selectivity * _later_starts(left, right)
    live = left.live_rows * (1 - lonely)
    return Characteristics.of_rate(left.rate * pieces, live, _granule(left, right), left.instants)


def anti_joined(
    left: Characteristics, right: Characteristics, selectivity: float
) -> Characteristics:
    """Left rows while they have no partner: one piece at first, one after the last of some."""
    lonely = exp(-right.live_rows * selectivity)
    pieces = lonely * (1 + selectivity * _later_starts(left, right))
    live = left.live_rows * lonely
    return Characteristics.of_rate(left.rate * pieces, live, _granule(left, right), left.instants)


def _later_starts(left: Characteristics, right: Characteristics) -> float:
    """Right rows that start while a left row holds, and not together with it."""
    return max(left.length - _granule(left, right), 0.0) * right.rate


def _granule(left: Characteristics, right: Characteristics) -> float:
    return min(left.granularity, right.granularity)
