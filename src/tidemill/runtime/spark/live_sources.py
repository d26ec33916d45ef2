"""The sources of a graph on Spark: streams that it reads all the time, and relations."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from tidemill.algebra.nodes import SourceKind
from tidemill.algebra.schema import Field, Schema
from tidemill.analyze import SourceInfo
from tidemill.errors import ExecutionError, UnsupportedError
from tidemill.fragments import Edge
from tidemill.physical.operator import Exec
from tidemill.physical.source import SourceExec
from tidemill.runtime.progress import SourceProgress
from tidemill.runtime.spark.checkpoint import Checkpoint
from tidemill.runtime.spark.heartbeats import Heartbeats
from tidemill.runtime.spark.layout import Layout
from tidemill.runtime.spark.native import native_rows
from tidemill.runtime.spark.raw import RawRows, static_rows
from tidemill.runtime.spark.reading import Origin, Reader
from tidemill.runtime.spark.tick import Marks
from tidemill.timeline import BEGIN


class LiveSources:
    """The streams of a graph, with what was read of them and their watermarks.

    `relation` tells where the rows of a relation are.
    """

    def __init__(
        self,
        session: SparkSession,
        streams: Mapping[str, Origin],
        relation: Callable[[str], Origin],
        checkpoint: Checkpoint,
    ) -> None:
        origins = [(origin, _all_columns(origin.info)) for _, origin in sorted(streams.items())]
        self._session = session
        self._relation = relation
        self._uri = checkpoint.uri
        self._reader = Reader(session, origins, self._uri)
        self._heartbeats = Heartbeats(checkpoint)
        self.sources = self._reader.sources
        self.raw = RawRows(self.sources)
        self.marks = Marks()
        self.last_rows = {source.name: time.monotonic() for source in self.sources}
        self._counts: dict[str, int] = {}

    def read(self) -> DataFrame:
        """The rows of all streams, and heartbeats."""
        streams = [self.raw.packed(source, self._reader.read(source)) for source in self.sources]
        # Heartbeats come first: the first one's session is that of all, and ticks need ours.
        beats = self.raw.heartbeats(self._heartbeats.read(self._session))
        return reduce(DataFrame.union, streams, beats)

    def read_static(self, edge: Edge, layout: Layout) -> DataFrame:
        """The rows of a relation as rows of an edge."""
        scan = native_rows(edge.producer).source.scan
        reader = Reader(self._session, [(self._relation(scan.source), scan.columns)], self._uri)
        (source,) = reader.sources
        return static_rows(reader.read(source), edge, source, layout)

    def check(self, plan: Exec) -> None:
        """Refuse a plan that reads what cannot be read here."""
        known = {source.name for source in self.sources}
        for scan in (leaf.scan for leaf in plan.walk() if isinstance(leaf, SourceExec)):
            if scan.kind is SourceKind.CHANGING:
                raise UnsupportedError(
                    f"`{scan.source}` changes, which a running graph does not follow yet",
                    help="start the query on its own",
                )
            if scan.kind is SourceKind.STREAM and scan.source not in known:
                raise ExecutionError(
                    f"the running graph does not read the stream `{scan.source}`",
                    help=f"name it when the graph is started; it reads {', '.join(sorted(known))}",
                )

    def note(self, facts: Mapping[str, Any]) -> None:
        """Take note of what a tick has read."""
        for source in self.sources:
            for fact in (f"rows{source.number}", f"late{source.number}"):
                self._counts[fact] = self._counts.get(fact, 0) + facts[fact]
            if facts[f"rows{source.number}"]:
                self.last_rows[source.name] = time.monotonic()

    @property
    def watermarks(self) -> Mapping[str, int]:
        return self.marks.sources

    @property
    def newest(self) -> dict[str, int]:
        """For every stream, the end of the newest row so far."""
        found = {}
        for source in self.sources:
            mark = self.watermarks.get(source.name)
            found[source.name] = BEGIN if mark is None else mark + source.slack + 1
        return found

    @property
    def progress(self) -> dict[str, SourceProgress]:
        """What was read of every stream."""
        return {
            source.name: SourceProgress(
                self._counts.get(f"rows{source.number}", 0),
                self._counts.get(f"late{source.number}", 0),
                self.watermarks.get(source.name, BEGIN),
            )
            for source in self.sources
        }

    def heartbeat(self, instants: Mapping[str, int]) -> None:
        """Let streams reach instants without rows: none will come that hold before them."""
        known = {source.name: source for source in self.sources}
        for name in instants:
            if name not in known:
                help = f"streams: {', '.join(known)}"
                raise ExecutionError(f"the graph reads no stream `{name}`", help=help)
        self._heartbeats.send(
            {known[name].number: at + known[name].slack for name, at in instants.items()}
        )

    def wake(self) -> None:
        """Make another tick, even if nothing comes."""
        self._heartbeats.wake()


def _all_columns(info: SourceInfo) -> Schema:
    """The columns of a stream, with that of its time: a query may ask for it."""
    if info.time_column is None or info.time_type is None:
        return info.schema
    return Schema((*info.schema.fields, Field(info.time_column, info.time_type)))
