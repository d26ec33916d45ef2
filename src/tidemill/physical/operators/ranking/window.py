"""How long rows of a ranking hold, and how many rows the window has."""

from __future__ import annotations

import numpy as np

from tidemill.algebra.ranking import Ranked
from tidemill.physical.mechanisms.arrays import Ints
from tidemill.physical.operators.ranking.rows import RankingRows
from tidemill.timeline import OPEN_END

_MOST_BUCKETS = 512
_NEVER = 2**63


class Window:
    """The last instants, or the last rows of all."""

    STATE = ("_arrived", "_buckets")

    def __init__(self, ranked: Ranked) -> None:
        self._size, self._rows = ranked.size, ranked.rows
        self._arrived = 0
        self._buckets = np.empty((0, 3), np.int64)  # first instant, last instant, rows

    @property
    def length(self) -> int | None:
        """In instants, or in rows if it counts these."""
        return self._size if self._rows is None else self._rows

    def places(self, times: Ints) -> Ints:
        """Where the rows of these times are in the order that decides how long they hold."""
        if self._rows is None:
            return times
        return np.arange(self._arrived + 1, self._arrived + len(times) + 1)

    def arrive(self, times: Ints) -> None:
        """Count rows that come, in the order of time."""
        self._arrived += len(times)
        if len(times) and self._rows is None:
            self._buckets = np.vstack([self._buckets, [times[0], times[-1], len(times)]])
            if len(self._buckets) > _MOST_BUCKETS:
                self._buckets = _halved(self._buckets)

    def ends(self, rows: RankingRows, times: Ints) -> Ints:
        """When rows cease to hold, given the times of those that come now."""
        if self._rows is None:
            return np.full(len(rows), OPEN_END) if self._size is None else rows.time + self._size
        number = rows.place + self._rows - self._arrived - 1
        coming = number < len(times)
        ends = np.full(len(rows), OPEN_END)
        ends[coming] = times[number[coming]]
        return ends

    def gone(self, until: int, coming: int) -> int:
        """All rows before this place cease to hold before `until`, if this number of rows comes."""
        length = _NEVER if self.length is None else self.length
        return (until if self._rows is None else self._arrived + coming + 1) - length

    def count(self, until: int) -> float:
        """About how many rows the window holds at the last instant before `until`."""
        if self._rows is not None:
            return float(min(self._arrived, self._rows))
        if self._size is None:
            return float(self._arrived)
        first, last, rows = self._buckets.T
        inside = (last - (until - 1 - self._size)) / (last - first + 1)
        self._buckets = self._buckets[inside > 0]
        return float((np.clip(inside, 0.0, 1.0) * rows).sum())


def _halved(buckets: Ints) -> Ints:
    """Two neighbours become one."""
    even, odd = buckets[: len(buckets) // 2 * 2 : 2], buckets[1::2]
    joined = np.stack([even[:, 0], odd[:, 1], even[:, 2] + odd[:, 2]], axis=1)
    return np.concatenate([joined, buckets[len(buckets) // 2 * 2 :]])
