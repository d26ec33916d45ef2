"""Rows that came too late, in files of their own or given to a function."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset
import pytest

from tests.connectors.sinks.rows import MICROSECONDS, SCHEMA, rows, tuples
from tests.connectors.sinks.test_files import files, write
from tidemill.algebra.schema import Schema
from tidemill.connectors.sinks import LateShape, PartSink, SparkWrite, TableSink, make_late_sink
from tidemill.errors import ExecutionError, UnsupportedError

SHAPE = LateShape("bid", "ts", SCHEMA)
LATE = rows((1, "a", 3, 5))  # at 3, when the watermark was 5


def test_below_a_folder(tmp_path: Path) -> None:
    sink = make_late_sink(str(tmp_path), SHAPE, spark_formats=False)
    assert isinstance(sink, PartSink)
    for tick, given in enumerate((LATE, LATE.clear())):
        write(sink, tick, given)
    found = pyarrow.dataset.dataset(tmp_path / "bid", format="parquet").to_table()
    assert found.column_names == ["k", "s", "ts", "watermark"]
    assert tuples(found) == [(1, "a", 3, 5)]
    assert "bid/tick=00000001/_SUCCESS" in files(tmp_path)


def test_a_function() -> None:
    calls: list[tuple[str, pa.Table, int]] = []
    sink = make_late_sink(lambda *call: calls.append(call), SHAPE, spark_formats=False)
    assert isinstance(sink, TableSink)
    sink.give(LATE.clear(), 0)
    sink.give(LATE, 1)
    ((source, table, tick),) = calls
    assert (source, tuples(table), tick) == ("bid", [(1, "a", 3, 5)], 1)


def test_times_have_no_zone() -> None:
    shape = LateShape("bid", "ts", SCHEMA, MICROSECONDS)
    table = shape(LATE)
    assert table.schema == shape.columns
    assert table["watermark"].to_pylist() == [dt.datetime(1970, 1, 1, 0, 0, 0, 5)]


@pytest.mark.parametrize(("time", "column"), [("ts", "watermark"), ("arrived_at", "arrived_at")])
def test_names_that_clash(time: str, column: str) -> None:
    with pytest.raises(ExecutionError, match=f"`bid` has a column `{column}`, and late rows"):
        LateShape("bid", time, Schema.of(**{column: pa.int64()}))
    with pytest.raises(ExecutionError, match="`bid` has a column `watermark`"):
        LateShape("bid", "watermark", SCHEMA)


def test_where_only_spark_can_write() -> None:
    sink = make_late_sink("s3a://b/late", SHAPE, spark_formats=True)
    assert isinstance(sink, SparkWrite)
    assert (sink.format, sink.path, sink.form) == ("parquet", "s3a://b/late/bid", "late")
    with pytest.raises(UnsupportedError, match="only Spark can write to s3a://b/late/bid"):
        make_late_sink("s3a://b/late", SHAPE, spark_formats=False)
