"""What sinks are: they take rows in the driver, where the rows are, or by the hand of Spark.

A tick that was not completed is done again, with the same number and the same rows. So every sink
takes a tick as often as it is given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import polars as pl

from tidemill.connectors.sinks.forms import Shape
from tidemill.connectors.sinks.requests import TableSink


class PartWriter(Protocol):
    """Writes some rows of a tick, in the process that has them; it can be sent there."""

    def write(self, rows: pl.DataFrame, tick: int, part: int) -> str | None:
        """Write the rows of a part; the name of their file, or None if there are no rows."""


@runtime_checkable
class PartSink(Protocol):
    """Takes the rows of a tick part by part, where they are."""

    @property
    def form(self) -> str: ...

    @property
    def writer(self) -> PartWriter: ...

    def finish(self, tick: int, names: Sequence[str]) -> None:
        """In the driver, when all parts are written: the tick consists of the files named."""


@dataclass(frozen=True)
class SparkWrite:
    """What only Spark can write: a format with its options, and the shape of the rows.

    With a `path`, it writes files: those of every tick in a folder of their own below it, and of
    snapshots only the newest whole one stays. Without, it is any writer of Spark, to which the
    rows of a tick are appended, or whose rows they replace if they are the `whole` answer.
    """

    format: str
    shape: Shape
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)  # perhaps a password
    path: str | None = None

    @property
    def form(self) -> str:
        return self.shape.form

    @property
    def whole(self) -> bool:
        return self.shape.is_whole


__all__ = ["PartSink", "PartWriter", "SparkWrite", "TableSink"]
