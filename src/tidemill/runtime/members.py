"""The queries of a run, and what every one of them is given of a tick."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, partial

import polars as pl
import pyarrow as pa

from tidemill.connectors.sinks import (
    ARRIVED,
    FunctionSink,
    LateCallback,
    LateShape,
    MemorySink,
    PartSink,
    Sink,
    SinkRequest,
    SparkWrite,
    TableSink,
    make_late_sink,
    make_sink,
)
from tidemill.errors import ExecutionError
from tidemill.physical.mechanisms.cut import cut
from tidemill.physical.operator import empty_batch, together
from tidemill.runtime.epochs import Epoch
from tidemill.runtime.fabric import Fabric
from tidemill.runtime.interface import DETACHED, Root
from tidemill.runtime.manifest import identity_of
from tidemill.runtime.reports import TaskReport
from tidemill.runtime.sources import StreamSource
from tidemill.runtime.task_sinks import ScratchWriter, TaskSink, TaskSinks
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


@dataclass(frozen=True)
class Receivers:
    """The queries that are given something of the ticks of an epoch.

    Thousands may have nothing to take: these cost no tick any time.
    """

    every: Members
    epoch: Epoch
    store: Store | None

    @cached_property
    def members(self) -> dict[str, Member]:
        """Those that are there. A tick that is done again may be that of one that was removed."""
        return {name: self.every[name] for name in self.epoch.roots if name in self.every}

    @cached_property
    def task_sinks(self) -> TaskSinks:
        """Which results tasks write themselves, and which the driver wants."""
        return _task_sinks(self.members, self.epoch, self.store)

    def of(self, tags: Iterable[int]) -> list[str]:
        """In their order, those with rows in these results, and those that want every tick."""
        names = {name for tag in tags for name in self._by_tag.get(tag, ())}
        return sorted(names.union(self._unresting), key=self._places.__getitem__)

    @cached_property
    def _by_tag(self) -> dict[int, list[str]]:
        found: dict[int, list[str]] = {}
        for name in self.members:
            found.setdefault(self.epoch.tags[name], []).append(name)
        return found

    @cached_property
    def _unresting(self) -> list[str]:
        return [name for name, member in self.members.items() if not member.rests]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.members)}


def _task_sinks(members: Mapping[str, Member], epoch: Epoch, store: Store | None) -> TaskSinks:
    writers: dict[int, list[TaskSink]] = {}
    driver: set[int] = set()
    for name, member in members.items():
        tag, since = epoch.tags[name], epoch.roots[name].since
        if member.taker is not None:
            driver.add(tag)
        elif isinstance(member.sink, PartSink):
            writers.setdefault(tag, []).append(TaskSink(name, member.sink.writer, since))
        else:
            assert store is not None
            assert isinstance(member.sink, SparkWrite)
            scratch = ScratchWriter(store, name, member.sink.shape)
            writers.setdefault(tag, []).append(TaskSink(name, scratch, since))
    return TaskSinks(writers, frozenset(driver))


class Delivery:
    """The results of one tick: what came to the driver, and what tasks have written."""

    def __init__(
        self,
        receivers: Receivers,
        parts: Mapping[int, Sequence[pl.DataFrame]],
        reports: Iterable[TaskReport],
        fabric: Fabric,
    ) -> None:
        self._receivers = receivers
        self._epoch = receivers.epoch
        self._parts = parts
        self._reports = list(reports)
        self._fabric = fabric
        self._store = receivers.store

    def give(self, tick: int, but_not: Collection[str]) -> dict[str, Exception]:
        """Let all sinks but some have their rows; why sinks have failed, by query."""
        failures: dict[str, Exception] = {}
        for name in self._receivers.of(self._parts):
            if name not in but_not:
                try:
                    self._give(name, self._receivers.members[name], tick)
                except Exception as error:
                    failures[name] = error
        return failures

    def _give(self, name: str, member: Member, tick: int) -> None:
        if member.taker is not None:
            rows = self._rows(name, member)
            member.rows_out += rows.height
            member.taker.give(rows, tick)
            return
        for report in self._reports:
            if name in report.unwritten:
                raise report.unwritten[name].error
            member.rows_out += report.rows.get(name, 0)
        names = [report.written[name] for report in self._reports if name in report.written]
        if isinstance(member.sink, PartSink):
            member.sink.finish(tick, names)
        else:
            assert self._store is not None
            assert isinstance(member.sink, SparkWrite)
            self._fabric.write(member.sink, names, tick, self._store)

    def _rows(self, name: str, member: Member) -> pl.DataFrame:
        parts = self._parts.get(self._epoch.tags[name])
        if not parts:
            return member.nothing
        rows, since = together(parts), self._epoch.roots[name].since
        return cut(rows, since) if since else rows
