"""What tasks see of the rows of a source, and what is known of it from all of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from tidemill.algebra.nodes import SourceKind
from tidemill.optimize.statistics import StreamStatistics
from tidemill.physical.mechanisms.arrays import Ints
from tidemill.runtime.rate_meter import RateMeter
from tidemill.runtime.statistics.sketch import RecentDistinct, Sketch
from tidemill.timeline import OPEN_END

_RECENT_ROWS = 1 << 16
"""Of a source, that tell its rate."""

_SAMPLE = 256
"""Rows of a tick that tell about the granularity, and about the length of validity."""

_ENOUGH_SAMPLES = 32
"""Ticks after which neither is looked at any more."""

_MOST_COLUMNS = 8
"""Of a source, whose distinct values are counted."""


@dataclass(frozen=True)
class ValiditySample:
    """What some rows of a tick tell: the gcd of their starts, how many of them end, and when."""

    granularity: int = 0
    ending: int = 0
    length: int = 0

    @staticmethod
    def of(start: Ints, end: Ints) -> ValiditySample:
        """Look at the first rows."""
        start, end = start[:_SAMPLE], end[:_SAMPLE]
        lengths = (end - start)[end < OPEN_END]
        return ValiditySample(
            int(np.gcd.reduce(start, initial=0)), len(lengths), int(lengths.sum())
        )


@dataclass(frozen=True)
class SourceSample:
    """What a task has seen of the rows of a source in a tick: of some of it, a sample."""

    rows: int
    first: int
    last: int
    sample: ValiditySample
    sketches: dict[str, Sketch]

    @staticmethod
    def of(
        rows: pl.DataFrame, columns: Iterable[str], start: Ints, end: Ints
    ) -> SourceSample | None:
        """Look at rows, with the columns that queries read; None if there are none."""
        if not len(start):
            return None
        sketches = {name: Sketch() for name in countable(rows, columns)}
        for name, sketch in sketches.items():
            sketch.add(rows[name])
        first, last = int(start.min()), int(start.max())
        return SourceSample(len(start), first, last, ValiditySample.of(start, end), sketches)


@dataclass
class SourceStatistics:
    """What is known about one source, from the samples of all tasks so far."""

    kind: SourceKind
    rows: int = 0
    rate: RateMeter = field(default_factory=lambda: RateMeter(rows=_RECENT_ROWS))
    columns: dict[str, RecentDistinct] = field(default_factory=dict)
    _samples: int = 0
    _granularity: int = 0
    _ending: int = 0
    _length: int = 0

    def take(self, found: SourceSample) -> None:
        """Take what a task has found into account."""
        self.arrived(found.rows, found.first, found.last)
        if self._samples < _ENOUGH_SAMPLES:
            self.sampled(found.sample)
        for name, sketch in found.sketches.items():
            self.columns.setdefault(name, RecentDistinct()).merge(sketch, found.rows)

    def arrived(self, rows: int, first: int, last: int) -> None:
        """Take note of how many rows came, and for which time."""
        self.rows += rows
        self.rate.begin(first)
        self.rate.note(self.rows, last)

    def sampled(self, sample: ValiditySample) -> None:
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
            rate=self.rate.rate(granule=self._granularity or 1) if timed else None,
            length=self._length / self._ending if lasting and self._ending else None,
            granularity=self._granularity or None if timed else None,
            rows=None if self.kind is SourceKind.STREAM else self.rows,
            distinct={name: column.estimate for name, column in list(self.columns.items())},
        )


def countable(rows: pl.DataFrame, columns: Iterable[str]) -> list[str]:
    """Those of the columns whose distinct values are counted."""
    return [name for name in columns if not rows.schema[name].is_nested()][:_MOST_COLUMNS]
