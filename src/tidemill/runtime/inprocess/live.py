"""Queries that run together in this process, and come and go between two ticks."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import RLock

import polars as pl
import pyarrow as pa

from tidemill.algebra.nodes import Scan, SourceKind
from tidemill.errors import ExecutionError, UnsupportedError
from tidemill.physical.operator import Exec, empty_batch
from tidemill.physical.snapshot import snapshots_of
from tidemill.physical.source import SourceExec
from tidemill.runtime.conditions import Conditions
from tidemill.runtime.gathering import Gathering
from tidemill.runtime.graph import Arrival, Graph, NodeProgress, nodes_of
from tidemill.runtime.inprocess.feeds import Feed, StreamFeed, scanned
from tidemill.runtime.inprocess.sinks import MemorySink, Sink, make_sink
from tidemill.runtime.interface import Root
from tidemill.runtime.progress import Progress, SourceProgress
from tidemill.runtime.results import cut_before

_SHARES_EVERY = 64
"""Ticks between two looks at how many rows meet conditions."""

Read = tuple[pl.DataFrame, pl.Series, pl.Series]


@dataclass
class _Member:
    """A query, with its place in the graph."""

    root: Root
    plan: Exec
    sink: Sink
    rows_out: int = 0
    began: float = field(default_factory=time.monotonic)


class LiveRun:
    """Every call of `tick` reads what has come of every stream, and runs all queries once.

    `feed` opens a source: streams are opened when a query first reads them, and read from then on;
    relations are read anew for every part of the graph that begins with them.
    """

    def __init__(self, feed: Callable[[str], Feed]) -> None:
        self.after_tick: Callable[[], None] = lambda: None
        self.lock = RLock()
        self.gathering = Gathering()
        self.failures: dict[str, Exception] = {}
        self._open = feed
        self._streams: dict[str, Feed] = {}
        self._relations: dict[SourceExec, Feed] = {}
        self._graph = Graph()
        self._members: dict[str, _Member] = {}
        self._leaves: list[tuple[SourceExec, Feed, pl.DataFrame]] | None = None
        self._ticks = 0
        self._began = time.monotonic()

    @property
    def ticks(self) -> int:
        """How many ticks were made."""
        return self._ticks

    @property
    def seconds(self) -> float:
        """Since the graph was started."""
        return time.monotonic() - self._began

    @property
    def nodes(self) -> Mapping[Exec, NodeProgress]:
        """What every part of the graph has done."""
        return self._graph.running

    @property
    def newest(self) -> Mapping[str, int]:
        """For streams that are being read, the end of the newest row so far."""
        streams = {n: f for n, f in self._streams.items() if isinstance(f, StreamFeed)}
        return {name: feed.newest_end for name, feed in streams.items()}

    @property
    def sources(self) -> Mapping[str, SourceProgress]:
        """What was read of every stream."""
        return {name: feed.progress.summary() for name, feed in self._streams.items()}

    @property
    def has_more(self) -> bool:
        """Whether rows wait to be read, or the end of a stream to be noticed."""
        return any(feed.has_more for feed in self._feeds())

    def revise(self, roots: Mapping[str, Root], carried: Mapping[Exec, Exec]) -> None:
        """From the next tick on, run these queries."""
        members = {name: self._member(name, root) for name, root in roots.items()}
        for name, member in members.items():
            if member is not self._members.get(name):
                for leaf in _sources(member.plan):
                    self._feed(leaf)
        self._graph.revise([member.plan for member in members.values()], carried)
        self._members = members
        self.failures = {name: error for name, error in self.failures.items() if name in members}
        self._leaves = None

    @property
    def _fed(self) -> list[tuple[SourceExec, Feed, pl.DataFrame]]:
        """The leaves of the graph in their order, with what feeds them; found when needed."""
        if self._leaves is None:
            leaves = [leaf for leaf in self._graph.leaves if isinstance(leaf, SourceExec)]
            self._relations = {n: feed for n, feed in self._relations.items() if n in leaves}
            self._leaves = [(leaf, self._feed(leaf), empty_batch(leaf.schema)) for leaf in leaves]
        return self._leaves

    def _member(self, name: str, root: Root) -> _Member:
        old = self._members.get(name)
        if old is not None and old.root == root:
            return old
        job = root.job
        plan = snapshots_of(job.plan) if job.sink.form == "snapshot" else job.plan
        if old is not None and old.root.job.sink == job.sink:
            return _Member(root, plan, old.sink, old.rows_out, old.began)
        return _Member(root, plan, make_sink(job))

    def _feed(self, leaf: SourceExec) -> Feed:
        scan = leaf.scan
        if scan.kind is SourceKind.STREAM:
            if scan.source not in self._streams:
                self._streams[scan.source] = self._open(scan.source)
            return self._streams[scan.source]
        if scan.kind is SourceKind.CHANGING:
            raise UnsupportedError(
                f"`{scan.source}` changes, which a graph in this process does not follow",
                help="run the graph on Spark, or read the result with q.collect()",
            )
        if leaf not in self._relations:
            self._relations[leaf] = self._open(scan.source)
        return self._relations[leaf]

    def tick(self) -> None:
        """Read what has come, and give every query its new answers."""
        leaves = self._fed
        read = {id(feed): feed.tick() for feed in self._feeds()}
        results = self._graph.try_step([self._arrival(read, *leaf) for leaf in leaves])
        for (name, member), result in zip(self._members.items(), results, strict=True):
            self._deliver(name, member, result)
        self._gather(read)
        self._ticks += 1
        self.after_tick()

    def _feeds(self) -> list[Feed]:
        return [*self._streams.values(), *self._relations.values()]

    def _arrival(
        self, read: Mapping[int, Read], leaf: SourceExec, feed: Feed, empty: pl.DataFrame
    ) -> Arrival:
        return scanned(leaf.scan, *read[id(feed)], empty), feed.progress.watermark

    def _deliver(self, name: str, member: _Member, result: Arrival | None) -> None:
        if name in self.failures:
            return
        if result is None:
            self.failures[name] = self._graph.failures[member.plan]
            return
        rows, _ = result
        if rows.height and member.root.since:
            rows = cut_before(rows, member.root.since)
        try:
            member.sink(rows, self._ticks)
        except Exception as error:
            self.failures[name] = error
        member.rows_out += rows.height

    def _gather(self, read: Mapping[int, Read]) -> None:
        """Find out about the streams, and how many rows meet conditions."""
        scans = {leaf.scan.source: leaf.scan for leaf, _, _ in self._fed}
        for name, feed in self._streams.items():
            rows, start, end = read[id(feed)]
            if rows.height and name in scans:
                facts = self.gathering.of(name, scans[name].kind)
                facts.add(rows, self._columns(name), start.to_numpy(), end.to_numpy())
        if self._ticks % _SHARES_EVERY == 0:
            self.gathering.shares.update(Conditions(self._graph.nodes).shares(self._graph.progress))

    def _columns(self, source: str) -> dict[str, None]:
        """The columns of a stream that some query reads."""
        scans: list[Scan] = [leaf.scan for leaf, _, _ in self._fed]
        return dict.fromkeys(n for s in scans if s.source == source for n in s.columns.names)

    def progress_of(self, query: str) -> Progress:
        """What was done since the query was added."""
        member = self._member_of(query)
        read = {leaf.scan.source for leaf in _sources(member.plan)}
        progress = self.nodes
        return Progress(
            self._ticks,
            member.rows_out,
            {name: source for name, source in self.sources.items() if name in read},
            tuple(progress[node].summary() for node in nodes_of(member.plan)),
            seconds=time.monotonic() - member.began,
            statistics=self.gathering.statistics,
        )

    def results(self, query: str) -> pa.Table:
        """What the sink `memory` of a query holds now."""
        member = self._member_of(query)
        if not isinstance(member.sink, MemorySink):
            help = "start the query with sink='memory'"
            raise ExecutionError("only the sink memory keeps results", help=help)
        kept = member.sink.results()
        return member.root.job.plan.schema.to_arrow().empty_table() if kept is None else kept

    def _member_of(self, query: str) -> _Member:
        if query not in self._members:
            help = f"running: {', '.join(self._members) or 'none'}"
            raise ExecutionError(f"no query `{query}` is running", help=help)
        return self._members[query]

    def heartbeat(self, source: str, at: int) -> None:
        """Say that a stream has come to an instant: rows that hold earlier are late from now on."""
        feed = self._streams.get(source)
        if not isinstance(feed, StreamFeed):
            help = f"streams: {', '.join(self._streams) or 'none'}"
            raise ExecutionError(f"the graph reads no stream `{source}`", help=help)
        feed.heartbeat(at)

    def stop(self) -> None:
        """Let go of everything."""
        self.revise({}, {})


def _sources(plan: Exec) -> list[SourceExec]:
    return [node for node in plan.walk() if isinstance(node, SourceExec)]
