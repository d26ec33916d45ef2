"""What is written here, what Spark writes, and what cannot be written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tidemill.connectors.sinks.encoding import FORMATS, NotOurs, encoding_of
from tidemill.connectors.sinks.files import FileSink, FileWriter
from tidemill.connectors.sinks.folder import uri_of
from tidemill.connectors.sinks.forms import Shape
from tidemill.connectors.sinks.sink import PartSink, SparkWrite, TableSink
from tidemill.errors import ExecutionError, UnsupportedError
from tidemill.store import Durability

Sink = TableSink | PartSink | SparkWrite

SINKS = ("memory", "console", "noop", "postgres", "kafka", *FORMATS)
"""The sinks that need no Spark, besides functions."""

SPARK_FILES = ("parquet", "json", "csv", "orc", "text")
FILES = frozenset({*FORMATS, *SPARK_FILES})


@dataclass(frozen=True)
class Writable:
    """What a fabric can write, and where.

    With `spark_formats`, Spark writes what is not written here. With `local_paths`, a path without
    a scheme is one of this machine; on a cluster, Spark knows of which file system it is. The
    `durability` is that of the run: before it commits a tick, results have to be as durable.
    """

    spark_formats: bool
    local_paths: bool = True
    durability: Durability = "process"


def file_sink(format: str, shape: Shape, options: dict[str, Any], place: Writable) -> Sink:
    """Files, written by tasks if they can, or else by Spark."""
    rest = {name: value for name, value in options.items() if name != "path"}
    if "path" not in options:
        help = f"say where: sink='{format}', path='folder'"
        raise ExecutionError(f"the sink {format} needs a path", help=help)
    path = str(options["path"])
    try:
        return _files(format, shape, rest, path, place)
    except NotOurs as reason:
        if format not in SPARK_FILES:
            raise ExecutionError(
                f"results cannot be written as {format}: {reason}",
                help=f"Spark does not know {format}: change that, or write another format",
            ) from None
        return spark_sink(SparkWrite(format, shape, rest, path), place, str(reason))


def spark_sink(write: SparkWrite, place: Writable, reason: str) -> SparkWrite:
    """What Spark writes, where there is Spark."""
    if place.spark_formats:
        return write
    raise UnsupportedError(
        f"in this process, results cannot go to {write.format}: {reason}",
        help=f"sinks here: {', '.join(SINKS)}, or a function of a table and the number of the "
        "tick; for a format of Spark use Engine(), which runs on Spark",
    )


def _files(
    format: str, shape: Shape, options: dict[str, Any], path: str, place: Writable
) -> FileSink:
    if format not in FORMATS:
        raise NotOurs("only Spark writes it")
    if format == "orc" and place.spark_formats:
        # Arrow notes neither calendar nor zone: Spark would read days before 1582 as others, and
        # timestamps in the zone of its Java.
        raise NotOurs("Spark writes it so that it reads the same")
    if "://" not in path and not place.local_paths:
        raise NotOurs(f"of which file system {path} is, Spark knows")
    # Tasks may have other working directories.
    if (uri := uri_of(path)) is None:
        raise NotOurs(f"only Spark can write to {path}")
    encoding = encoding_of(format, options, shape.columns)
    return FileSink(FileWriter(uri, encoding, shape, place.durability))
