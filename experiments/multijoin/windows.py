"""What the text on multi-joins knows about a stream, and how many rows its loops see.

The model is that of Golab and Özsu, "Processing Sliding Window Multi-Joins in Continuous Queries
over Data Streams" (2003). A join is evaluated with every row, or every `tau`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tidemill.optimize.joins.windows import JoinWindow

# What finding a value in an index by value costs, in rows looked at: measured with our operator,
# which searches by halving.
PROBE = 5.0


@dataclass(frozen=True)
class LoopWindow(JoinWindow):
    """A window that nested loops go through; without `buckets` it has an index by value, which
    shows only rows that match.

    >>> LoopWindow("bid", rate=10, window=100, distinct=500).rows()
    1000
    """

    buckets: int | None = 1  # type: ignore[assignment]

    def __post_init__(self) -> None:
        for field, value, least in [
            ("distinct", self.distinct, 1),
            ("buckets", 1 if self.buckets is None else self.buckets, 1),
            ("rate", self.rate, 0),
        ]:
            if not value >= least:
                raise ValueError(f"{field} of `{self.name}` must be at least {least}: {value}")
        if not self.window > 0:
            raise ValueError(f"window of `{self.name}` must be longer than 0: {self.window}")

    def scanned(self, rows: float) -> float:
        """What a loop costs for so many rows of the window, besides looking at those that match.

        An index divides them into buckets, no more than there are values.
        """
        return PROBE if self.buckets is None else rows / min(self.buckets, self.distinct)

    def rows(self, tau: float | None = None) -> float:
        """Rows in the window; evaluated every `tau`, it also holds what expired meanwhile."""
        return self.rate * self.length(tau)

    def length(self, tau: float | None = None) -> float:
        """How long the window is on average, as `rows`."""
        return self.window + (tau or 0)

    def fresh(self, tau: float | None = None) -> float:
        """New rows that one evaluation joins: one if eager, else those of the interval."""
        return 1 if tau is None else self.rate * tau

    def evaluations(self, tau: float | None = None) -> float:
        """How often new rows are joined, per unit of time."""
        return self.rate if tau is None else 1 / tau


def check(windows: Sequence[LoopWindow], tau: float | None) -> None:
    """Refuse windows that cannot be told apart, fewer than two, and an interval of no length."""
    names = [window.name for window in windows]
    if len(set(names)) != len(names) or len(names) < 2:
        raise ValueError(f"a join needs at least two windows of different names: {names}")
    if tau is not None and not tau > 0:
        raise ValueError(f"the interval between evaluations must be longer than 0: {tau}")
