"""The queries of a run, and what every one of them is given of a tick."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import cache, cached_property, partial

import polars as pl
import pyarrow as pa

from tidemill.connectors.sinks import (
    ARRIVED,
    FormShape,
    FunctionSink,
    LateCallback,
    LateShape,
    MemorySink,
    Sink,
    SinkRequest,
    SparkWrite,
    TableSink,
    make_late_sink,
    make_sink,
)
from tidemill.errors import ExecutionError
from tidemill.physical.operator import empty_batch
from tidemill.runtime.fabric import Fabric
from tidemill.runtime.interface import DETACHED, Root
from tidemill.runtime.manifest import identity_of
from tidemill.runtime.sources import StreamSource
from tidemill.stages import LateRowsExec
from tidemill.store import Durability, Store


class WaitingSink:
    """Keeps answers for the function that is to come, when a query was restored."""

    form = ""

    def __init__(self) -> None:
        self._kept: list[tuple[pl.DataFrame, int]] = []

    def give(self, rows: pl.DataFrame, tick: int) -> None:
        self._kept.append((rows, tick))

    def hand_over(self, sink: Sink) -> Sink:
        """Give another sink what was kept for it."""
        if isinstance(sink, TableSink):
            for rows, tick in self._kept:
                sink.give(rows, tick)
        return sink


@dataclass
class Member:
    """A query, with its sink."""

    root: Root
    sink: Sink
    rows_out: int = 0
    began: float = field(default_factory=time.monotonic)

    @cached_property
    def taker(self) -> TableSink | None:
        """The sink, if it takes rows in the driver; else tasks write them."""
        # Whether an object meets a protocol is slow to tell: once, not in every tick.
        return self.sink if isinstance(self.sink, TableSink) else None

    @cached_property
    def rests(self) -> bool:
        """Whether a tick that brings no rows need not be given to it."""
        return isinstance(self.sink, FunctionSink | MemorySink) and self.sink.rests

    @cached_property
    def row_shape(self) -> FormShape | None:
        """What each of its rows becomes for its sink, if that depends on nothing else."""
        shape = self.sink.shape if isinstance(self.sink, FunctionSink | MemorySink) else None
        return shape if isinstance(shape, FormShape) and shape.is_by_row else None

    @cached_property
    def nothing(self) -> pl.DataFrame:
        """What it is given of a tick that has brought it nothing."""
        return empty_batch(self.root.running.schema)

    @property
    def is_detached(self) -> bool:
        """Whether it was restored, and has no function for its results yet."""
        return self.root.job.sink.target == DETACHED

    def results(self) -> pa.Table:
        """What its sink holds, if it is one that keeps results."""
        if not isinstance(self.sink, MemorySink):
            help = "start the query with sink='memory'"
            raise ExecutionError("only the sink memory keeps results", help=help)
        return self.sink.results()


class Members(dict[str, Member]):
    """The queries of a run by name, until others come or go."""

    @cached_property
    def detached(self) -> list[str]:
        """Those that wait for the functions that get their results."""
        return [name for name, member in self.items() if member.is_detached]


class Sinks:
    """Makes the sinks of a run; databases know it by the identity of its store."""

    def __init__(self, fabric: Fabric, store: Store | None) -> None:
        self._fabric = fabric
        self._identity = cache(partial(identity_of, store))
        self._place: tuple[bool, bool, Durability] = (
            fabric.writes_spark_formats,
            fabric.has_local_paths,
            "process" if store is None or store.is_temporary else store.durability,
        )

    def member(self, name: str, root: Root, old: Member | None) -> Member:
        """A query as it goes on, or begins."""
        if old is not None and old.root is root:
            return old
        if old is not None and old.root.job.sink == root.job.sink:
            return Member(root, old.sink, old.rows_out, old.began)
        sink = self._sink(name, root)
        if old is not None and isinstance(old.sink, WaitingSink):
            return Member(root, old.sink.hand_over(sink), old.rows_out, old.began)
        return Member(root, sink)

    def _sink(self, name: str, root: Root) -> Sink:
        request: SinkRequest = root.job.sink
        if request.target == DETACHED:
            return WaitingSink()
        schema, domain = root.job.plan.schema, root.job.domain
        sink = make_sink(
            request, schema, domain, lambda: f"{self._identity()}/{name}", *self._place
        )
        if isinstance(sink, SparkWrite):
            self._fabric.check(sink)
        return sink

    def late(self, target: str | LateCallback, source: StreamSource, root: Root) -> Member:
        """What takes the late rows of a stream."""
        info = source.info
        assert isinstance(root.job.plan, LateRowsExec)
        shape = LateShape(info.name, info.time_column or ARRIVED, root.job.plan.schema, info.domain)
        return Member(root, make_late_sink(target, shape, *self._place))
