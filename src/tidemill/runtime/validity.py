"""When rows of a source hold: from a time column, an interval, or since they were inserted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from tidemill.algebra.nodes import VERSION, Scan, SourceKind
from tidemill.algebra.scalar import Scalar
from tidemill.algebra.schema import Field, Schema
from tidemill.catalog import SourceInfo
from tidemill.connectors.change_source import DELETED, INSERTED
from tidemill.errors import ExecutionError
from tidemill.expressions import Compiled, compile_items
from tidemill.physical.mechanisms.arrays import Ints
from tidemill.physical.operator import empty_batch, with_validity
from tidemill.timeline import BEGIN, OPEN_END


@dataclass(frozen=True)
class Timing:
    """How a task tells when the rows of a source hold: the kind, and the columns that say so.

    `columns` are those that rows bring. Others are `computed` of them, which may be the time; those
    that are `required` are never NULL.
    """

    source: str
    kind: SourceKind
    columns: Schema
    time: str | None = None
    valid: tuple[str, str] | None = None
    computed: tuple[tuple[str, Scalar], ...] = ()
    required: tuple[str, ...] = ()

    @staticmethod
    def of(info: SourceInfo) -> Timing:
        """The timing of a source."""
        valid = None
        if info.kind is SourceKind.INTERVALS and info.valid_from and info.valid_to:
            valid = info.valid_from, info.valid_to
        computed = tuple(info.computed.items())
        columns = columns_of(info)
        return Timing(
            info.name, info.kind, columns, info.time_column, valid, computed, info.required
        )

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns without which it cannot be computed."""
        if self.kind is SourceKind.CHANGING:
            return INSERTED, DELETED
        if self.kind is SourceKind.STREAM and self.time is not None:
            return (self.time,)
        return self.valid or ()

    def read(self, names: Iterable[str]) -> list[str]:
        """What of a row must be read for so many of its columns."""
        made = dict(self.computed)
        wanted = [made[name].columns if name in made else (name,) for name in names]
        return sorted({name for some in wanted for name in some}, key=self.columns.names.index)

    def completed(self, table: pa.Table, names: Iterable[str]) -> pa.Table:
        """What was read, with those of the wanted columns that are computed."""
        table = self.checked(table)
        wanted = set(names)
        items = tuple((name, scalar) for name, scalar in self.computed if name in wanted)
        if not items:
            return table
        inputs = self.read(name for name, _ in items) or table.column_names[:1]
        compiled = _compiled(items, self.columns.select(inputs))
        made = compiled.run(pl.DataFrame(table.select(inputs)))
        types = {name: scalar.type for name, scalar in items}
        for name, values in zip(made.columns, made.to_arrow().columns, strict=True):
            table = table.append_column(name, values.cast(types[name]))
        return self.checked(table)

    def checked(self, table: pa.Table) -> pa.Table:
        """The rows, if no column has a NULL that must not have one."""
        for name in self.required:
            if name in table.column_names and (missing := table.column(name).null_count):
                raise ExecutionError(
                    f"column `{name}` of `{self.source}` is NOT NULL, but NULL in {missing} row(s)",
                    help="leave these rows out, or declare the column without NOT NULL",
                )
        return table

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
    """The columns that the rows of a source bring, those that tell when they hold too."""
    if info.kind is SourceKind.CHANGING:
        times = (Field(name, pa.int64()) for name in (VERSION, INSERTED, DELETED))
        return Schema((*info.schema, *times))
    return info.brought


@lru_cache(maxsize=64)
def _compiled(items: tuple[tuple[str, Scalar], ...], columns: Schema) -> Compiled:
    return compile_items(items, columns, {})


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
