"""Set operations on copies: Difference and its relatives.

Of one of n values, the left side has a copies at an instant and the right side b, Poisson
variables with means A = l/(nd) of either side. Copies of the result start where their number
rises; the operator lets a copy go on while it can, so nothing else cuts them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import singledispatch
from math import erf, exp, pi, sqrt

from tidemill.algebra import sets
from tidemill.optimize.cost.characteristics import Characteristics

_NORMAL_FROM = 200.0
"""Copies from which the difference of two Poisson variables is taken as a normal one."""


@dataclass(frozen=True)
class Excess:
    """How copies a of the left compare with copies b of the right.

    `surplus` is the mean of max(a - b, 0), `enough` the probability of a >= b, `more` of a > b.
    """

    surplus: float
    enough: float
    more: float

    @staticmethod
    def of(left: float, right: float) -> Excess:
        """For means of Poisson variables.

        >>> round(Excess.of(2.0, 0.0).more, 2)  # at least one copy
        0.86
        """
        return _normal(left, right) if left + right > _NORMAL_FROM else _exact(left, right)


def _exact(left: float, right: float) -> Excess:
    surplus = enough = more = 0.0
    at_most_left = at_most_right = 0.0
    for of_left, of_right in zip(_poisson(left), _poisson(right), strict=False):
        more += of_left * at_most_right
        at_most_left += of_left
        at_most_right += of_right
        enough += of_left * at_most_right
        surplus += (1 - at_most_left) * at_most_right
        if 1 - at_most_left < 1e-12:
            break
    return Excess(surplus, enough, more)


def _poisson(mean: float) -> Iterator[float]:
    """The probabilities of 0, 1, 2, …"""
    probability, number = exp(-mean), 0
    while True:
        yield probability
        number += 1
        probability *= mean / number


def _normal(left: float, right: float) -> Excess:
    mean, deviation = left - right, sqrt(left + right)
    at = mean / deviation
    below = 0.5 * (1 + erf(at / sqrt(2)))
    density = exp(-at * at / 2) / sqrt(2 * pi)
    return Excess(mean * below + deviation * density, below, below)


Combine = Callable[[Characteristics, Characteristics, float], Characteristics]


@singledispatch
def combined(
    plan: sets.SetOperation, left: Characteristics, right: Characteristics, values: float
) -> Characteristics:
    """The result of a set operation on sides that have a number of different rows in common."""
    raise TypeError(f"the cost model knows nothing of {type(plan).__name__}")


def _estimates(kind: type[sets.SetOperation]) -> Callable[[Combine], Combine]:
    """Register the estimate of a set operation."""

    def register(estimate: Combine) -> Combine:
        combined.register(kind, lambda _, left, right, values: estimate(left, right, values))
        return estimate

    return register


@_estimates(sets.Difference)
def difference(left: Characteristics, right: Characteristics, values: float) -> Characteristics:
    """The copies of the left side less those of the right.

    Their number rises with a left row if a >= b before, and with the end of a right row if
    a > b after.
    """
    excess = Excess.of(left.live_rows / values, right.live_rows / values)
    rate = left.rate * excess.enough + right.rate * excess.more
    live = values * excess.surplus
    return Characteristics.of_rate(rate, live, _granule(left, right), left.instants)


def arrivals(stream: Characteristics, values: float) -> Characteristics:
    """The copies by which a row has more than the instant before, for one instant each.

    Of s copies that start and e that end, s - e are seen if it is positive.
    """
    started = stream.granularity / (values * stream.distance)
    seen = values * Excess.of(started, started).surplus / stream.granularity
    live = seen * stream.granularity
    return Characteristics.of_rate(seen, live, stream.granularity, instants=True)


@_estimates(sets.StrictDifference)
def strict_difference(
    left: Characteristics, right: Characteristics, values: float
) -> Characteristics:
    """Left rows that the right side lacks; all come at once when its last copy ends."""
    none = exp(-right.live_rows / values)
    rate = left.rate * none + right.rate * none * left.live_rows / values
    live = left.live_rows * none
    return Characteristics.of_rate(rate, live, _granule(left, right), left.instants)


@_estimates(sets.Intersection)
def intersection(left: Characteristics, right: Characteristics, values: float) -> Characteristics:
    """The smaller number of copies: it rises with a row of the side that has fewer."""
    over = Excess.of(left.live_rows / values, right.live_rows / values)
    rate = left.rate * (1 - over.enough) + right.rate * over.more
    live = left.live_rows - values * over.surplus
    either = left.instants or right.instants
    return Characteristics.of_rate(rate, live, _granule(left, right), either)


@_estimates(sets.MaxUnion)
def max_union(left: Characteristics, right: Characteristics, values: float) -> Characteristics:
    """The larger number of copies: it rises with a row of the side that has not fewer."""
    over = Excess.of(left.live_rows / values, right.live_rows / values)
    rate = left.rate * over.enough + right.rate * (1 - over.more)
    live = right.live_rows + values * over.surplus
    both = left.instants and right.instants
    return Characteristics.of_rate(rate, live, _granule(left, right), both)


def _granule(left: Characteristics, right: Characteristics) -> float:
    return min(left.granularity, right.granularity)
