"""Which rows of a stream count: those that come neither too late nor too far ahead of time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tidemill.timeline import BEGIN


def in_time(
    ticks: Iterable[Sequence[int]], slack: int = 0, ahead: int | None = None
) -> list[list[bool]]:
    """For the instants of the rows of every tick, whether they count.

    The watermark is the newest instant so far, less the slack. A row must not be before that of
    the ticks before it; nor, once it has begun to move, further `ahead` of it than that. Instants
    are integers; timestamps are held against the clock instead.

    >>> in_time([[5], [3, 4, 9], [99, 6]], slack=1, ahead=10)
    [[True], [False, True, True], [False, False]]
    """
    mark, newest, found = BEGIN, BEGIN, []
    for tick in ticks:
        until = None if ahead is None or mark == BEGIN else mark + ahead
        counts = [mark <= at and (until is None or at <= until) for at in tick]
        newest = max([newest, *(at for at, good in zip(tick, counts, strict=True) if good)])
        mark = max(mark, newest - slack)
        found.append(counts)
    return found
