"""Where results go.

A sink takes the result rows of a tick and the number of the tick. A tick may be done again after
a failure, with the same number and the same rows: files are then written over, and PostgreSQL
knows the number already, so that nothing is lost and nothing doubled. Other writers get the rows
at least once. Snapshots take the place of the ones before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame

from tidemill.algebra.schema import Schema
from tidemill.analyze import SourceInfo
from tidemill.errors import ExecutionError
from tidemill.runtime.interface import LateCallback, SinkRequest
from tidemill.runtime.spark.checkpoint import Checkpoint
from tidemill.runtime.spark.forms import SNAPSHOT, Shape, late_shape, shape_of
from tidemill.runtime.spark.session import from_here
from tidemill.runtime.spark.snapshot_files import SnapshotFolder
from tidemill.runtime.spark.table_sinks import make_table_sink
from tidemill.timeline import TimeDomain

Sink = Callable[[DataFrame, int], None]

FILES = {"parquet", "json", "csv", "orc", "text"}


@dataclass(frozen=True)
class Writer:
    """Who writes to a sink: the checkpoint, and which of the queries that share it."""

    checkpoint: str
    query: int | str

    @property
    def identity(self) -> str:
        return f"{Checkpoint(self.checkpoint).identity()}/{self.query}"


def make_sink(
    request: SinkRequest, domain: TimeDomain | None, schema: Schema, writer: Writer
) -> Sink:
    """The sink that a user asked for; `schema` are the columns of the result."""
    table_sink = make_table_sink(request, domain, schema, lambda: writer.identity)
    if table_sink is not None:
        return table_sink
    shape = shape_of(request.form, domain, schema.names)
    whole, options, format = request.form == SNAPSHOT, request.options, str(request.target)
    if format in FILES:
        return _files(format, shape, whole, options)
    return lambda rows, tick: _write(format, shape(rows), whole, options)


def make_late_sink(target: str | LateCallback, source: SourceInfo) -> Sink:
    """Where late rows of a source go: files of their own below a folder, or a function."""
    shape = late_shape(source.time_column or "arrived_at", source.domain)
    if callable(target):
        return lambda rows, tick: target(source.name, shape(rows).toArrow(), tick)
    return _files("parquet", shape, False, {"path": f"{target}/{source.name}"})


def _files(format: str, shape: Shape, whole: bool, options: Mapping[str, Any]) -> Sink:
    rest = {name: value for name, value in options.items() if name != "path"}
    if "path" not in options:
        help = f"say where: sink='{format}', path='folder'"
        raise ExecutionError(f"the sink {format} needs a path", help=help)
    path = from_here(str(options["path"]))

    def write(rows: DataFrame, tick: int) -> None:
        folder = f"{path}/tick={tick:08d}"
        shape(rows).write.format(format).options(**rest).mode("overwrite").save(folder)

    def replace(rows: DataFrame, tick: int) -> None:
        SnapshotFolder(rows.sparkSession, path).replace(shape(rows), tick, format, rest)

    return replace if whole else write


def _write(format: str, rows: DataFrame, whole: bool, options: Mapping[str, Any]) -> None:
    mode = "overwrite" if whole else "append"
    rows.write.format(format).options(**options).mode(mode).save()
