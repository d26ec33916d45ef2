"""Sources as Spark reads them: rows of all of them in common columns."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, DataFrameReader, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.readwriter import DataStreamReader

from tidemill.algebra.nodes import SourceKind
from tidemill.algebra.schema import Schema
from tidemill.analyze import SourceInfo
from tidemill.changes import DELETED, INSERTED, ChangeSource
from tidemill.errors import ExecutionError
from tidemill.runtime.spark.inputs import SourceRows
from tidemill.runtime.spark.native import spark_type
from tidemill.runtime.spark.session import from_here, working_copy
from tidemill.timeline import BEGIN, OPEN_END, VALID_FROM, VALID_TO, TimeDomain

_FIXED_SCHEMA = {"kafka", "rate", "rate-micro-batch", "socket"}


@dataclass
class Origin:
    """Where the rows of a source are: tables, a DataFrame, what SQL declared; or its changes."""

    info: SourceInfo
    tables: Sequence[pa.Table] | None = None
    frame: DataFrame | None = None
    changes: ChangeSource | None = None


class Reader:
    """Turns sources into DataFrames: when rows hold, and their columns by number."""

    def __init__(
        self, session: SparkSession, origins: Sequence[tuple[Origin, Schema]], checkpoint: str
    ) -> None:
        self._session = session
        self._checkpoint = checkpoint
        self.sources = [
            SourceRows(
                number,
                origin.info.name,
                schema,
                origin.info.slack,
                _is_stream(origin.info),
                origin.info.idle,
                origin.changes is not None,
            )
            for number, (origin, schema) in enumerate(origins)
        ]
        self._origins = [origin for origin, _ in origins]

    def origin(self, source: SourceRows) -> Origin:
        """Where the rows of a source are."""
        return self._origins[source.number]

    def read(self, source: SourceRows) -> DataFrame:
        """The rows of a source: a streaming DataFrame if it has a clock."""
        origin = self._origins[source.number]
        frame = self._stream(origin) if source.has_time else _static(self._session, origin)
        start, end = _validity(frame, origin.info)
        kinds = zip(source.columns.items(), source.schema.types, strict=True)
        rows = frame.select(
            start.alias(VALID_FROM),
            end.alias(VALID_TO),
            *(_value(frame, name).cast(spark_type(t)).alias(new) for (name, new), t in kinds),
        )
        return rows if source.has_time else rows.where(F.col(VALID_FROM) < F.col(VALID_TO))

    def changes(self, source: SourceRows, versions: pl.DataFrame) -> DataFrame:
        """Versions of a relation that changes as rows of it."""
        names = {VALID_FROM: INSERTED, VALID_TO: DELETED}
        names |= {new: name for name, new in source.columns.items()}
        table = versions.select(pl.col(old).alias(new) for new, old in names.items()).to_arrow()
        types = [pa.int64(), pa.int64(), *source.schema.types]
        schema = pa.schema(list(zip(names, types, strict=True)))
        return self._session.createDataFrame(table.cast(schema), schema=_columns(schema))

    def _stream(self, origin: Origin) -> DataFrame:
        info = origin.info
        if origin.frame is not None:
            if not origin.frame.isStreaming:
                raise ExecutionError(
                    f"`{info.name}` is a stream, but its DataFrame is not a streaming one",
                    help="make it with spark.readStream, or register it with engine.relation",
                )
            return origin.frame
        reader = self._session.readStream
        if origin.tables is not None:
            folder = f"{self._checkpoint}/tables/{info.name.casefold()}"
            _store(info.name, origin.tables, folder)
            # Instants are cheaper to read than times without a zone, and in UTC they are the same.
            schema = _columns(origin.tables[0].schema).replace("TIMESTAMP_NTZ", "TIMESTAMP")
            return reader.schema(schema).option("maxFilesPerTrigger", 1).parquet(folder)
        assert info.format is not None
        if info.format not in _FIXED_SCHEMA:
            reader = reader.schema(_declared(info))
        return _load(reader, info)


def _static(session: SparkSession, origin: Origin) -> DataFrame:
    info = origin.info
    if origin.frame is not None:
        if origin.frame.isStreaming:
            raise ExecutionError(
                f"`{info.name}` is a relation, but its DataFrame is a streaming one",
                help="register it with engine.stream",
            )
        return origin.frame
    if origin.tables is not None:
        table = pa.concat_tables(origin.tables)
        return session.createDataFrame(table, schema=_columns(table.schema))
    assert info.format is not None
    return _load(session.read.schema(_declared(info)), info)


def collected(session: SparkSession, origin: Origin) -> pa.Table:
    """All rows of a relation, brought to the driver."""
    try:
        return _static(working_copy(session), origin).toArrow()
    except PySparkException as error:
        raise _unreadable(origin.info, error) from error


def _load(reader: DataStreamReader | DataFrameReader, info: SourceInfo) -> DataFrame:
    assert info.format is not None
    try:
        return reader.format(info.format).options(**_options(info)).load()
    except PySparkException as error:
        raise _unreadable(info, error) from error


def _unreadable(info: SourceInfo, error: PySparkException) -> ExecutionError:
    reason = re.sub(r"^\[[A-Z_.]+\] | SQLSTATE: \w+$", "", str(error).splitlines()[0])
    return ExecutionError(
        f"cannot read `{info.name}` as {info.format}: {reason}",
        help=f"check the options of SOURCE {info.format}(...)",
    )


def _is_stream(info: SourceInfo) -> bool:
    return info.kind is SourceKind.STREAM


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


def _is_text(info: SourceInfo) -> bool:
    """Whether the source is of files that have no types."""
    return str(info.format).lower() in ("csv", "json")


def _options(info: SourceInfo) -> dict[str, Any]:
    """The options as they were given, and what Spark should not guess or pass over in silence."""
    given = {name: value for name, value in info.options.items() if value is not None}
    if isinstance(path := given.get("path"), str):
        given["path"] = _pattern(from_here(path)) if _is_stream(info) else from_here(path)
    if not _is_text(info):
        return given
    texts: dict[str, Any] = {"mode": "FAILFAST"}  # else what cannot be read becomes NULL
    if str(info.format).lower() == "csv":
        # Spark goes by the place of a column: a header with other names is an error.
        texts |= {"header": True, "enforceSchema": False}
    return texts | given


def _pattern(path: str) -> str:
    """Streams of files read a folder or a pattern: a file becomes one that nothing else matches."""
    folder, name = os.path.split(path)
    return os.path.join(folder, f"[{name[0]}]{name[1:]}") if os.path.isfile(path) else path


def _columns(schema: pa.Schema) -> str:
    """The columns of a table; by itself Spark would give its timestamps a zone."""
    return ", ".join(f"{_quoted(field.name)} {spark_type(field.type)}" for field in schema)


def _value(frame: DataFrame, name: str) -> Column:
    """A column; instants become timestamps of UTC, whatever the zone of the session."""
    quoted = _quoted(name)
    if dict(frame.dtypes)[name] != "timestamp":
        return F.col(quoted)
    epoch = "TIMESTAMP_NTZ'1970-01-01 00:00:00'"
    return F.expr(f"timestampadd(MICROSECOND, unix_micros({quoted}), {epoch})")


def _declared(info: SourceInfo) -> str:
    """All columns of the files, as CREATE STREAM declared them."""
    times = {info.time_column, info.valid_from, info.valid_to}
    # A time column of files that have types may be a timestamp with or without a zone.
    zoned = info.domain is TimeDomain.MICROSECONDS and not _is_text(info)
    kinds = [
        "TIMESTAMP" if zoned and field.name in times else spark_type(field.type)
        for field in info.declared
    ]
    pairs = zip(info.declared.names, kinds, strict=True)
    return ", ".join(f"{_quoted(name)} {kind}" for name, kind in pairs)


def _validity(frame: DataFrame, info: SourceInfo) -> tuple[Column, Column]:
    """When rows start to hold, and (for relations) when they end."""
    if info.kind is SourceKind.CONSTANT:
        return F.lit(BEGIN).cast("long"), F.lit(OPEN_END).cast("long")
    if info.kind is SourceKind.INTERVALS:
        start, end = info.valid_from or "", info.valid_to or ""
        open_end = F.coalesce(_instant(frame, end), F.lit(OPEN_END))
        return _checked(_instant(frame, start), info, start), _checked(open_end, info, end, 0)
    if info.time_column is None:
        # Without a time of their own, rows hold when their batch arrives.
        return F.expr("unix_micros(current_timestamp())"), F.lit(None).cast("long")
    time = _checked(_instant(frame, info.time_column), info, info.time_column)
    return time, F.lit(None).cast("long")


def _instant(frame: DataFrame, name: str) -> Column:
    """A time column as ticks or as microseconds since 1970."""
    quoted, kind = _quoted(name), dict(frame.dtypes)[name]
    if kind == "timestamp":
        return F.expr(f"unix_micros({quoted})")
    if kind in ("timestamp_ntz", "date"):
        epoch = "TIMESTAMP_NTZ'1970-01-01 00:00:00'"
        stamp = f"CAST({quoted} AS TIMESTAMP_NTZ)"
        return F.expr(f"timestampdiff(MICROSECOND, {epoch}, {stamp})")
    return F.col(quoted).cast("long")


def _checked(time: Column, info: SourceInfo, name: str, margin: int = 2) -> Column:
    """Times that cannot be end the query; left out, their rows would be lost without a trace."""
    what = f"the time column `{name}` of `{info.name}`"
    shown = time.cast("string")
    past = F.concat(F.lit(f"{what} goes back before the beginning of time ("), shown, F.lit(")"))
    far = F.concat(F.lit(f"{what} goes beyond the end of time ("), shown, F.lit(")"))
    return (
        F.when(time.isNull(), F.raise_error(f"{what} is NULL in 1 row or more").cast("long"))
        .when(time < BEGIN, F.raise_error(past).cast("long"))
        .when(time > OPEN_END - margin, F.raise_error(far).cast("long"))
        .otherwise(time)
    )


def _store(name: str, tables: Sequence[pa.Table], folder: str) -> None:
    """Tables as files that a stream reads one by one.

    They are kept with the checkpoint, so that a query that goes on knows what it has read, and so
    that other machines can read them.
    """
    filesystem, path = fs.FileSystem.from_uri(folder)
    filesystem.create_dir(path, recursive=True)
    for number, table in enumerate(tables):
        file = f"{path}/{number:06d}.parquet"
        if filesystem.get_file_info(file).type != fs.FileType.NotFound:
            if not pl.DataFrame(pq.read_table(file, filesystem=filesystem)).equals(
                pl.DataFrame(table)
            ):
                raise ExecutionError(
                    f"table {number + 1} of `{name}` is not the one that this checkpoint has read",
                    help="add new tables behind the old ones, or choose another checkpoint",
                )
            continue
        temporary = f"{path}/.{number:06d}.temporary"  # Spark does not look at such names
        pq.write_table(table, temporary, filesystem=filesystem)
        filesystem.move(temporary, file)
        if folder.startswith("file:"):
            os.utime(file, (number + 1, number + 1))  # Spark reads older files first
