"""The data behind the sources of an engine."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Union

import pyarrow as pa

from tidemill.algebra import SourceKind
from tidemill.analyze import SourceInfo
from tidemill.errors import ExecutionError
from tidemill.runtime.inprocess.feeds import ConstantFeed, Feed, IntervalFeed, StreamFeed
from tidemill.runtime.inprocess.files import file_formats, is_file_format, read_files

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from tidemill.runtime.spark.reading import Origin

_ARRIVAL = "#arrival"

Rows = Union["list[pa.Table]", "DataFrame"]
"""What was handed over: tables, one per tick, or a DataFrame of Spark."""


class Sources:
    """Tables that were handed over, and files that were declared."""

    def __init__(self) -> None:
        self._rows: dict[str, Rows] = {}

    def put(self, info: SourceInfo, rows: Rows) -> None:
        """Keep the rows of a source."""
        self._rows[info.name.casefold()] = rows

    def forget(self, name: str) -> None:
        """Let go of the rows of a source."""
        self._rows.pop(name.casefold(), None)

    def origin(self, info: SourceInfo) -> Origin:
        """Where Spark finds the rows of a source."""
        from tidemill.runtime.spark.reading import Origin

        rows = self._rows.get(info.name.casefold())
        if isinstance(rows, list):
            return Origin(info, tables=rows)
        return Origin(info, frame=rows)

    def feed(self, info: SourceInfo) -> Feed:
        """A fresh reading of a source, from its beginning."""
        tables = self._read(info)
        if info.kind is SourceKind.CONSTANT:
            return ConstantFeed(info.name, tables)
        if info.kind is SourceKind.INTERVALS:
            valid = (info.valid_from or "", info.valid_to or "")
            return IntervalFeed(info.name, tables, valid=valid)
        if info.time_column is None:
            stamped = map(_stamped, tables)
            return StreamFeed(info.name, stamped, time=_ARRIVAL)
        return StreamFeed(info.name, tables, time=info.time_column, slack=info.slack)

    def _read(self, info: SourceInfo) -> Iterator[pa.Table]:
        known = self._rows.get(info.name.casefold())
        if isinstance(known, list):
            return iter(known)
        if info.format is None or not is_file_format(info.format):
            raise ExecutionError(
                f"`{info.name}` has the source {info.format}, which this runtime cannot read",
                help=f"it reads {', '.join(file_formats())}, and tables given to engine.stream",
            )
        if not isinstance(path := info.options.get("path"), str):
            help = f"as in SOURCE {info.format}(path => 'folder/')"
            raise ExecutionError(f"`{info.name}` needs the option path", help=help)
        header = str(info.options.get("header", "true")).lower() != "false"
        return read_files(info.name, info.format, path, header, info.declared)


def _stamped(table: pa.Table) -> pa.Table:
    """Rows without a time of their own hold when they arrive."""
    now = time.time_ns() // 1000
    return table.append_column(_ARRIVAL, pa.array([now] * table.num_rows, pa.int64()))
