"""What a run finds out about its sources and conditions, for the plans of other queries."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from tidemill.algebra.nodes import SourceKind
from tidemill.optimize.statistics import Statistics, StreamStatistics
from tidemill.physical.arrays import Ints
from tidemill.runtime.sketch import RecentDistinct, Sketch
from tidemill.timeline import BEGIN, OPEN_END

_RECENT_ROWS = 1 << 16
"""So many rows make a generation, at least; the rate is that of the last two."""

_SAMPLE = 256
"""Rows of a tick that tell about the granularity, and about the length of validity."""

_ENOUGH_SAMPLES = 32
"""Ticks after which neither is looked at any more."""

_MOST_COLUMNS = 8
"""Of a source, whose distinct values are counted."""


@dataclass
class _Span:
    """Some rows, and from when to when they start."""

    rows: int = 0
    first: int = OPEN_END
    last: int = BEGIN

    def add(self, rows: int, first: int, last: int) -> None:
        self.rows += rows
        self.first = min(self.first, first)
        self.last = max(self.last, last)


class RecentRate:
    """Rows per instant, among recent rows.

    >>> rate = RecentRate()
    >>> rate.add(30, first=10, last=100)
    >>> rate.value(granularity=10)
    0.3
    """

    def __init__(self) -> None:
        self._before, self._now = _Span(), _Span()

    def add(self, rows: int, first: int, last: int) -> None:
        """Take rows into account that start in this time."""
        if self._now.rows >= _RECENT_ROWS:
            self._before, self._now = self._now, _Span()
        self._now.add(rows, first, last)

    def value(self, granularity: int = 1) -> float | None:
        """The rate of rows so far apart at least; None if there are none, or at one instant."""
        first = min(self._before.first, self._now.first)
        last = max(self._before.last, self._now.last)
        if last <= first:
            return None
        return (self._before.rows + self._now.rows) / (last - first + granularity)


@dataclass(frozen=True)
class Sample:
    """What some rows of a tick tell: the gcd of their starts, how many of them end, and when."""

    granularity: int = 0
    ending: int = 0
    length: int = 0

    @staticmethod
    def of(start: Ints, end: Ints) -> Sample:
        """Look at the first rows."""
        start, end = start[:_SAMPLE], end[:_SAMPLE]
        lengths = (end - start)[end < OPEN_END]
        return Sample(int(np.gcd.reduce(start, initial=0)), len(lengths), int(lengths.sum()))


@dataclass(frozen=True)
class Found:
    """What a task has found out about the rows of a source in a tick: some of it."""

    rows: int
    first: int
    last: int
    sample: Sample
    sketches: dict[str, Sketch]

    @staticmethod
    def of(rows: pl.DataFrame, columns: Iterable[str], start: Ints, end: Ints) -> Found | None:
        """Look at rows, with the columns that queries read; None if there are none."""
        if not len(start):
            return None
        sketches = {name: Sketch() for name in countable(rows, columns)}
        for name, sketch in sketches.items():
            sketch.add(rows[name])
        first, last = int(start.min()), int(start.max())
        return Found(len(start), first, last, Sample.of(start, end), sketches)


@dataclass
class SourceFacts:
    """What is known about one source."""

    kind: SourceKind
    rows: int = 0
    rate: RecentRate = field(default_factory=RecentRate)
    columns: dict[str, RecentDistinct] = field(default_factory=dict)
    _samples: int = 0
    _granularity: int = 0
    _ending: int = 0
    _length: int = 0

    def take(self, found: Found) -> None:
        """Take what a task has found into account."""
        self.arrived(found.rows, found.first, found.last)
        if self._samples < _ENOUGH_SAMPLES:
            self.sampled(found.sample)
        for name, sketch in found.sketches.items():
            self.columns.setdefault(name, RecentDistinct()).merge(sketch, found.rows)

    def arrived(self, rows: int, first: int, last: int) -> None:
        """Take note of how many rows came, and for which time."""
        self.rows += rows
        self.rate.add(rows, first, last)

    def sampled(self, sample: Sample) -> None:
        """Take a sample into account."""
        self._samples += 1
        self._granularity = int(np.gcd(self._granularity, sample.granularity))
        self._ending += sample.ending
        self._length += sample.length

    @property
    def statistics(self) -> StreamStatistics:
        """The facts, as the planner knows them."""
        lasting = self.kind is SourceKind.INTERVALS
        timed = lasting or self.kind is SourceKind.STREAM
        return StreamStatistics(
            rate=self.rate.value(self._granularity or 1) if timed else None,
            length=self._length / self._ending if lasting and self._ending else None,
            granularity=self._granularity or None if timed else None,
            rows=None if self.kind is SourceKind.STREAM else self.rows,
            distinct={name: column.estimate for name, column in list(self.columns.items())},
        )


def countable(rows: pl.DataFrame, columns: Iterable[str]) -> list[str]:
    """Those of the columns whose distinct values are counted."""
    return [name for name in columns if not rows.schema[name].is_nested()][:_MOST_COLUMNS]


@dataclass
class Gathering:
    """All that a run finds out; it goes on while the run does.

    `shares` are those of rows or pairs that meet a condition, under the names of the sources.
    """

    sources: dict[str, SourceFacts] = field(default_factory=dict)
    shares: dict[str, float] = field(default_factory=dict)

    def of(self, source: str, kind: SourceKind) -> SourceFacts:
        """What is known about a source, at first nothing."""
        return self.sources.setdefault(source, SourceFacts(kind))

    @property
    def statistics(self) -> Statistics:
        """What is known now, under the names of the sources."""
        known = {name: facts.statistics for name, facts in list(self.sources.items()) if facts.rows}
        return Statistics(known, dict(self.shares))
