"""What only Spark can read: streaming DataFrames, and formats of its own."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame, DataFrameReader, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.readwriter import DataStreamReader

from tidemill.algebra.schema import Schema
from tidemill.catalog import SourceInfo
from tidemill.connectors.feeds import FORMATS
from tidemill.errors import ExecutionError
from tidemill.runtime.spark.failures import SPARK_ERRORS, reason
from tidemill.runtime.spark.formats import remedy
from tidemill.runtime.spark.session import from_here
from tidemill.runtime.spark.types import quoted, spark_type
from tidemill.timeline import TimeDomain

_FIXED_SCHEMA = {"rate", "rate-micro-batch", "socket"}
_KNOWN = (*FORMATS, *sorted(_FIXED_SCHEMA), "jdbc", "text", "xml")
"""Formats that users may have meant."""

_MISSING = "Failed to find"
"""What Spark says of a format that it does not have."""


def streaming(session: SparkSession, info: SourceInfo, frame: DataFrame | None) -> DataFrame:
    """The rows of a stream, as Spark brings them: its columns, in their types."""
    if frame is None:
        frame = _load(_declared_in(session.readStream, info), info)
    elif not frame.isStreaming:
        raise ExecutionError(
            f"`{info.name}` is a stream, but its DataFrame is not a streaming one",
            help="make it with spark.readStream, or register it with engine.relation",
        )
    return in_types(frame, info.declared)


def collected(session: SparkSession, info: SourceInfo, frame: DataFrame | None) -> pa.Table:
    """All rows of a relation, brought to the driver."""
    if frame is not None and frame.isStreaming:
        raise ExecutionError(
            f"`{info.name}` is a relation, but its DataFrame is a streaming one",
            help="register it with engine.stream",
        )
    try:
        rows = _load(_declared_in(session.read, info), info) if frame is None else frame
        return in_types(rows, info.declared).toArrow()
    except SPARK_ERRORS as error:
        raise unreadable(info, error) from error


def in_types(frame: DataFrame, columns: Schema) -> DataFrame:
    """The columns in the types of the engine; instants become timestamps of UTC."""
    kinds = dict(frame.dtypes)
    missing = [name for name in columns.names if name not in kinds]
    if missing:
        help = f"there are {', '.join(kinds)}"
        raise ExecutionError(f"the rows have no column `{missing[0]}`", help=help)
    return frame.select(
        *(
            _value(name, kinds[name]).cast(spark_type(columns[name])).alias(name)
            for name in columns.names
        )
    )


def unreadable(info: SourceInfo, error: Exception) -> ExecutionError:
    """An error of ours for what Spark says about a source."""
    format, said = str(info.format), str(error)
    options = f"check the options of SOURCE {format}(...)"
    return ExecutionError(
        f"cannot read `{info.name}` as {format}: {reason(said)}",
        help=remedy(format, _KNOWN) if _MISSING in said else options,
    )


def _load(reader: DataStreamReader | DataFrameReader, info: SourceInfo) -> DataFrame:
    assert info.format is not None
    try:
        return reader.format(info.format).options(**_options(info)).load()
    except SPARK_ERRORS as error:
        raise unreadable(info, error) from error


def _declared_in(reader: Any, info: SourceInfo) -> Any:
    """A reader that knows the declared columns, if the format has none of its own."""
    if str(info.format) in _FIXED_SCHEMA:
        return reader
    times = {info.time_column, info.valid_from, info.valid_to}
    # A time column of files that have types may be a timestamp with or without a zone.
    zoned = info.domain is TimeDomain.MICROSECONDS and not _is_text(info)
    kinds = [
        "TIMESTAMP" if zoned and field.name in times else spark_type(field.type)
        for field in info.declared
    ]
    pairs = zip(info.declared.names, kinds, strict=True)
    return reader.schema(", ".join(f"{quoted(name)} {kind}" for name, kind in pairs))


def _is_text(info: SourceInfo) -> bool:
    """Whether the source is of files that have no types."""
    return str(info.format).lower() in ("csv", "json")


def _options(info: SourceInfo) -> dict[str, Any]:
    """The options as they were given, and what Spark should not guess or pass over in silence."""
    given = {name: value for name, value in info.options.items() if value is not None}
    if isinstance(path := given.get("path"), str):
        given["path"] = from_here(path)
    if not _is_text(info):
        return given
    texts: dict[str, Any] = {"mode": "FAILFAST"}  # else what cannot be read becomes NULL
    if str(info.format).lower() == "csv":
        # Spark goes by the place of a column: a header with other names is an error.
        texts |= {"header": True, "enforceSchema": False}
    return texts | given


def _value(name: str, kind: str) -> Column:
    """A column; instants become timestamps of UTC, whatever the zone of the session."""
    if kind != "timestamp":
        return F.col(quoted(name))
    epoch = "TIMESTAMP_NTZ'1970-01-01 00:00:00'"
    return F.expr(f"timestampadd(MICROSECOND, unix_micros({quoted(name)}), {epoch})")
