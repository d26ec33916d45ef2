"""The sink that drops all rows: to measure a query, or to run it for the answers it keeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from tidemill.connectors.sinks.forms import Shape


@dataclass(frozen=True)
class NoopSink:
    """Takes rows in the shape that was asked for, where they are, and drops them."""

    shape: Shape

    @property
    def form(self) -> str:
        return self.shape.form

    @property
    def writer(self) -> NoopSink:
        return self

    def write(self, rows: pl.DataFrame, tick: int, part: int) -> str | None:
        self.shape(rows)
        return None

    def finish(self, tick: int, names: Sequence[str]) -> None:
        """Nothing was written."""
