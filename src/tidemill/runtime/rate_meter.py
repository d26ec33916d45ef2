"""How fast a number grows, now: rows per second on the clock, or per instant of event time."""

from __future__ import annotations

from collections import deque

_MARKS = 30
"""The approximate number of marks kept of a window, however often a number is noted."""


class RateMeter:
    """The rate of a total over its recent past.

    That is the shortest time in which `over` has passed, in the unit of `at`, and so many `rows`
    have come. With neither, it is the time between the last two notes.

    >>> meter = RateMeter(over=2.0)
    >>> meter.note(0, at=10.0)
    >>> meter.note(6, at=11.0)
    >>> [meter.rate(at) for at in (11.0, 12.0, 13.0)]
    [6.0, 3.0, 0.0]
    """

    __slots__ = ("_is_whole", "_marks", "_over", "_rows")

    def __init__(self, over: float = 0.0, rows: int = 0) -> None:
        self._over = over
        self._rows = rows
        self._marks: deque[tuple[float, int]] = deque()
        self._is_whole = True

    def begin(self, at: float) -> None:
        """Say that nothing was counted before a time; the earliest counts."""
        if not self._marks:
            self._marks.append((at, 0))
        elif self._is_whole and at < self._marks[0][0]:
            self._marks[0] = (at, self._marks[0][1])

    def note(self, total: int, at: float) -> None:
        """Take note of how much was counted up to a time, which does not go back."""
        marks = self._marks
        if len(marks) > 1 and (at <= marks[-1][0] or self._is_near(marks[-2], total, at)):
            at = max(at, marks.pop()[0])
        marks.append((at, total))
        while len(marks) > 2 and self._is_enough(marks[1], total, at):
            marks.popleft()
            self._is_whole = False

    def since(self, at: float | None = None, granule: float = 0.0) -> tuple[int, float]:
        """How much came in the window up to a time, by default that of the last note; and how long
        the window is.

        What is counted at instants a granule apart began a granule before the first of them.
        """
        if not self._marks:
            return 0, 0.0
        last, total = self._marks[-1]
        now = last if at is None or at < last else at
        # Of the marks that are kept, only the first makes the window up to the last large enough.
        base = self._marks[0] if now == last else self._base(total, now)
        span = now - base[0]
        if granule and span > 0 and self._is_whole and base is self._marks[0]:
            span += granule
        return total - base[1], span

    def rate(self, at: float | None = None, granule: float = 0.0) -> float | None:
        """Rows by time in the window; None if no time has passed in it."""
        rows, span = self.since(at, granule)
        return rows / span if span > 0 else None

    def _base(self, total: int, now: float) -> tuple[float, int]:
        """The newest mark that makes the window large enough."""
        enough = (m for m in reversed(self._marks) if m[0] < now and self._is_enough(m, total, now))
        return next(enough, self._marks[0])

    def _is_enough(self, mark: tuple[float, int], total: int, at: float) -> bool:
        return at - mark[0] >= self._over and total - mark[1] >= self._rows

    def _is_near(self, mark: tuple[float, int], total: int, at: float) -> bool:
        """Whether a mark just before need not be kept."""
        near = self._over and at - mark[0] < self._over / _MARKS
        return bool(near or (self._rows and total - mark[1] < self._rows / _MARKS))
