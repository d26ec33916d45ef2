"""The data behind the sources of an engine."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Union

import pyarrow as pa

from tidemill.algebra import SourceKind
from tidemill.analyze import SourceInfo
from tidemill.changes import ChangeSource
from tidemill.engine.pushing import PushedFiles
from tidemill.engine.relations import KeptRelation
from tidemill.errors import CatalogError, ExecutionError
from tidemill.runtime.inprocess.feeds import (
    Backlog,
    ChangingFeed,
    ConstantFeed,
    Feed,
    IntervalFeed,
    PushedFeed,
    StreamFeed,
)
from tidemill.runtime.inprocess.files import file_formats, is_file_format, read_files

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from tidemill.runtime.spark.reading import Origin

_ARRIVAL = "#arrival"

Rows = Union["list[pa.Table]", "DataFrame", Backlog, PushedFiles]
"""What was handed over: tables, one per tick, a DataFrame of Spark, or what is pushed."""


Collect = Callable[[SourceInfo, "DataFrame | None"], pa.Table]
"""Brings the rows of a source here, from a DataFrame or from where it was declared to be."""

_CHANGE_SOURCES = {"postgres": "tidemill.postgres.source"}
"""Formats of tables that others change, and the modules that open them."""


class Sources:
    """Tables that were handed over, relations that are kept here, and what was declared.

    `collect` reads with Spark what this process does not: DataFrames, and files.
    """

    def __init__(
        self, collect: Collect | None = None, session: Callable[[], SparkSession] | None = None
    ) -> None:
        self._collect = collect
        self._session = session or _no_session
        self._rows: dict[str, Rows] = {}
        self._kept: dict[str, KeptRelation] = {}

    def put(self, info: SourceInfo, rows: Rows) -> None:
        """Keep the rows of a source."""
        self._rows[info.name.casefold()] = rows

    def pushed(self, info: SourceInfo) -> Backlog | PushedFiles:
        """Where rows wait that are pushed into a stream."""
        rows = self._rows.get(info.name.casefold())
        if not isinstance(rows, Backlog | PushedFiles):
            help = f"make it with engine.stream({info.name!r}, pyarrow.schema(...), time=...)"
            raise CatalogError(f"rows cannot be pushed into `{info.name}`", help=help)
        return rows

    def live_feed(self, info: SourceInfo) -> Feed:
        """A reading of a source that goes on: rows that are pushed are taken."""
        rows = self._rows.get(info.name.casefold())
        if not isinstance(rows, Backlog):
            return self.feed(info)
        time = info.time_column or _ARRIVAL
        return PushedFeed(info.name, iter(()), time=time, slack=info.slack, backlog=rows)

    def forget(self, name: str) -> None:
        """Let go of the rows of a source."""
        self._rows.pop(name.casefold(), None)
        self._kept.pop(name.casefold(), None)

    def kept(self, info: SourceInfo) -> KeptRelation:
        """A relation that changes and is kept here; its first rows are read when needed."""
        if info.kind is not SourceKind.CHANGING:
            help = "rows can be inserted into and deleted from relations that are CHANGING"
            raise CatalogError(f"`{info.name}` does not change", help=help)
        if is_change_source(info):
            help = f"change it there: queries see what happens in {info.format}"
            raise CatalogError(f"`{info.name}` is kept in {info.format}", help=help)
        name = info.name.casefold()
        if name not in self._kept:
            self._kept[name] = KeptRelation(info, lambda: self._first_rows(info))
        return self._kept[name]

    def origin(self, info: SourceInfo) -> Origin:
        """Where Spark finds the rows of a source."""
        from tidemill.runtime.spark.reading import Origin

        if info.kind is SourceKind.CHANGING:
            changes = open_source(info) if is_change_source(info) else self.kept(info).follow()
            return Origin(info, changes=changes)
        rows = self._rows.get(info.name.casefold())
        if isinstance(rows, list):
            return Origin(info, tables=rows)
        if isinstance(rows, PushedFiles):
            return Origin(info, frame=rows.frame(self._session()))
        if is_change_source(info):
            return Origin(info, tables=[open_source(info).content()[0]])
        assert not isinstance(rows, Backlog)  # these are for this process
        return Origin(info, frame=rows)

    def feed(self, info: SourceInfo) -> Feed:
        """A fresh reading of a source, from its beginning."""
        if info.kind is SourceKind.CHANGING:
            return ChangingFeed(info.name, iter([self._content(info)]))
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

    def _content(self, info: SourceInfo) -> pa.Table:
        if is_change_source(info):
            return open_source(info).content()[0]
        return self.kept(info).content()

    def _first_rows(self, info: SourceInfo) -> pa.Table:
        """What is in a relation before it changes: nothing, if it was declared without a source."""
        rows = self._rows.get(info.name.casefold())
        if rows is None and info.format is None:
            return info.declared.to_arrow().empty_table()
        if self._collect is not None and not isinstance(rows, list | Backlog | PushedFiles):
            return self._collect(info, rows)
        return pa.concat_tables(self._read(info))

    def _read(self, info: SourceInfo) -> Iterator[pa.Table]:
        known = self._rows.get(info.name.casefold())
        if isinstance(known, list):
            return iter(known)
        if isinstance(known, Backlog):
            return iter(known.look())
        if is_change_source(info):
            return iter([open_source(info).content()[0]])
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


def _no_session() -> SparkSession:
    raise AssertionError("only streams of Spark need a session")


def is_change_source(info: SourceInfo) -> bool:
    """Whether the rows are in a table outside that others may change."""
    return str(info.format).lower() in _CHANGE_SOURCES


def open_source(info: SourceInfo) -> ChangeSource:
    """The table outside that a relation was declared to be."""
    if info.kind is SourceKind.STREAM:
        help = "CREATE RELATION ... reads it"
        raise ExecutionError(f"{info.format} is no source of streams", help=help)
    if info.kind is SourceKind.CHANGING and info.valid_from is not None:
        help = f"leave out FROM {info.valid_from} TO {info.valid_to}"
        message = f"`{info.name}` is {info.format}, which tells itself when rows come and go"
        raise ExecutionError(message, help=help)
    source: ChangeSource = import_module(_CHANGE_SOURCES[str(info.format).lower()]).open_source(
        info
    )
    return source


def _stamped(table: pa.Table) -> pa.Table:
    """Rows without a time of their own hold when they arrive."""
    now = time.time_ns() // 1000
    return table.append_column(_ARRIVAL, pa.array([now] * table.num_rows, pa.int64()))
