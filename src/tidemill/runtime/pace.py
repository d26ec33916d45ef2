"""How much a tick takes of what waits, so that it is done soon enough for what comes meanwhile."""

from __future__ import annotations

from tidemill.connectors.feeds import MOST_BYTES

_FIRST = 32 << 20
_LEAST = 1 << 20


class Pace:
    """A bound in bytes for each stream, so that ticks take about the wanted time.

    A quiet stream never comes near it. After a burst, or a stop, ticks that take too long are cut,
    and those that are done in time may grow.

    >>> pace = Pace(0.5)
    >>> pace.note(taken=20 << 20, seconds=2.0)
    >>> pace.most >> 20
    5
    >>> pace.note(taken=5 << 20, seconds=0.2)
    >>> pace.most >> 20
    10
    """

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds
        self.most = MOST_BYTES if seconds is None else _FIRST

    def note(self, taken: int, seconds: float) -> None:
        """Learn how many bytes a tick has taken, and how long."""
        if self._seconds is None:
            return
        if seconds > self._seconds:
            self.most = max(_LEAST, min(self.most, int(taken * self._seconds / seconds)))
        elif taken > self.most // 2:
            self.most = min(MOST_BYTES, self.most * 2)
