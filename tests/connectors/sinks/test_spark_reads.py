"""What tasks write, Spark reads: the same values, from the folder of a query."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from tests.connectors.sinks.rows import FLAT, FLAT_ROWS, MICROSECONDS, NESTED, NESTED_ROWS
from tests.connectors.sinks.test_files import write
from tidemill.algebra.schema import Schema
from tidemill.connectors.sinks import PartSink, SinkRequest, make_sink, shaped, shaped_schema

pytestmark = pytest.mark.spark

# What readers are told of a CSV so that an empty text is not NULL.
STYLE = {"header": True, "nullValue": "\\N"}


def test_spark_reads_what_tasks_write(session: SparkSession, tmp_path: Path) -> None:
    for frame, schema in ((FLAT_ROWS, FLAT), (NESTED_ROWS, NESTED)):
        for format in ("parquet", "json", "csv"):
            if format == "csv" and schema is NESTED:
                continue
            path = tmp_path / f"{format}-{schema.names[0]}"
            _write(path, format, frame, schema)
            expected = shaped(frame, "intervals", schema, MICROSECONDS).to_pylist()
            assert _read(session, path, format, schema) == sorted(expected * 2, key=str), format


def test_what_spark_finds_out_by_itself(session: SparkSession, tmp_path: Path) -> None:
    _write(tmp_path, "parquet", FLAT_ROWS, FLAT)
    kinds = dict(session.read.parquet(str(tmp_path)).dtypes)
    assert (kinds["at"], kinds["valid_from"], kinds["price"]) == (
        "timestamp_ntz",
        "timestamp_ntz",
        "decimal(20,3)",
    )
    assert kinds["tick"] == "int"
    as_timestamp = session.read.schema("valid_from TIMESTAMP, valid_to TIMESTAMP")
    _write(tmp_path / "json", "json", FLAT_ROWS, FLAT)
    found = as_timestamp.json(str(tmp_path / "json"))
    micros = found.selectExpr("unix_micros(valid_from)", "unix_micros(valid_to)").distinct()
    assert [tuple(row) for row in micros.collect()] == [(1, 2)]


def _write(path: Path, format: str, frame: pl.DataFrame, schema: Schema) -> None:
    style = STYLE if format == "csv" else {}
    request = SinkRequest(format, {"path": str(path), **style})
    sink = make_sink(request, schema, MICROSECONDS, lambda: "q", spark_formats=True)
    assert isinstance(sink, PartSink)
    write(sink, 0, frame[:1], frame[1:])
    write(sink, 1, frame)
    write(sink, 2, frame.clear())


def _read(session: SparkSession, path: Path, format: str, schema: Schema) -> list[Any]:
    told = StructType.fromJson(_types(session, schema)) if format != "parquet" else None
    reader = session.read.options(**(STYLE if format == "csv" else {})).format(format)
    frame = (reader.schema(told) if told else reader).load(str(path)).drop("tick")
    return sorted(frame.toArrow().to_pylist(), key=str)


def _types(session: SparkSession, schema: Schema) -> dict[str, Any]:
    """The types of Spark for columns and validity, with timestamps that have no zone."""
    columns = shaped_schema("intervals", schema, MICROSECONDS)
    found = session.createDataFrame(columns.empty_table()).schema.json()
    return dict(json.loads(found.replace('"timestamp"', '"timestamp_ntz"')))
