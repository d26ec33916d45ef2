"""How far estimates are off, by kind of operator, as measurements tell.

What an operator really needs is taken to be a constant plus a multiple of the estimate. The
constant is what it keeps and does whatever its rows: small arrays, a table of keys, a tick without
rows. The multiple is what the model leaves out: joins keep rows for a while after their end, and
other machines are slower.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tidemill.optimize.cost.usage import Usage

FADING = 0.8
"""What is left of older measurements when new ones come."""

FARTHEST = 10.0
"""A multiple beyond this, or below its inverse, is no calibration any more."""


@dataclass
class Sums:
    """Operators of one kind: how many, and what they need together."""

    count: int = 0
    usage: Usage = field(default_factory=Usage)

    def add(self, usage: Usage, sign: int) -> None:
        """Take an operator in, or out."""
        self.count += sign
        self.usage += Usage(sign * usage.state_rows, sign * usage.state_bytes, sign * usage.seconds)


@dataclass(frozen=True)
class FittedLine:
    """What is needed per operator, and per unit that is estimated."""

    constant: float = 0.0
    slope: float = 1.0

    def __call__(self, count: int, estimated: float) -> float:
        return self.constant * count + self.slope * max(estimated, 0.0)


BEFOREHAND: dict[str, tuple[FittedLine, FittedLine]] = {
    "join": (FittedLine(0.0, 1.2), FittedLine()),
    "aggregate": (FittedLine(450.0, 0.9), FittedLine()),
}
"""Of memory and processing, until something was measured: as the mix of Table 24.1 has it."""


@dataclass
class Fit:
    """A line through pairs of estimates and measurements; older pairs count less and less.

    >>> fit = Fit()
    >>> for estimated in (10, 20, 30):
    ...     fit.add(estimated, 5 + 2 * estimated)
    >>> fit.line()
    FittedLine(constant=5.0, slope=2.0)
    """

    count: float = 0.0
    estimated: float = 0.0
    measured: float = 0.0
    squares: float = 0.0
    products: float = 0.0

    def fade(self) -> None:
        """Give older pairs less weight."""
        for name in ("count", "estimated", "measured", "squares", "products"):
            setattr(self, name, getattr(self, name) * FADING)

    def add(self, estimated: float, measured: float) -> None:
        """One operator."""
        self.count += 1
        self.estimated += estimated
        self.measured += measured
        self.squares += estimated * estimated
        self.products += estimated * measured

    def line(self) -> FittedLine:
        """Least squares; through the origin if that would give a negative constant or slope."""
        spread = self.count * self.squares - self.estimated**2
        if spread > 1e-9 * self.count * self.squares:
            slope = (self.count * self.products - self.estimated * self.measured) / spread
            constant = (self.measured - slope * self.estimated) / self.count
            if constant >= 0 and 1 / FARTHEST <= slope <= FARTHEST:
                return FittedLine(constant, slope)
        if self.estimated <= 0:
            return FittedLine(self.measured / self.count if self.count else 0.0)
        return FittedLine(0.0, min(max(self.measured / self.estimated, 1 / FARTHEST), FARTHEST))


class Calibration:
    """Lines for memory and for processing, by kind of operator."""

    def __init__(self) -> None:
        self._memory: dict[str, Fit] = {}
        self._work: dict[str, Fit] = {}
        self.lines = dict(BEFOREHAND)

    def observe(self, pairs: Iterable[tuple[str, Usage, Usage]]) -> None:
        """Learn from operators: their kind, what was estimated, and what was measured."""
        for fit in (*self._memory.values(), *self._work.values()):
            fit.fade()
        for kind, estimated, measured in pairs:
            self._memory.setdefault(kind, Fit()).add(estimated.state_bytes, measured.state_bytes)
            self._work.setdefault(kind, Fit()).add(estimated.seconds, measured.seconds)
        self.lines |= {
            kind: (self._memory[kind].line(), self._work[kind].line()) for kind in self._memory
        }

    def of(self, kind: str, usage: Usage) -> Usage:
        """The estimate of one operator, put right."""
        return self.usage({kind: Sums(1, usage)})

    def usage(self, sums: Mapping[str, Sums]) -> Usage:
        """Estimates, put right."""
        total = Usage()
        for kind, each in sums.items():
            memory, work = self.lines.get(kind, (FittedLine(), FittedLine()))
            total += Usage(
                each.usage.state_rows,
                memory(each.count, each.usage.state_bytes),
                work(each.count, each.usage.seconds),
            )
        return total
