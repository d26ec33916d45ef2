"""Instants as notebooks show them, the ends of time included."""

from __future__ import annotations

from tidemill.terminal.instants import instant_text
from tidemill.timeline import BEGIN, OPEN_END, TimeDomain


def instant_or_end(at: int, domain: TimeDomain | None) -> str:
    """An instant, or the end of time that it is.

    >>> instant_or_end(BEGIN, None), instant_or_end(42, TimeDomain.TICKS)
    ('the beginning', '42')
    >>> instant_or_end(OPEN_END, TimeDomain.MICROSECONDS)
    'the end'
    """
    if at <= BEGIN:
        return "the beginning"
    return "the end" if at == OPEN_END else instant_text(at, domain)
