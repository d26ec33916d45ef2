"""The data behind the sources of an engine, as runs read it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Union

import pyarrow as pa

from tidemill.algebra import SourceKind
from tidemill.algebra.unnest import ONE_ROW, one_row_table
from tidemill.catalog import SourceInfo
from tidemill.connectors.change_source import ChangeSource
from tidemill.connectors.feeds import (
    FORMATS,
    Feed,
    Inbox,
    Slice,
    TablesFeed,
    TableSlice,
    files_feed,
    refusal,
    relation_slices,
    relation_table,
)
from tidemill.engine.allow import AllowList
from tidemill.engine.relations import KeptRelation
from tidemill.errors import CatalogError, ExecutionError, UnsupportedError, nearest
from tidemill.runtime.relation_log import RelationLog, folder_of_relation
from tidemill.runtime.sources import ChangingSource, RelationSource, Source, StreamSource
from tidemill.store import Store

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Rows = Union["list[pa.Table]", "DataFrame", Inbox]
"""What was handed over: tables, one per tick, a DataFrame of Spark, or what is pushed."""

_CHANGE_SOURCES = {"postgres": "tidemill.connectors.postgres.source"}
"""Formats of tables that others change, and the modules that open them."""

_TOPICS = {"kafka": "tidemill.connectors.kafka.feed"}
"""Formats of streams of messages, and the modules that open them."""


@dataclass
class Sources:
    """Tables that were handed over, relations that are kept here, and what was declared.

    `session` is that of Spark, if queries run there: it reads what is not read here. Files in the
    folders of `allow` are read only if they are there, wherever links lead. With a `store`, changes
    of relations are kept there.
    """

    session: Callable[[], SparkSession] | None = None
    allow: AllowList | None = None
    store: Store | None = None
    _rows: dict[str, Rows] = field(default_factory=lambda: {ONE_ROW: [one_row_table()]})
    _kept: dict[str, KeptRelation] = field(default_factory=dict)

    def put(self, info: SourceInfo, rows: Rows) -> None:
        """Keep the rows of a source."""
        self._rows[info.name.casefold()] = rows

    def forget(self, name: str) -> None:
        """Let go of the rows of a source."""
        self._rows.pop(name.casefold(), None)
        self._kept.pop(name.casefold(), None)

    def clear(self, name: str) -> None:
        """Delete what is kept of a relation that is no more."""
        if self.store is not None:
            self.store.remove_folder(folder_of_relation(name))

    def pushed(self, info: SourceInfo) -> Inbox:
        """Where rows go that are pushed into a stream."""
        rows = self._rows.get(info.name.casefold())
        if not isinstance(rows, Inbox):
            help = f"make it with engine.stream({info.name!r}, pyarrow.schema(...), time=...)"
            raise CatalogError(f"rows cannot be pushed into `{info.name}`", help=help)
        return rows

    def kept(self, info: SourceInfo) -> KeptRelation:
        """A relation that changes and is kept here; its first rows are read when needed."""
        if info.kind is not SourceKind.CHANGING:
            help = "rows can be inserted into and deleted from relations that are CHANGING"
            raise CatalogError(f"`{info.name}` does not change", help=help)
        if is_change_source(info):
            help = f"change it there: queries see what happens in {info.format}"
            raise CatalogError(f"`{info.name}` is stored in {info.format}", help=help)
        name = info.name.casefold()
        if name not in self._kept:
            log = None if self.store is None else RelationLog(self.store, info.name)
            self._kept[name] = KeptRelation(info, lambda: self._first_rows(info), log)
        return self._kept[name]

    def rows_at_hand(self, info: SourceInfo) -> int | None:
        """How many rows were handed over as tables; None if they come from elsewhere or change."""
        is_fixed = info.kind is not SourceKind.CHANGING
        rows = self._rows.get(info.name.casefold()) if is_fixed else None
        return sum(table.num_rows for table in rows) if isinstance(rows, list) else None

    def open(self, info: SourceInfo, store: Store | None, bounded: bool) -> Source:
        """A source as a run reads it; one that is `bounded` reads what is there."""
        if info.kind is not SourceKind.STREAM and is_topic(info):
            help = "CREATE STREAM ... reads it"
            raise ExecutionError(f"{info.format} cannot be the source of a relation", help=help)
        if info.kind is SourceKind.CHANGING:
            changes = open_source(info) if is_change_source(info) else self.kept(info).follow()
            return ChangingSource(info, changes)
        if info.kind is SourceKind.STREAM:
            return StreamSource(info, self._feed(info, store, bounded))
        return RelationSource(info, lambda: self._slices(info))

    def _feed(self, info: SourceInfo, store: Store | None, bounded: bool) -> Feed:
        rows = self._rows.get(info.name.casefold())
        if isinstance(rows, list):
            return TablesFeed(info.name, rows, store)
        if isinstance(rows, Inbox):
            return rows.view() if bounded else rows.open(store)  # seen, it goes on waiting
        if is_change_source(info):
            help = "CREATE RELATION ... reads it"
            raise ExecutionError(f"{info.format} cannot be the source of a stream", help=help)
        if rows is None and is_topic(info):
            feed: Feed = _module(info, _TOPICS).kafka_feed(info, store, bounded)
            return feed
        if rows is None and self._is_read_here(info):
            return files_feed(info, store, bounded, self._within(info))
        return self._spark_feed(info, rows, store, bounded)

    def _spark_feed(
        self, info: SourceInfo, frame: DataFrame | None, store: Store | None, bounded: bool
    ) -> Feed:
        if self.session is None or store is None:
            raise _only_spark(info)
        from tidemill.runtime.spark.reading import streaming
        from tidemill.runtime.spark.session import working_copy
        from tidemill.runtime.spark.stream_feed import StreamFeed

        session = working_copy(self.session())
        return StreamFeed(info.name, lambda: streaming(session, info, frame), store, bounded)

    def _slices(self, info: SourceInfo) -> list[Slice]:
        """All of a relation that does not change."""
        rows = self._rows.get(info.name.casefold())
        if rows is None and not is_change_source(info) and self._is_read_here(info):
            return relation_slices(info, self._within(info))
        return [TableSlice(table) for table in self._tables(info)]

    def _first_rows(self, info: SourceInfo) -> pa.Table:
        """What is in a relation before it changes: nothing, if it was declared without a source."""
        rows = self._rows.get(info.name.casefold())
        if rows is None and info.format is None:
            return info.declared.to_arrow().empty_table()
        return pa.concat_tables(self._tables(info))

    def _tables(self, info: SourceInfo) -> list[pa.Table]:
        rows = self._rows.get(info.name.casefold())
        if isinstance(rows, list):
            return rows
        if is_change_source(info):
            return [open_source(info).content()[0]]
        if rows is None and self._is_read_here(info):
            return [relation_table(info, within=self._within(info))]
        if self.session is None or isinstance(rows, Inbox):
            raise _only_spark(info)
        from tidemill.runtime.spark.reading import collected
        from tidemill.runtime.spark.session import working_copy

        return [collected(working_copy(self.session()), info, rows)]

    def _within(self, info: SourceInfo) -> tuple[str, ...]:
        """The folders that files of a source have to be in, if that is of interest."""
        return () if self.allow is None else self.allow.around(info.options.get("path"))

    def _is_read_here(self, info: SourceInfo) -> bool:
        """Whether tasks read the files of a source; what they would read otherwise, Spark does."""
        if str(info.format).lower() not in FORMATS:
            return False
        if refusal(str(info.format), info.options) is not None:
            return self.session is None  # then it is refused, with that reason
        path = str(info.options.get("path", ""))
        return "://" in path or self.session is None or _has_local_paths(self.session())


def is_change_source(info: SourceInfo) -> bool:
    """Whether the rows are in a table outside that others may change."""
    return str(info.format).lower() in _CHANGE_SOURCES


def open_source(info: SourceInfo) -> ChangeSource:
    """The table outside that a relation was declared to be."""
    if info.kind is SourceKind.CHANGING and info.valid_from is not None:
        help = f"leave out FROM {info.valid_from} TO {info.valid_to}"
        message = f"`{info.name}` is {info.format}, which tells itself when rows come and go"
        raise ExecutionError(message, help=help)
    source: ChangeSource = _module(info, _CHANGE_SOURCES).open_source(info)
    return source


def is_topic(info: SourceInfo) -> bool:
    """Whether the rows are messages of a topic."""
    return str(info.format).lower() in _TOPICS


def _module(info: SourceInfo, among: Mapping[str, str]) -> Any:
    """The module of a format, which needs packages that not everyone has."""
    try:
        return import_module(among[str(info.format).lower()])
    except ModuleNotFoundError as error:
        help = f"pip install 'tidemill[{str(info.format).lower()}]'"
        raise ExecutionError(f"{info.format} needs the package {error.name}", help=help) from None


def _has_local_paths(session: SparkSession) -> bool:
    return str(session.sparkContext.master).startswith("local")


def _only_spark(info: SourceInfo) -> UnsupportedError:
    near = nearest(str(info.format), (*FORMATS, *_CHANGE_SOURCES, *_TOPICS))
    guess = f"did you mean {near}? " if near else ""
    return UnsupportedError(
        f"`{info.name}` has the source {info.format}, which only Spark reads, if it knows it",
        help=f"{guess}Engine() runs on Spark; in this process, files ({', '.join(FORMATS)}), "
        "tables, pushed rows, postgres and kafka are read",
    )
