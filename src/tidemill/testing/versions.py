"""Rows of relations that hold for a while, and the ticks in which changes come."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import polars as pl
import pyarrow as pa

from tidemill.algebra import VERSION
from tidemill.runtime.inprocess.feeds import Feed, instants
from tidemill.testing.random_data import TIME, RandomStream, random_row, to_table
from tidemill.timeline import BEGIN, OPEN_END

FROM, TO = "#start", "#end"

Version = tuple[Mapping[str, Any], int, int]
"""A row, and from when to when it holds."""

Change = tuple[int, Mapping[str, Any], int, int]
"""The number of a version, its row, and when it holds; it ends where it starts if that is told."""


def random_versions(random: Random, latest: int = 12) -> list[Version]:
    """Rows of a relation; some come again, some never go."""
    versions: list[Version] = []
    for _ in range(random.randint(0, 12)):
        start = random.choice([BEGIN, random.randint(0, latest), random.randint(0, latest)])
        end = random.choice([OPEN_END, start + random.randint(1, 4), random.randint(start + 1, 14)])
        again = versions and random.random() < 0.2
        row = random.choice(versions)[0] if again else random_row(random)
        versions.append((row, start, end))
    return versions


def version_table(changes: Sequence[Change]) -> pa.Table:
    """Rows with their number and validity."""
    table = to_table(tuple({**row, TIME: None} for _, row, _, _ in changes)).drop_columns([TIME])
    columns = {VERSION: 0, FROM: 2, TO: 3}
    for name, at in columns.items():
        values = pa.array([change[at] for change in changes], pa.int64())
        table = table.append_column(name, values)
    return table


def known_changes(versions: Sequence[Version]) -> list[Change]:
    """Versions whose ends are known, as changes."""
    return [(number, row, start, end) for number, (row, start, end) in enumerate(versions)]


def arriving(
    versions: Sequence[Version], streams: Sequence[RandomStream], random: Random
) -> list[list[Change]]:
    """The changes of every tick.

    A change comes when no stream has brought rows as late as it, and often at the last moment;
    an end comes with its row, or later.
    """
    latest = _latest_before(streams)
    ticks: list[list[Change]] = [[] for _ in latest]
    for number, row, start, end in known_changes(versions):
        inserted = _tick_of(start, latest, 0, random)
        deleted = _tick_of(end, latest, inserted, random)
        if end == OPEN_END or (inserted == deleted and random.random() < 0.5):
            ticks[inserted].append((number, row, start, end))
        else:
            ticks[inserted].append((number, row, start, OPEN_END))
            ticks[deleted].append((number, row, end, end))
    return [random.sample(tick, len(tick)) for tick in ticks]


def _latest_before(streams: Sequence[RandomStream]) -> list[int]:
    """For every tick, the time of the newest row before it."""
    length = max([1, *(len(stream.ticks) for stream in streams)])
    latest = [-1]
    for number in range(length - 1):
        rows = [row for s in streams for tick in s.ticks[number : number + 1] for row in tick]
        latest.append(max([latest[-1], *(row[TIME] for row in rows)]))
    return latest


def _tick_of(instant: int, latest: Sequence[int], first: int, random: Random) -> int:
    last = max(number for number, newest in enumerate(latest) if newest < max(instant, 0))
    return random.choice([last, random.randint(first, max(first, last))])


@dataclass
class ArrivingFeed(Feed):
    """The changes of a relation, tick by tick; `marks` are the watermarks after each."""

    marks: Iterator[int] = field(default_factory=lambda: iter(()))

    @staticmethod
    def of(name: str, ticks: Sequence[Sequence[Change]]) -> ArrivingFeed:
        """Its watermark is the instant of the next change that is still to come."""
        later = [
            min([OPEN_END, *(start for tick in ticks[at + 1 :] for _, _, start, _ in tick)])
            for at in range(len(ticks))
        ]
        return ArrivingFeed(name, map(version_table, ticks), marks=iter(later))

    def _read(self, table: pa.Table) -> tuple[pl.DataFrame, pl.Series, pl.Series]:
        self.progress.rows += table.num_rows
        self.progress.watermark = next(self.marks)
        start, end = (
            instants(table.column(name), self.name, name, OPEN_END) for name in (FROM, TO)
        )
        return pl.DataFrame(table.drop_columns([FROM, TO])), pl.Series(start), pl.Series(end)
