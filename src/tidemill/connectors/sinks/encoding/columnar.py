"""Formats that keep columns: Parquet, ORC and Arrow."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.parquet as pq

from tidemill.connectors.sinks.encoding.options import Options

Encode = Callable[[pa.Table], memoryview]

_PARQUET = {
    **{name: name for name in ("snappy", "gzip", "zstd", "none")},
    **{"uncompressed": "none", "lz4": "lz4", "lz4_raw": "lz4"},
}
_ORC = {name: name for name in ("zstd", "snappy", "zlib", "lz4", "uncompressed")}
_ARROW = {"none": "", "uncompressed": "", "lz4": "lz4", "zstd": "zstd"}


def parquet(options: Options) -> Encode:
    """A file of Parquet; a timestamp without a zone stays one, which Spark calls TIMESTAMP_NTZ."""
    codec = options.choice("compression", default="snappy", among=_PARQUET)

    def write(table: pa.Table, sink: pa.NativeFile) -> None:
        pq.write_table(table, sink, compression=codec)

    return lambda table: _written(table, write)


def orc(options: Options) -> Encode:
    """A file of ORC."""
    from pyarrow import orc as pyarrow_orc  # not every build of Arrow has it

    among = {**_ORC, "none": "uncompressed"}
    codec = options.choice("compression", default="zstd", among=among)

    def write(table: pa.Table, sink: pa.NativeFile) -> None:
        pyarrow_orc.write_table(table, sink, compression=codec)

    return lambda table: _written(table, write)


def arrow(options: Options) -> Encode:
    """A file of Arrow, which others call Feather."""
    codec = options.choice("compression", default="none", among=_ARROW) or None

    def write(table: pa.Table, sink: pa.NativeFile) -> None:
        settings = pa.ipc.IpcWriteOptions(compression=codec)
        with pa.ipc.new_file(sink, table.schema, options=settings) as writer:
            writer.write_table(table)

    return lambda table: _written(table, write)


def _written(table: pa.Table, write: Callable[[pa.Table, pa.NativeFile], None]) -> memoryview:
    sink = pa.BufferOutputStream()
    write(table, sink)
    return memoryview(sink.getvalue())
