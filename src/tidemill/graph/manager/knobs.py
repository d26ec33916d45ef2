"""Sizes that may be adjusted, and what a graph needs."""

from __future__ import annotations

from dataclasses import dataclass

from tidemill.graph.quality import Granules


@dataclass(frozen=True)
class Knob:
    """A window or granularity whose size may be changed between two bounds.

    `low` is the size of lowest quality and `high` that of highest: the smallest and the largest
    window, or the coarsest and the finest granule. `weight` is how many queries depend on it,
    `granules` are those that are allowed.

    >>> Knob("w", 60, 1800).at(0.25), Knob("w", 60, 1800).fraction(60)
    (495, 0.0)
    >>> Knob("g", 7200, 10, granules=frozenset({10, 60, 600, 3600, 7200})).at(0.25)
    7200
    """

    name: str
    low: int
    high: int
    weight: int = 1
    granules: frozenset[int] = frozenset()

    @property
    def is_granule(self) -> bool:
        """Whether a smaller size is the better one."""
        return self.low > self.high or bool(self.granules)

    def at(self, fraction: float) -> int:
        """The size at a fraction of the range: 0 is the lowest quality, 1 the highest."""
        wanted = self.low + fraction * (self.high - self.low)
        return Granules(self.granules).nearest(wanted) if self.granules else round(wanted)

    def fraction(self, size: int) -> float:
        """Where in the range a size lies."""
        return 1.0 if self.low == self.high else (size - self.low) / (self.high - self.low)


@dataclass(frozen=True)
class Demand:
    """Memory in bytes, and processing as a share of one core: what is needed, or may be used."""

    memory: float
    cpu: float

    def within(self, bound: Demand) -> bool:
        """Whether neither is more than the bound."""
        return self.memory <= bound.memory and self.cpu <= bound.cpu

    def over(self, bound: Demand) -> float:
        """The need as a multiple of the bound, for the scarcer of memory and processing.

        >>> Demand(50, 0.4).over(Demand(100, 0.5))
        0.8
        """
        return max(self.memory / bound.memory, self.cpu / bound.cpu)

    def __mul__(self, share: float) -> Demand:
        return Demand(self.memory * share, self.cpu * share)
