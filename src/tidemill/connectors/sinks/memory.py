"""Results in the memory of the driver, to be looked at while the query runs."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from typing import Any

import polars as pl
import pyarrow as pa

from tidemill.connectors.sinks.forms import Shape
from tidemill.errors import ExecutionError

_LIMIT = 1_000_000


class MemorySink:
    """Keeps the rows of all ticks, or of a snapshot those of the newest one, up to a limit.

    Rows are given by one thread and may be read by others.
    """

    def __init__(self, shape: Shape, options: Mapping[str, Any]) -> None:
        self.shape = shape
        self._limit = _limit_of(options)
        self._lock = Lock()
        self._ticks: dict[int, pa.Table] = {}
        self._count = 0

    @property
    def form(self) -> str:
        return self.shape.form

    @property
    def rests(self) -> bool:
        """Whether a tick without rows is nothing to it."""
        return not self.shape.is_whole

    def give(self, rows: pl.DataFrame, tick: int) -> None:
        """Keep the rows of a tick, in place of the rows of an earlier attempt."""
        self.take(self.shape(rows), tick)

    def take(self, table: pa.Table, tick: int) -> None:
        """Keep rows that have their shape already."""
        with self._lock:
            before = self._count if self.shape.is_whole else self._rows_of(tick)
            count = self._count - before + table.num_rows
            self._check(count)
            if self.shape.is_whole:
                self._ticks.clear()
            self._ticks.pop(tick, None)
            if table.num_rows:
                self._ticks[tick] = table
            self._count = count

    def results(self) -> pa.Table:
        """All rows that are kept, in the order of the ticks."""
        with self._lock:
            kept = [self._ticks[tick] for tick in sorted(self._ticks)]
        return pa.concat_tables([self.shape.columns.empty_table(), *kept])

    def _rows_of(self, tick: int) -> int:
        table = self._ticks.get(tick)
        return 0 if table is None else int(table.num_rows)

    def _check(self, count: int) -> None:
        if count > self._limit:
            raise ExecutionError(
                f"the sink memory is full: {count} rows, and its limit is {self._limit}",
                help="write to files, ask for form='snapshot', or give it a larger limit",
            )


def _limit_of(options: Mapping[str, Any]) -> int:
    given = options.get("limit", _LIMIT)
    try:
        return int(given)
    except (TypeError, ValueError):
        raise ExecutionError(
            f"the limit of the sink memory is not a number: {given!r}",
            help="say how many rows it may keep: limit=10_000",
        ) from None
