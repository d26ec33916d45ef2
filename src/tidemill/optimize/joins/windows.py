"""What the cost model of m-way joins knows about each stream.

The model is that of Golab and Özsu, "Processing Sliding Window Multi-Joins in Continuous Queries
over Data Streams" (2003): all windows are joined on one common attribute, whose values are spread
evenly, and a window with fewer distinct values has some of those of a window with more.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class JoinWindow:
    """A stream and its window: rows per unit of time, length in time, values of the join attribute.

    `buckets` is the size of the hash index; 1 is none, and the window is scanned whole.

    >>> JoinWindow("bid", rate=10, window=100, distinct=500).rows()
    1000
    """

    name: str
    rate: float
    window: float
    distinct: float
    buckets: int = 1

    def rows(self) -> float:
        """Rows in the window."""
        return self.rate * self.window
