"""What sources bring, tick by tick: rows with their validity, and a watermark."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from tidemill.algebra.nodes import Scan
from tidemill.changes import DELETED, INSERTED
from tidemill.errors import ExecutionError
from tidemill.physical.operator import with_validity
from tidemill.runtime.progress import RelationProgress, SourceProgress
from tidemill.runtime.versions import first_versions
from tidemill.timeline import BEGIN, OPEN_END


@dataclass
class FeedProgress:
    """How a source is doing."""

    rows: int = 0
    late_rows: int = 0
    watermark: int = BEGIN
    held: int | None = None

    def summary(self) -> SourceProgress:
        """What users get to see of it."""
        watermark = None if self.watermark == OPEN_END else self.watermark
        if self.held is None:
            return SourceProgress(self.rows, self.late_rows, watermark)
        return RelationProgress(self.rows, self.late_rows, watermark, self.held)


@dataclass
class Feed(ABC):
    """A source as the runtime reads it, one table per tick."""

    name: str
    tables: Iterator[pa.Table]
    progress: FeedProgress = field(default_factory=FeedProgress)

    def __post_init__(self) -> None:
        self._next = next(self.tables, None)
        self._taken = 0

    @property
    def place(self) -> Any:
        """How far the source has come: what `go_to` needs to go on from here."""
        return self._taken, replace(self.progress)

    def go_to(self, place: Any) -> None:
        """Go on where another reading of the same source was."""
        taken, self.progress = place[0], replace(place[1])
        for _ in range(self._taken, taken):
            self._next = next(self.tables, None)
        self._taken = taken

    @property
    def ended(self) -> bool:
        """Whether everything was read."""
        return self._next is None and self.progress.watermark == OPEN_END

    @property
    def has_more(self) -> bool:
        """Whether another tick would bring something."""
        return not self.ended

    def tick(self) -> tuple[pl.DataFrame, pl.Series, pl.Series]:
        """The rows of the next tick, and when they start and end to hold."""
        table = self._next
        self._next = next(self.tables, None)
        self._taken += 1
        result = self._nothing() if table is None else self._read(table)
        if self._next is None:
            # Nothing can follow: everything may be finished.
            self.progress.watermark = OPEN_END
        return result

    @abstractmethod
    def _read(self, table: pa.Table) -> tuple[pl.DataFrame, pl.Series, pl.Series]:
        """Give rows their validity and move the watermark."""

    @staticmethod
    def _nothing() -> tuple[pl.DataFrame, pl.Series, pl.Series]:
        empty = pl.Series([], dtype=pl.Int64)
        return pl.DataFrame(), empty, empty


@dataclass
class StreamFeed(Feed):
    """Rows that hold at the instant in their time column; late ones are left out."""

    time: str = ""
    slack: int = 0
    newest_end: int = BEGIN

    @property
    def place(self) -> Any:
        return (*super().place, self.newest_end)

    def go_to(self, place: Any) -> None:
        super().go_to(place)
        self.newest_end = place[2]

    def heartbeat(self, at: int) -> None:
        """No more rows hold before an instant."""
        self.progress.watermark = max(self.progress.watermark, at)

    def _read(self, table: pa.Table) -> tuple[pl.DataFrame, pl.Series, pl.Series]:
        times = instants(table.column(self.time), self.name, self.time)
        in_time = times >= self.progress.watermark
        self.progress.rows += len(times)
        self.progress.late_rows += len(times) - int(in_time.sum())
        rows = pl.DataFrame(table)
        if not in_time.all():
            rows, times = rows.filter(in_time), times[in_time]
        if len(times):
            newest = int(times.max())
            self.newest_end = max(self.newest_end, newest + 1)
            self.progress.watermark = max(self.progress.watermark, newest - self.slack)
        return rows, pl.Series(times), pl.Series(times + 1)


class GoneFeed(StreamFeed):
    """A source that was dropped after a checkpoint had told of it."""

    def go_to(self, place: Any) -> None:
        self.progress = replace(place[1])


class Backlog:
    """Rows that were pushed into a stream and wait to be read.

    >>> backlog = Backlog()
    >>> backlog.push(pa.table({"at": [1]}))
    >>> [table.num_rows for table in backlog.take()], backlog.take()
    ([1], [])
    """

    def __init__(self) -> None:
        self._waiting: deque[pa.Table] = deque()
        self.closed = False

    def push(self, table: pa.Table) -> None:
        """Let rows wait."""
        self._waiting.append(table)

    def take(self) -> list[pa.Table]:
        """All rows that wait, from now on in the hands of the caller."""
        return [self._waiting.popleft() for _ in range(len(self._waiting))]

    @property
    def rows(self) -> int:
        """How many rows wait."""
        return sum(table.num_rows for table in list(self._waiting))

    def look(self) -> list[pa.Table]:
        """All rows that wait; they go on waiting."""
        return list(self._waiting)


@dataclass
class PushedFeed(StreamFeed):
    """A stream whose rows are pushed: a tick takes all that wait. It ends when it is closed."""

    backlog: Backlog = field(default_factory=Backlog)

    @property
    def ended(self) -> bool:
        return self.progress.watermark == OPEN_END

    @property
    def has_more(self) -> bool:
        return bool(self.backlog.look()) or (self.backlog.closed and not self.ended)

    def tick(self) -> tuple[pl.DataFrame, pl.Series, pl.Series]:
        closed, tables = self.backlog.closed, self.backlog.take()
        result = self._read(pa.concat_tables(tables)) if tables else self._nothing()
        if closed:
            self.progress.watermark = OPEN_END
        return result


@dataclass
class ConstantFeed(Feed):
    """Rows that hold from the beginning, for ever."""

    def _read(self, table: pa.Table) -> tuple[pl.DataFrame, pl.Series, pl.Series]:
        self.progress.rows += table.num_rows
        start = np.full(table.num_rows, BEGIN, dtype=np.int64)
        return pl.DataFrame(table), pl.Series(start), pl.Series(np.full_like(start, OPEN_END))


@dataclass
class IntervalFeed(Feed):
    """Rows that bring their validity in two columns; a NULL end is open."""

    valid: tuple[str, str] = ("", "")

    def _read(self, table: pa.Table) -> tuple[pl.DataFrame, pl.Series, pl.Series]:
        self.progress.rows += table.num_rows
        start = instants(table.column(self.valid[0]), self.name, self.valid[0])
        until = table.column(self.valid[1])
        end = instants(until, self.name, self.valid[1], null=OPEN_END)
        kept = start < end
        return pl.DataFrame(table).filter(kept), pl.Series(start[kept]), pl.Series(end[kept])


@dataclass
class ChangingFeed(Feed):
    """Rows of a relation that changes, all at once, with a number for every insertion."""

    def _read(self, table: pa.Table) -> tuple[pl.DataFrame, pl.Series, pl.Series]:
        versions = first_versions(pl.DataFrame(table))
        start, end = versions[INSERTED], versions[DELETED]
        self.progress.rows += table.num_rows
        self.progress.held = int((end == OPEN_END).sum())
        return versions.drop(INSERTED, DELETED), start, end


def instants(
    column: pa.ChunkedArray, source: str, name: str, null: int | None = None
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """A time column as integers: ticks, or microseconds since 1970."""
    if column.null_count and null is None:
        raise ExecutionError(
            f"the time column `{name}` of `{source}` is NULL in {column.null_count} row(s)",
            help="leave these rows out, or give them a time",
        )
    if pa.types.is_timestamp(column.type) or pa.types.is_date(column.type):
        column = column.cast(pa.timestamp("us")).cast(pa.int64())
    column = column.cast(pa.int64())
    if null is not None:
        column = pc.fill_null(column, null)
    times = column.to_numpy()
    if len(times) and times.min() < BEGIN:
        raise ExecutionError(
            f"the time column `{name}` of `{source}` goes back before the beginning of time "
            f"({int(times.min())})",
            help="time starts at 0: for timestamps, at 1970-01-01 00:00:00 UTC",
        )
    if null is None and len(times) and times.max() >= OPEN_END - 1:
        raise ExecutionError(
            f"the time column `{name}` of `{source}` goes beyond the end of time "
            f"({int(times.max())})",
            help=f"the last instant is {OPEN_END - 2}",
        )
    return np.asarray(times, dtype=np.int64)


def scanned(
    scan: Scan, rows: pl.DataFrame, start: pl.Series, end: pl.Series, empty: pl.DataFrame
) -> pl.DataFrame:
    """The batch that a leaf of the plan sees: its columns under its alias."""
    if rows.height == 0:
        return empty
    names = scan.columns.names
    payload = pl.DataFrame([rows[name].alias(f"{scan.alias}.{name}") for name in names])
    return with_validity(payload, start.to_numpy(), end.to_numpy())
