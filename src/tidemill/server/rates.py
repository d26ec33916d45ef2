"""How fast streams bring rows, on the clock."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping
from typing import NamedTuple

_LOOKS = 30
"""So many are kept of the seconds over which rates are told."""


class _Look(NamedTuple):
    at: float
    rows: Mapping[str, int]


class Rates:
    """Rows per second of every stream, `over` the last seconds, whether ticks are made or not.

    >>> rates = Rates(over=2.0)
    >>> rates.look({"bid": 0}, at=10.0)
    >>> rates.look({"bid": 6}, at=11.0)
    >>> [rates.of(at)["bid"] for at in (11.0, 12.0, 13.0)]
    [6.0, 3.0, 0.0]
    """

    def __init__(self, over: float) -> None:
        self._over = over
        self._looks: deque[_Look] = deque()

    def look(self, rows: Mapping[str, int], at: float | None = None) -> None:
        """Take note of how many rows were read so far."""
        now = time.monotonic() if at is None else at
        if len(self._looks) > 1 and now - self._looks[-2].at < self._over / _LOOKS:
            self._looks.pop()
        self._looks.append(_Look(now, rows))
        while len(self._looks) > 2 and now - self._looks[1].at >= self._over:
            self._looks.popleft()

    def of(self, at: float | None = None) -> dict[str, float]:
        """The rates now, or at a time after the last look."""
        now = time.monotonic() if at is None else at
        last = self._looks[-1].rows if self._looks else {}
        return {name: self._rate(name, rows, now) for name, rows in last.items()}

    def _rate(self, name: str, rows: int, now: float) -> float:
        known = [look for look in self._looks if name in look.rows]
        before = [look for look in known if look.at <= now - self._over]
        base = before[-1] if before else known[0]
        return (rows - base.rows[name]) / max(now - base.at, 1e-9)
