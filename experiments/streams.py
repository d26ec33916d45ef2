"""Streams as Golab and Özsu made them, for joins with the parameters of their tables.

Every turn of a loop makes a row of some stream, by chance as its rate is, and its timestamp is the
number of the turn. A unit of time is therefore as many turns as rows come in it, all streams
together; else a window would hold fewer rows than its rate and length say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from experiments.algorithms import Row, arrivals
from experiments.multijoin import LoopWindow

TABLE_5 = (
    LoopWindow("S1", 10, 100, 500),
    LoopWindow("S2", 1, 100, 50),
    LoopWindow("S3", 1, 200, 40),
    LoopWindow("S4", 3, 100, 5),
)
TABLE_6 = (
    LoopWindow("S1", 100, 100, 200),
    LoopWindow("S2", 1, 100, 200),
    LoopWindow("S3", 1, 100, 20),
    LoopWindow("S4", 3, 100, 2),
)
TABLE_7 = (
    LoopWindow("S1", 11, 100, 200),
    LoopWindow("S2", 10, 100, 100),
    LoopWindow("S3", 1, 100, 65),
    LoopWindow("S4", 1, 100, 20),
)


def equal_streams(count: int, rates: Sequence[float] = ()) -> tuple[LoopWindow, ...]:
    """The streams of the figures: length 100, 50 values, rate 1 if nothing else is said."""
    return tuple(
        LoopWindow(f"S{at + 1}", rate, 100, 50) for at, rate in enumerate(rates or (1,) * count)
    )


def scaled(windows: Sequence[LoopWindow], factor: int) -> tuple[LoopWindow, ...]:
    """More rows and as many more values: each row finds as many partners as before.

    >>> scaled(TABLE_5, 10)[1]
    LoopWindow(name='S2', rate=10, window=100, distinct=500, buckets=1)
    """
    return tuple(
        replace(window, rate=window.rate * factor, distinct=window.distinct * factor)
        for window in windows
    )


@dataclass(frozen=True)
class Data:
    """Rows of all streams in the order they come: their streams and values, by timestamp."""

    windows: tuple[LoopWindow, ...]
    streams: np.ndarray
    values: np.ndarray

    @property
    def turns(self) -> float:
        """Rows, and so timestamps, per unit of time."""
        return sum(window.rate for window in self.windows)

    @property
    def lengths(self) -> tuple[int, ...]:
        """The windows in timestamps."""
        return tuple(round(window.window * self.turns) for window in self.windows)

    def rows(self) -> list[Row]:
        """For the algorithms that go row by row."""
        pairs = zip(self.streams.tolist(), self.values.tolist(), strict=True)
        return arrivals((stream, ts, value) for ts, (stream, value) in enumerate(pairs, 1))

    def batches(self, first: int, size: int) -> Iterator[range]:
        """From the first on, so many rows at a time; what is left over is left out."""
        last = len(self.streams) - size
        return (range(begin, begin + size) for begin in range(first, last + 1, size))


def generate(windows: Sequence[LoopWindow], units: float, seed: int = 7) -> Data:
    """Rows of so many units of time.

    >>> data = generate(TABLE_5, units=100)
    >>> len(data.streams), np.bincount(data.streams).tolist(), data.lengths
    (1500, [1004, 101, 96, 299], (1500, 1500, 3000, 1500))
    """
    random = np.random.default_rng(seed)
    rates = np.array([window.rate for window in windows], dtype=float)
    count = round(units * rates.sum())
    streams = random.choice(len(windows), size=count, p=rates / rates.sum())
    most = np.array([window.distinct for window in windows])[streams]
    return Data(tuple(windows), streams, random.integers(1, most + 1))
