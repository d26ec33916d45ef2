"""Statistics of two columns, from exact sums: covariance, correlation, the line of best fit."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final


@dataclass(frozen=True)
class PairSums:
    """How many pairs (y, x) there are, and the sums of x, y, x * x, y * y and x * y."""

    count: int
    x: Fraction
    y: Fraction
    xx: Fraction
    yy: Fraction
    xy: Fraction

    @property
    def sxx(self) -> Fraction:
        return self.xx - self.x * self.x / self.count

    @property
    def syy(self) -> Fraction:
        return self.yy - self.y * self.y / self.count

    @property
    def sxy(self) -> Fraction:
        return self.xy - self.x * self.y / self.count


def _slope(sums: PairSums) -> Fraction | None:
    return sums.sxy / sums.sxx if sums.sxx else None


def _intercept(sums: PairSums) -> Fraction | None:
    slope = _slope(sums)
    return None if slope is None else (sums.y - slope * sums.x) / sums.count


def _r2(sums: PairSums) -> Fraction | None:
    if not sums.sxx:
        return None
    return sums.sxy**2 / (sums.sxx * sums.syy) if sums.syy else Fraction(1)


def _correlation(sums: PairSums) -> float | None:
    product = sums.sxx * sums.syy
    if not product:
        return None
    return math.copysign(_root(sums.sxy**2 / product), sums.sxy)


def _root(value: Fraction) -> float:
    return math.sqrt(value.numerator / value.denominator)


PAIRED: Final[dict[str, Callable[[PairSums], Fraction | float | None]]] = {
    "COVAR_POP": lambda sums: sums.sxy / sums.count,
    "COVAR_SAMP": lambda sums: sums.sxy / (sums.count - 1) if sums.count > 1 else None,
    "CORR": _correlation,
    "REGR_AVGX": lambda sums: sums.x / sums.count,
    "REGR_AVGY": lambda sums: sums.y / sums.count,
    "REGR_SXX": lambda sums: sums.sxx,
    "REGR_SYY": lambda sums: sums.syy,
    "REGR_SXY": lambda sums: sums.sxy,
    "REGR_SLOPE": _slope,
    "REGR_INTERCEPT": _intercept,
    "REGR_R2": _r2,
}
"""What follows from the sums of at least one pair."""


def answer(function: str, sums: PairSums) -> float | None:
    """The statistic as a number of SQL.

    >>> one = Fraction(1)
    >>> answer("REGR_SLOPE", PairSums(2, one, 2 * one, one, 4 * one, 2 * one))
    2.0
    """
    found = PAIRED[function](sums)
    if not isinstance(found, Fraction):
        return found
    try:
        return found.numerator / found.denominator
    except OverflowError:
        return math.copysign(math.inf, found)
