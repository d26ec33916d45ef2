"""What users allow: sizes of windows between two bounds, granules out of a set."""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt

from tidemill.algebra.adjusting import Bounds
from tidemill.physical.adjusting import AdjustableExec
from tidemill.physical.operators.granularity import GranularityExec


@dataclass(frozen=True)
class SizeRange:
    """The sizes that a window may have; none, if the lower bound is above the upper one.

    Where queries share a window, all of them must allow its size:

    >>> SizeRange(60, 600) & SizeRange(300, 1200)
    SizeRange(low=300, high=600)
    """

    low: int
    high: int

    def __and__(self, other: SizeRange) -> SizeRange:
        return SizeRange(max(self.low, other.low), min(self.high, other.high))

    @property
    def is_possible(self) -> bool:
        """Whether there is a size that is allowed."""
        return self.low <= self.high

    @property
    def best(self) -> int:
        """The size that gives most."""
        return self.high

    def at(self, fraction: float) -> int:
        """The size at a part of the way from the worst (0) to the best one (1).

        >>> SizeRange(12, 24).at(0.5)
        18
        """
        return round(self.low + fraction * (self.high - self.low))

    def nearest(self, size: float) -> int:
        """The allowed size that is nearest.

        >>> SizeRange(12, 24).nearest(30)
        24
        """
        return round(min(max(size, self.low), self.high))


@dataclass(frozen=True)
class Granules:
    """The granules that a granularity may have."""

    allowed: frozenset[int]

    @classmethod
    def between(cls, finest: int, coarsest: int) -> Granules:
        """All multiples of the finest granule that divide the coarsest one.

        Instants of the coarsest are then instants of them all, and sets that users give by two
        granules have the others in common that they should: those between the coarser of the
        finest and the finer of the coarsest.

        >>> sorted(Granules.between(10, 60).allowed)
        [10, 20, 30, 60]
        """
        return cls(frozenset(finest * number for number in _divisors(coarsest // finest)))

    def __and__(self, other: Granules) -> Granules:
        return Granules(self.allowed & other.allowed)

    @property
    def is_possible(self) -> bool:
        """Whether there is a granule that is allowed."""
        return bool(self.allowed)

    @property
    def best(self) -> int:
        """The granule that gives most: the finest."""
        return min(self.allowed)

    def at(self, fraction: float) -> int:
        """The allowed granule nearest to a part of the way from the coarsest to the finest.

        >>> Granules.between(10, 60).at(0.8)
        20
        """
        finest, coarsest = min(self.allowed), max(self.allowed)
        return self.nearest(coarsest + fraction * (finest - coarsest))

    def nearest(self, size: float) -> int:
        """The allowed granule that is nearest; of two, the finer one."""
        return min(sorted(self.allowed), key=lambda granule: abs(granule - size))


Quality = SizeRange | Granules


def quality_of(node: AdjustableExec, bounds: Bounds) -> Quality:
    """What bounds allow for a window, or for a granularity."""
    if isinstance(node, GranularityExec):
        return Granules.between(bounds.low, bounds.high)
    return SizeRange(bounds.low, bounds.high)


def common(one: Quality, other: Quality) -> Quality:
    """What both allow."""
    if isinstance(one, SizeRange) and isinstance(other, SizeRange):
        return one & other
    assert isinstance(one, Granules)
    assert isinstance(other, Granules)
    return one & other


def _divisors(number: int) -> set[int]:
    small = [each for each in range(1, isqrt(number) + 1) if number % each == 0]
    return {*small, *(number // each for each in small)}
