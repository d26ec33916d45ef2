"""When rows of a source hold: from a time column, an interval, or since they were inserted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from tidemill.algebra.nodes import VERSION, Scan, SourceKind
from tidemill.algebra.schema import Field, Schema
from tidemill.catalog import SourceInfo
from tidemill.connectors.change_source import DELETED, INSERTED
from tidemill.errors import ExecutionError
from tidemill.physical.mechanisms.arrays import Ints
from tidemill.physical.operator import empty_batch, with_validity
from tidemill.timeline import BEGIN, OPEN_END


@dataclass(frozen=True)
class Timing:
    """How a task tells when the rows of a source hold: the kind, and the columns that say so."""

    source: str
    kind: SourceKind
    columns: Schema
    time: str | None = None
    valid: tuple[str, str] | None = None

    @staticmethod
    def of(info: SourceInfo) -> Timing:
        """The timing of a source; `columns` are all that its rows have."""
        valid = None
        if info.kind is SourceKind.INTERVALS and info.valid_from and info.valid_to:
            valid = info.valid_from, info.valid_to
        return Timing(info.name, info.kind, columns_of(info), info.time_column, valid)

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns without which it cannot be computed."""
        if self.kind is SourceKind.CHANGING:
            return INSERTED, DELETED
        if self.kind is SourceKind.STREAM and self.time is not None:
            return (self.time,)
        return self.valid or ()

    def rows(self, table: pa.Table, arrived: int) -> TimedRows:
        """The rows with their validity; those without a time of their own hold since `arrived`."""
        match self.kind:
            case SourceKind.STREAM:
                start = self._times(table, arrived)
                return TimedRows(table, start, start + 1)
            case SourceKind.CONSTANT:
                start = np.full(table.num_rows, BEGIN, dtype=np.int64)
                return TimedRows(table, start, np.full_like(start, OPEN_END))
            case SourceKind.CHANGING:
                begin, end = (table.column(name).to_numpy() for name in (INSERTED, DELETED))
                return TimedRows(table, begin, end)
        assert self.valid is not None
        begin = instants(table.column(self.valid[0]), self.source, self.valid[0])
        end = instants(table.column(self.valid[1]), self.source, self.valid[1], null=OPEN_END)
        return TimedRows(table, begin, end).where(begin < end)

    def _times(self, table: pa.Table, arrived: int) -> Ints:
        if self.time is None:
            return np.full(table.num_rows, arrived, dtype=np.int64)
        return instants(table.column(self.time), self.source, self.time)


@dataclass(frozen=True)
class TimedRows:
    """Rows of a source, and when they start and end to hold."""

    table: pa.Table
    start: Ints
    end: Ints

    def __len__(self) -> int:
        return len(self.start)

    def where(self, kept: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> TimedRows:
        """Some of the rows."""
        if kept.all():
            return self
        return TimedRows(self.table.filter(pa.array(kept)), self.start[kept], self.end[kept])

    def scanned(self, scan: Scan) -> pl.DataFrame:
        """The batch that a leaf of the plan sees: its columns under its alias."""
        if not len(self):
            return empty_batch(scan.schema)
        names = [f"{scan.alias}.{name}" for name in scan.columns.names]
        table = self.table.select(list(scan.columns.names)).rename_columns(names)
        return with_validity(pl.DataFrame(table), self.start, self.end)


def columns_of(info: SourceInfo) -> Schema:
    """All columns of the rows of a source, those that tell when they hold too."""
    if info.kind is SourceKind.CHANGING:
        times = (Field(name, pa.int64()) for name in (VERSION, INSERTED, DELETED))
        return Schema((*info.schema, *times))
    if info.declared.fields:
        return info.declared
    if info.time_column is not None and info.time_type is not None:
        return Schema((*info.schema, Field(info.time_column, info.time_type)))
    return info.schema


def instants(column: pa.ChunkedArray, source: str, name: str, null: int | None = None) -> Ints:
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
    times = np.asarray(column.to_numpy(), dtype=np.int64)
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
    return times
