"""Coalesce, which the text gives no formula for.

A row is merged with an equal one that ends where it starts. Let m be the share of rows that find
one. Merging keeps every copy at every instant, so live rows stay as they are, and the pieces in a
merged row are geometric: 1 + m + m² + … = 1/(1 - m). A row that has reached the maximal length is
released, so at most k = ceil(max / l) pieces are merged: (1 - m^k)/(1 - m).
"""

from __future__ import annotations

from math import ceil, exp, inf, pow

from tidemill.optimize.cost.characteristics import Characteristics
from tidemill.optimize.cost.constants import MEASURED
from tidemill.optimize.cost.copies import Excess
from tidemill.optimize.cost.usage import NANOSECOND, Usage


def coalesced(stream: Characteristics, touching: float, max_length: float = inf) -> Characteristics:
    """Equal neighbours made one.

    >>> coalesced(Characteristics(2, 10), 0.75)
    Characteristics(distance=8.0, length=40.0, granularity=1.0)
    """
    pieces = _pieces(touching, _most(stream, max_length))
    return Characteristics(stream.distance * pieces, stream.length * pieces, stream.granularity)


def coalescing_rows(stream: Characteristics, touching: float, max_length: float = inf) -> float:
    """Rows kept: those that hold, except the last piece of a row that is long enough."""
    most = _most(stream, max_length)
    return stream.live_rows * _pieces(touching, most - 1) / _pieces(touching, most)


def of_coalesce(
    stream: Characteristics, touching: float, row_width: float, max_length: float = inf
) -> Usage:
    """What our coalescing operator needs, which logical plans do not have: no snapshot changes."""
    steps = MEASURED["coalesce"]
    rows = coalescing_rows(stream, touching, max_length)
    out = coalesced(stream, touching, max_length)
    seconds = (steps.arrive * stream.rate + steps.emit * out.rate) * NANOSECOND
    return Usage(rows, rows * (row_width + steps.row_bytes), seconds)


def touching_at_random(stream: Characteristics, values: float) -> float:
    """The share of rows with an equal one before them, if they start independently.

    In a granule s rows of a value start and e end, Poisson variables of the same mean; min(s, e)
    of them meet.
    """
    mean = stream.granularity / (values * stream.distance)
    return 1 - Excess.of(mean, mean).surplus / mean


def touching_after_distinct(stream: Characteristics, values: float) -> float:
    """The share in what duplicate elimination makes of a stream: rows whose value was covered."""
    return 1 - exp(-stream.length / (values * stream.distance))


def _most(stream: Characteristics, max_length: float) -> float:
    return max_length if max_length == inf else max(1, ceil(max_length / stream.length))


def _pieces(touching: float, most: float) -> float:
    """The sum of the first `most` powers of m."""
    return most if touching >= 1 else (1 - pow(touching, most)) / (1 - touching)
