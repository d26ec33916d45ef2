"""Streams in three numbers, and what each operator makes of them (PIPES, 22.3).

These are the text's formulas: time is continuous, values are spread evenly. `discrete` has those
that fit our operators better where the two differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import expm1, inf, log1p

LIFETIME = 1e15
"""How long rows hold that never end: some thirty years of microseconds.

A large number, not infinity, so that a relation is a stream like any other: its rows come once in
a lifetime, and as many of them hold at a time as the relation has.
"""


@dataclass(frozen=True)
class Characteristics:
    """A stream: the mean distance of starts, the mean length of validities, and the granule.

    Of a stream of `instants`, every row holds for a single one. It counts as long as the granule
    on which it lies, since nothing starts or ends in between.

    >>> stream = Characteristics(distance=10, length=600)
    >>> stream.rate, stream.live_rows
    (0.1, 60.0)
    """

    distance: float
    length: float
    granularity: float = 1.0
    instants: bool = field(default=False, repr=False)

    @property
    def rate(self) -> float:
        """Rows that start, per instant."""
        return 1 / self.distance

    @property
    def live_rows(self) -> float:
        """Rows that hold at an instant."""
        return self.length / self.distance

    @staticmethod
    def of_rate(
        rate: float, live_rows: float, granularity: float, instants: bool = False
    ) -> Characteristics:
        """The stream with a number of rows that start per instant, and of rows that hold at a time.

        No row holds for less than a granule.
        """
        rate = min(rate, live_rows / granularity)
        if rate <= 0:
            return Characteristics(inf, granularity, granularity, instants)
        return Characteristics(1 / rate, live_rows / rate, granularity, instants)

    @staticmethod
    def of_relation(rows: float) -> Characteristics:
        """A relation of a number of rows, which hold for ever."""
        return Characteristics(LIFETIME / max(rows, 1.0), LIFETIME)


def filtered(stream: Characteristics, selectivity: float) -> Characteristics:
    """Formula 22.1. A selectivity is the share of rows that pass."""
    distance = stream.distance / selectivity if selectivity > 0 else inf
    return replace(stream, distance=distance)


def mapped(stream: Characteristics) -> Characteristics:
    """Formula 22.2: new values, the same validities."""
    return stream


def united(streams: Sequence[Characteristics]) -> Characteristics:
    """Formula 22.3: rates add up, lengths are weighed by rate.

    >>> united([Characteristics(10, 50), Characteristics(10, 100)])
    Characteristics(distance=5.0, length=75.0, granularity=1.0)
    """
    rate = sum(stream.rate for stream in streams)
    live = sum(stream.live_rows for stream in streams)
    granule = min(stream.granularity for stream in streams)
    return Characteristics.of_rate(rate, live, granule, all(s.instants for s in streams))


def product(left: Characteristics, right: Characteristics) -> Characteristics:
    """Formula 22.4: all pairs that hold together."""
    both = left.length + right.length
    return Characteristics(
        left.distance * right.distance / both,
        left.length * right.length / both,
        min(left.granularity, right.granularity),
    )


def joined(left: Characteristics, right: Characteristics, selectivity: float) -> Characteristics:
    """Formulas 22.4 and 22.1: the pairs that match."""
    return filtered(product(left, right), selectivity)


def deduplicated(stream: Characteristics, values: float) -> Characteristics:
    """Formula 22.5, for a number of different rows."""
    return replace(stream, length=min(values * stream.distance, stream.length))


def aggregated(stream: Characteristics) -> Characteristics:
    """Formula 22.6: results are cut at starts and ends."""
    if stream.distance >= stream.length:
        return stream
    granule = min(stream.granularity, stream.length)
    piece = granule / hit(granule / stream.length, 2 * stream.live_rows)
    return replace(stream, distance=piece, length=piece)


def grouped(stream: Characteristics, groups: float) -> Characteristics:
    """Formula 22.7: one aggregation for every group."""
    one = aggregated(replace(stream, distance=groups * stream.distance))
    return replace(one, distance=one.distance / groups)


def split(stream: Characteristics, length: float) -> Characteristics:
    """Formula 22.8: pieces of this length.

    >>> split(Characteristics(10, 100), 25)
    Characteristics(distance=2.5, length=25, granularity=1.0)
    """
    if length >= stream.length:
        return stream
    return replace(stream, distance=stream.distance * length / stream.length, length=length)


def coarsened(stream: Characteristics, granule: float) -> Characteristics:
    """Formula 22.9: rows shorter than the granule may fall between two of its instants."""
    coarse = replace(stream, granularity=granule, instants=False)
    if granule == stream.granularity or stream.length >= granule:
        return coarse
    return replace(coarse, distance=granule / stream.length * stream.distance, length=granule)


def session_length(rate: float, gap: float) -> float:
    """How long a session goes on after a row of it, if rows come at random.

    As long as a server is busy that needs the gap for every customer, and has room for all.

    >>> round(session_length(rate=0.1, gap=10), 1)
    17.2
    """
    most = 100.0  # beyond, a session does not end in any time that matters
    return expm1(min(rate * gap, most)) / rate if rate > 0 else gap


def time_window(stream: Characteristics, size: float) -> Characteristics:
    """Formula 22.10."""
    return replace(stream, length=size, instants=False)


def count_window(stream: Characteristics, rows: float) -> Characteristics:
    """Formula 22.11."""
    return replace(stream, length=rows * stream.distance, instants=False)


def partitioned_window(stream: Characteristics, partitions: float, rows: float) -> Characteristics:
    """Formula 22.12."""
    return count_window(stream, partitions * rows)


def hit(share: float, times: float) -> float:
    """The probability that at least one of a number of tries succeeds (Cardenas).

    >>> round(hit(1 / 6, 2), 4)
    0.3056
    """
    return 1.0 if share >= 1 else -expm1(times * log1p(-share))
