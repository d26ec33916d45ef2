"""Instants as people read them."""

from __future__ import annotations

from datetime import UTC, datetime

from tidemill.timeline import TimeDomain


def instant_text(at: int, domain: TimeDomain | None) -> str:
    """An instant: a number of ticks, or a date with its time.

    >>> instant_text(42, TimeDomain.TICKS), instant_text(1_500_000, TimeDomain.MICROSECONDS)
    ('42', '1970-01-01 00:00:01.500000')
    """
    if domain is not TimeDomain.MICROSECONDS:
        return f"{at:,}"
    try:
        moment = datetime.fromtimestamp(at // 1_000_000, UTC).replace(
            tzinfo=None, microsecond=at % 1_000_000
        )
    except (ValueError, OverflowError):
        return f"{at:,} µs"  # beyond the year 9999
    return moment.isoformat(" ")
