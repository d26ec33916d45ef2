"""Who writes what: the driver, tasks, Spark, or nobody."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from tests.connectors.sinks.rows import SCHEMA
from tidemill.algebra.schema import Schema
from tidemill.connectors.sinks import MemorySink, PartSink, Sink, SinkRequest, SparkWrite, TableSink
from tidemill.connectors.sinks import make_sink as make
from tidemill.errors import ExecutionError, UnsupportedError

LISTS = Schema.of(v=pa.list_(pa.int64()))


def make_sink(
    target: Any, form: str = "", schema: Schema = SCHEMA, spark: bool = True, **options: Any
) -> Sink:
    request = SinkRequest(target, options, form)
    return make(request, schema, None, lambda: "q", spark_formats=spark)


@pytest.mark.parametrize("spark", [True, False])
def test_sinks_of_both_fabrics(spark: bool) -> None:
    assert isinstance(make_sink("memory", spark=spark), MemorySink)
    for target in ("memory", "console", lambda table, tick: None):
        sink = make_sink(target, "changes", spark=spark)
        assert isinstance(sink, TableSink)
        assert not isinstance(sink, PartSink)
        assert sink.form == "changes"
    for format in ("parquet", "csv", "json", "arrow"):
        sink = make_sink(format, spark=spark, path="x")
        assert isinstance(sink, PartSink)
        assert not isinstance(sink, TableSink)


@pytest.mark.parametrize(
    ("format", "schema", "options", "reason"),
    [
        ("csv", SCHEMA, {"timestampFormat": "yyyy"}, "the option timestampFormat is one of Spark"),
        ("csv", LISTS, {}, "the column v is ARRAY<BIGINT>"),
        ("parquet", SCHEMA, {"path": "s3a://b/x"}, "only Spark can write to s3a://b/x"),
        ("text", SCHEMA, {}, "only Spark writes it"),
    ],
)
def test_files_that_spark_writes(
    format: str, schema: Schema, options: dict[str, Any], reason: str
) -> None:
    options = {"path": "x", **options}
    sink = make_sink(format, "snapshot", schema, **options)
    assert isinstance(sink, SparkWrite)
    assert (sink.format, sink.form, sink.whole) == (format, "snapshot", True)
    assert sink.path == options.pop("path")
    assert sink.options == options
    with pytest.raises(UnsupportedError, match=f"cannot go to {format}: {reason}") as error:
        make_sink(format, "snapshot", schema, spark=False, **{"path": sink.path, **options})
    assert "memory, console, noop, postgres, kafka, parquet" in str(error.value)
    assert "use Engine(), which runs on Spark" in str(error.value)


def test_on_a_cluster_a_path_is_where_spark_says() -> None:
    request = SinkRequest("parquet", {"path": "results"})
    arguments = (request, SCHEMA, None, lambda: "q", True)
    assert isinstance(make(*arguments, local_paths=False), SparkWrite)
    request = SinkRequest("parquet", {"path": "file:///results"})
    arguments = (request, SCHEMA, None, lambda: "q", True)
    assert isinstance(make(*arguments, local_paths=False), PartSink)


def test_where_there_is_spark_it_writes_orc() -> None:
    assert isinstance(make_sink("orc", path="x"), SparkWrite)
    assert isinstance(make_sink("orc", spark=False, path="x"), PartSink)


def test_any_writer_of_spark() -> None:
    sink = make_sink("jdbc", password="secret")
    assert isinstance(sink, SparkWrite)
    assert (sink.format, sink.path, sink.whole) == ("jdbc", None, False)
    assert "secret" not in repr(sink)
    with pytest.raises(UnsupportedError, match="cannot go to jdbc: it is none of the sinks"):
        make_sink("jdbc", spark=False)
    with pytest.raises(UnsupportedError, match=r"cannot go to parkuet: did you mean parquet\?"):
        make_sink("parkuet", spark=False)


def test_arrow_is_none_of_spark() -> None:
    for spark in (True, False):
        with pytest.raises(ExecutionError, match="written as arrow: the option dateFormat"):
            make_sink("arrow", spark=spark, path="x", dateFormat="yyyy")


def test_the_form_is_checked_first() -> None:
    for target in ("memory", "console", "parquet", "jdbc", "postgres", lambda table, tick: None):
        with pytest.raises(ExecutionError, match="no form `sideways`"):
            make_sink(target, "sideways")
        with pytest.raises(ExecutionError, match="the result has a column `change`"):
            make_sink(target, "changes", Schema.of(change=pa.int64()))


def test_only_databases_ask_who_writes() -> None:
    def fail() -> str:
        raise AssertionError

    make(SinkRequest("memory"), SCHEMA, None, fail, spark_formats=True)
