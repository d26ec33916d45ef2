"""Rows of relations that hold for a while, and the ticks in which changes come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import pyarrow as pa

from tests.random.data import TIME, RandomStream, random_row, to_table
from tidemill.algebra import VERSION
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


def version_table(changes: Sequence[Change], valid: tuple[str, str] = (FROM, TO)) -> pa.Table:
    """Rows with their number and validity."""
    table = _rows([row for _, row, _, _ in changes])
    columns = {VERSION: 0, valid[0]: 2, valid[1]: 3}
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


def _rows(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    return to_table(tuple({**row, TIME: None} for row in rows)).drop_columns([TIME])
