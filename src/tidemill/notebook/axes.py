"""Axes of charts: scales, and round numbers and times along them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tidemill.terminal.instants import instant_text
from tidemill.timeline import TimeDomain

_SECOND = 1_000_000
_MINUTE, _HOUR, _DAY = 60 * _SECOND, 3600 * _SECOND, 86400 * _SECOND
_CLOCK_STEPS = (
    *(n * _SECOND for n in (1, 2, 5, 10, 15, 30)),
    *(n * _MINUTE for n in (1, 2, 5, 10, 15, 30)),
    *(n * _HOUR for n in (1, 2, 3, 6, 12)),
    *(n * _DAY for n in (1, 2, 7, 14)),
)
"""Round steps of a clock, in microseconds."""


@dataclass(frozen=True)
class ChartAxis:
    """Values from `low` to `high`, drawn from the pixel `begin` to the pixel `end`."""

    low: float
    high: float
    begin: float
    end: float

    def at(self, value: float) -> float:
        """The pixel of a value; values beyond the axis are at its ends.

        >>> ChartAxis(0, 10, 100, 200).at(5), ChartAxis(0, 10, 100, 200).at(99)
        (150.0, 200.0)
        """
        share = (value - self.low) / (self.high - self.low)
        return self.begin + min(max(share, 0.0), 1.0) * (self.end - self.begin)


def round_step(length: float, parts: int) -> float:
    """A step of 1, 2 or 5 times a power of ten that fits about that often into a length.

    >>> round_step(97, 5), round_step(3, 5)
    (20.0, 1.0)
    """
    rough = length / parts
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * times for times in (1, 2, 5, 10) if power * times >= rough * 0.999)


def time_marks(low: float, high: float, is_clock: bool) -> list[tuple[float, str]]:
    """Round instants within an axis, each with its label.

    >>> time_marks(0, 3 * _HOUR, True)[1:3]
    [(1800000000.0, '01-01 00:30'), (3600000000.0, '01-01 01:00')]
    >>> [label for _, label in time_marks(0, 3000 * _DAY, True)]
    ['1970-01-01', '1972-01-01', '1974-01-01', '1976-01-01', '1978-01-01']
    """
    rough = (high - low) / 6
    if not is_clock or rough < _SECOND:
        step = max(1.0, round_step(high - low, 6))
    elif rough > _CLOCK_STEPS[-1]:
        return [(at, time_label(at, _DAY, True)) for at in _firsts(low, high, rough)]
    else:
        step = next(float(each) for each in _CLOCK_STEPS if each >= rough)
    return [(at, time_label(at, step, is_clock)) for at in marks(low, high, step)]


def _firsts(low: float, high: float, rough: float) -> Iterator[float]:
    """First days of months or years, about this number of microseconds apart."""
    wanted = rough / (30 * _DAY)
    months = next((n for n in (1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200) if n >= wanted), 12000)
    first, last = (
        int(np.datetime64(int(at), "us").astype("M8[M]").astype(int)) for at in (low, high)
    )
    for month in range(-(-first // months) * months, last + 1, months):
        at = float(np.datetime64(month, "M").astype("M8[us]").astype(int))
        if low <= at <= high:
            yield at


def marks(low: float, high: float, step: float) -> Iterator[float]:
    """The multiples of a step within an axis.

    >>> list(marks(3, 21, 5))
    [5, 10, 15, 20]
    """
    first = math.ceil(low / step)
    yield from (number * step for number in range(first, math.floor(high / step) + 1))


def number_label(value: float, step: float) -> str:
    """A number with the digits that tell it from its neighbours.

    >>> number_label(1500, 500), number_label(0.30000000000000004, 0.1), number_label(2e9, 1e9)
    ('1,500', '0.3', '2,000,000,000')
    """
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    return f"{value:.3g}" if digits > 6 or abs(value) >= 1e15 else f"{value:,.{digits}f}"


def time_label(at: float, step: float, is_clock: bool) -> str:
    """An instant, as far as it differs from its neighbours.

    >>> time_label(2 * _HOUR, _HOUR, True), time_label(2 * _DAY, _DAY, True)
    ('01-01 02:00', '1970-01-03')
    """
    if not is_clock:
        return f"{at:,.0f}"
    text = instant_text(round(at), TimeDomain.MICROSECONDS)
    if step >= _DAY:
        return text[:10]
    return text[5:16] if step >= _MINUTE else text[11:]
