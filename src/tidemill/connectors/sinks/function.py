"""Results as arguments of a function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import polars as pl
import pyarrow as pa

from tidemill.connectors.sinks.forms import Shape


@dataclass(frozen=True)
class FunctionSink:
    """Calls a function with the rows of every tick that has some, and with every snapshot.

    A snapshot without rows is news: the answer is empty now.
    """

    shape: Shape
    call: Callable[[pa.Table, int], None]

    @property
    def form(self) -> str:
        return self.shape.form

    @property
    def rests(self) -> bool:
        """Whether a tick without rows is nothing to it."""
        return not self.shape.is_whole

    def give(self, rows: pl.DataFrame, tick: int) -> None:
        """Call the function with the rows of a tick."""
        if rows.height or not self.rests:
            self.take(self.shape(rows), tick)

    def take(self, table: pa.Table, tick: int) -> None:
        """Call the function with rows that have their shape already."""
        if table.num_rows or not self.rests:
            self.call(table, tick)
