"""What our operators make of a stream: formulas for instants, and for values at random.

The text takes time to be continuous and lets the values of a stream come in turn. With instants,
rows may start together; with values at random, rows per value and instant follow a Poisson
distribution. That gives one formula where the text has two cases, and it holds for windows that
slide, whose rows start and end on the multiples of a granule.
"""

from __future__ import annotations

from math import erf, exp, expm1, sqrt

from tidemill.optimize.cost.characteristics import LIFETIME, Characteristics, filtered


def product(left: Characteristics, right: Characteristics) -> Characteristics:
    """All pairs that hold together: formula 22.4, with pairs that start together counted once.

    Two rows of one instant each meet only if they start together:

    >>> product(Characteristics(10, 1), Characteristics(10, 1))
    Characteristics(distance=100.0, length=1.0, granularity=1.0)
    """
    granule = min(left.granularity, right.granularity)
    both = max(left.length + right.length - granule, granule)
    return Characteristics(
        left.distance * right.distance / both,
        left.length * right.length / both,
        granule,
        left.instants or right.instants,
    )


def joined(left: Characteristics, right: Characteristics, selectivity: float) -> Characteristics:
    """The pairs that match."""
    return filtered(product(left, right), selectivity)


def deduplicated(stream: Characteristics, values: float) -> Characteristics:
    """Every value at most once: a row gives the part of it that earlier ones do not cover.

    A value comes at a granule with probability 1 - exp(-g/nd), and is covered at an instant
    unless none came for the length of a row: exp(-l/nd).

    >>> deduplicated(Characteristics(10, 1000), 5).live_rows
    4.99...
    """
    spread = values * stream.distance
    granule = min(stream.granularity, stream.length)
    rate = values / granule * -expm1(-granule / spread)
    live = values * -expm1(-stream.length / spread)
    return Characteristics.of_rate(rate, live, stream.granularity, stream.instants)


def grouped(
    stream: Characteristics, groups: float, starts_meet_ends: bool = False
) -> Characteristics:
    """One row per group, from each start or end to the next, while the group has rows.

    A piece starts at a granule unless nothing starts or ends there, or the last row of the group
    ends: the probability is 1 - exp(-2g/nd) - exp(-l/nd) + exp(-(l+g)/nd). Where rows end only
    when others start, or never, starts alone cut: g/nd instead of 2g/nd.

    >>> tumbling = Characteristics(distance=2, length=60, granularity=60)
    >>> round(grouped(tumbling, 1).distance, 6)
    60.0
    """
    if stream.length <= 0:
        return stream  # no row holds at any time
    spread = groups * stream.distance
    granule = min(stream.granularity, stream.length)
    cuts = 1 if starts_meet_ends or stream.length >= LIFETIME else 2
    ended = exp(-stream.length / spread) - exp(-(stream.length + granule) / spread)
    rate = groups / granule * (-expm1(-cuts * granule / spread) - ended)
    live = groups * -expm1(-stream.length / spread)
    return Characteristics.of_rate(rate, live, stream.granularity, stream.instants)


def instants(stream: Characteristics) -> Characteristics:
    """Every row once for each instant at which it holds: the split below windows.

    >>> instants(Characteristics(distance=10, length=5)).distance
    2.0
    >>> instants(Characteristics(distance=10, length=5, granularity=5, instants=True)).distance
    10
    """
    if stream.instants or stream.length <= 1:
        return stream
    return Characteristics(stream.distance / stream.length, 1.0, 1.0, instants=True)


def top(stream: Characteristics, limit: float, offset: float = 0) -> Characteristics:
    """The first rows by rank: they change when a row comes or goes that ranks among them.

    Of the live rows, `limit + offset` matter. A row that comes among them enters the part shown
    or pushes another into it; one that goes lets another in, if there are more rows than matter
    (their number is taken as normal with the variance of a Poisson variable).
    """
    live, matter = stream.live_rows, limit + offset
    if live <= 0:
        return stream
    more = (1 + erf((live - matter) / sqrt(2 * live))) / 2
    rate = stream.rate * min(1.0, matter / live) * (1 + more)
    shown = min(limit, max(live - offset, 0.0))
    return Characteristics.of_rate(rate, shown, stream.granularity, stream.instants)
