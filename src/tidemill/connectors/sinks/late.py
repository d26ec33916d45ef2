"""Where rows go that came too late: files of their own for each source, or a function."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl
import pyarrow as pa

from tidemill.algebra.schema import Schema
from tidemill.connectors.sinks.forms import WATERMARK, late_shaped
from tidemill.connectors.sinks.function import FunctionSink
from tidemill.connectors.sinks.requests import LateCallback
from tidemill.connectors.sinks.tables import time_type
from tidemill.connectors.sinks.writable import Sink, Writable, file_sink
from tidemill.errors import ExecutionError
from tidemill.store import Durability
from tidemill.timeline import TimeDomain

ARRIVED = "arrived_at"
"""The column with the time of late rows, if that is the time of their arrival."""


def check_late(source: str, time: str, columns: Iterable[str]) -> None:
    """Refuse late rows whose own columns are named like those that tell when they came."""
    names = [time, WATERMARK, *columns]
    for name in (WATERMARK, time):
        if names.count(name) > 1:
            raise ExecutionError(
                f"`{source}` has a column `{name}`, and late rows need that name",
                help="give the column of the source another name, or start without `late`",
            )


@dataclass(frozen=True)
class LateShape:
    """The shape of the rows of a source that came too late."""

    source: str
    time: str
    schema: Schema
    domain: TimeDomain | None = None

    form = "late"
    is_whole = False

    def __post_init__(self) -> None:
        check_late(self.source, self.time, self.schema.names)

    @property
    def columns(self) -> pa.Schema:
        at = time_type(self.domain)
        return pa.schema([*self.schema.to_arrow(), (self.time, at), (WATERMARK, at)])

    def __call__(self, rows: pl.DataFrame) -> pa.Table:
        return late_shaped(rows, self.time, self.schema, self.domain)


def make_late_sink(
    target: str | LateCallback,
    shape: LateShape,
    spark_formats: bool,
    local_paths: bool = True,
    durability: Durability = "process",
) -> Sink:
    """The sink for late rows of a source: below a folder, or a function."""
    if callable(target):
        call = target
        return FunctionSink(shape, lambda table, tick: call(shape.source, table, tick))
    options = {"path": f"{target}/{shape.source}"}
    return file_sink("parquet", shape, options, Writable(spark_formats, local_paths, durability))
