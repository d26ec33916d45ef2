"""Sources as Spark reads them: rows of all of them in common columns."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from tidemill.algebra.nodes import SourceKind
from tidemill.algebra.schema import Schema
from tidemill.analyze import SourceInfo
from tidemill.runtime.spark.layout import Layout, spark_type
from tidemill.runtime.spark.tick import SOURCE, TIME, SourceRows
from tidemill.timeline import BEGIN, OPEN_END, VALID_TO

_FIXED_SCHEMA = {"kafka", "rate", "rate-micro-batch", "socket"}


@dataclass
class Origin:
    """Where the rows of a source are: tables, a streaming DataFrame, or what SQL declared."""

    info: SourceInfo
    tables: Sequence[pa.Table] | None = None
    frame: DataFrame | None = None
    folder: tempfile.TemporaryDirectory[str] | None = field(default=None)


class Reader:
    """Turns sources into DataFrames with the columns that ticks start from."""

    def __init__(self, session: SparkSession, origins: Sequence[tuple[Origin, Schema]]) -> None:
        self._session = session
        self.sources = [
            SourceRows(number, origin.info.name, schema, origin.info.slack, _is_stream(origin.info))
            for number, (origin, schema) in enumerate(origins)
        ]
        self._origins = [origin for origin, _ in origins]
        self._layout = Layout.of(schema for _, schema in origins)

    def streams(self) -> dict[str, DataFrame]:
        """The sources that bring rows while the query runs."""
        pairs = zip(self.sources, self._origins, strict=True)
        return {s.name: self._common(s, o, self._stream(o)) for s, o in pairs if s.has_time}

    def statics(self) -> dict[str, DataFrame]:
        """The sources whose rows are all there from the start."""
        pairs = zip(self.sources, self._origins, strict=True)
        return {s.name: self._common(s, o, self._static(o)) for s, o in pairs if not s.has_time}

    def _common(self, source: SourceRows, origin: Origin, frame: DataFrame) -> DataFrame:
        info = origin.info
        slots = {slot: name for name, slot in self._layout.places(source.schema).items()}
        columns = [
            (F.col(_quoted(slots[slot])) if slot in slots else F.lit(None)).cast(spark_type(kind))
            for slot, kind in self._layout.slots
        ]
        names = [slot for slot, _ in self._layout.slots]
        start, end = _validity(frame, info)
        common = frame.select(
            F.lit(source.number).alias(SOURCE),
            start.alias(TIME),
            end.alias(VALID_TO),
            *(column.alias(name) for column, name in zip(columns, names, strict=True)),
        )
        return common if source.has_time else common.where(F.col(TIME) < F.col(VALID_TO))

    def _stream(self, origin: Origin) -> DataFrame:
        info = origin.info
        if origin.frame is not None:
            return origin.frame
        reader = self._session.readStream
        if origin.tables is not None:
            schema = self._session.createDataFrame(origin.tables[0].slice(0, 0)).schema
            return reader.schema(schema).option("maxFilesPerTrigger", 1).parquet(_files(origin))
        assert info.format is not None
        if info.format not in _FIXED_SCHEMA:
            reader = reader.schema(_declared(info))
        return reader.format(info.format).options(**_options(info)).load()

    def _static(self, origin: Origin) -> DataFrame:
        info = origin.info
        if origin.frame is not None:
            return origin.frame
        if origin.tables is not None:
            return self._session.createDataFrame(pa.concat_tables(origin.tables))
        assert info.format is not None
        reader = self._session.read.schema(_declared(info))
        return reader.format(info.format).options(**_options(info)).load()


def _is_stream(info: SourceInfo) -> bool:
    return info.kind is SourceKind.STREAM


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


def _options(info: SourceInfo) -> dict[str, Any]:
    return {name: value for name, value in info.options.items() if value is not None}


def _declared(info: SourceInfo) -> str:
    """All columns of the files, as CREATE STREAM declared them."""
    times = [name for name in (info.time_column, info.valid_from, info.valid_to) if name]
    kind = "BIGINT" if info.domain is None else info.domain.value
    columns = [f"{_quoted(f.name)} {spark_type(f.type)}" for f in info.schema]
    return ", ".join([*columns, *(f"{_quoted(name)} {kind}" for name in times)])


def _validity(frame: DataFrame, info: SourceInfo) -> tuple[Column, Column]:
    """When rows start to hold, and (for relations) when they end."""
    if info.kind is SourceKind.CONSTANT:
        return F.lit(BEGIN).cast("long"), F.lit(OPEN_END).cast("long")
    if info.kind is SourceKind.INTERVALS:
        end = _instant(frame, info.valid_to or "")
        return _instant(frame, info.valid_from or ""), F.coalesce(end, F.lit(OPEN_END))
    if info.time_column is None:
        # Without a time of their own, rows hold when their batch arrives.
        return F.expr("unix_micros(current_timestamp())"), F.lit(None).cast("long")
    return _instant(frame, info.time_column), F.lit(None).cast("long")


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


def _files(origin: Origin) -> str:
    """Tables as files that a stream reads one by one."""
    if origin.folder is None:
        origin.folder = tempfile.TemporaryDirectory(prefix="tidemill-")
        assert origin.tables is not None
        for number, table in enumerate(origin.tables):
            path = Path(origin.folder.name, f"{number:06d}.parquet")
            pq.write_table(table, path)
            # Spark reads older files first.
            os.utime(path, (number + 1, number + 1))
    return origin.folder.name
