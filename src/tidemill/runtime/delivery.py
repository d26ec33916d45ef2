"""What every query is given of a tick."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import polars as pl
import pyarrow as pa

from tidemill.connectors.sinks import (
    FormShape,
    FunctionSink,
    MemorySink,
    PartSink,
    SparkWrite,
)
from tidemill.physical.mechanisms.cut import cut
from tidemill.physical.operator import together
from tidemill.runtime.epochs import Epoch
from tidemill.runtime.fabric import Fabric
from tidemill.runtime.members import Member, Members
from tidemill.runtime.reports import TaskReport
from tidemill.runtime.task_sinks import ScratchWriter, TaskSink, TaskSinks
from tidemill.store import Store


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
        members = self._receivers.members
        names = [name for name in self._receivers.of(self._parts) if name not in but_not]
        tables = self._tables(names)
        for name in names:
            try:
                if name in tables:
                    _hand_over(members[name], tables[name], tick)
                else:
                    self._give(name, members[name], tick)
            except Exception as error:
                failures[name] = error
        return failures

    def _tables(self, names: Sequence[str]) -> dict[str, pa.Table]:
        """The results of queries whose columns are alike, made at once: for each of thousands that
        have a few rows, it would take longer than to compute these."""
        alike: dict[FormShape, list[str]] = {}
        for name in names:
            shape = self._receivers.members[name].row_shape
            if shape is not None and self._epoch.tags[name] in self._parts:
                alike.setdefault(shape, []).append(name)
        found: dict[str, pa.Table] = {}
        for shape, group in alike.items():
            if len(group) > 1:
                rows = [self._rows(name, self._receivers.members[name]) for name in group]
                with suppress(Exception):  # each is made by itself then, and tells why it fails
                    found |= dict(zip(group, _split(shape, rows), strict=True))
        return found

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


def _split(shape: FormShape, batches: Sequence[pl.DataFrame]) -> list[pa.Table]:
    """The tables of batches whose rows are shaped one by one."""
    whole = shape(pl.concat(batches, rechunk=True))
    sizes = [batch.height for batch in batches]
    firsts = accumulate(sizes, initial=0)
    return [whole.slice(first, size) for first, size in zip(firsts, sizes, strict=False)]


def _hand_over(member: Member, table: pa.Table, tick: int) -> None:
    assert isinstance(member.sink, FunctionSink | MemorySink)
    member.rows_out += table.num_rows
    member.sink.take(table, tick)
