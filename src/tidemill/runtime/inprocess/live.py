"""Queries that run together in this process, and come and go between two ticks."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import RLock
from typing import Any

import polars as pl
import pyarrow as pa

from tidemill.algebra.nodes import Scan
from tidemill.errors import ExecutionError
from tidemill.physical.cut import cut
from tidemill.physical.operator import Exec, empty_batch
from tidemill.physical.source import SourceExec
from tidemill.runtime.conditions import Conditions
from tidemill.runtime.gathering import Gathering
from tidemill.runtime.graph import Arrival, Graph, NodeProgress, nodes_of
from tidemill.runtime.inprocess.feeds import Feed, scanned
from tidemill.runtime.inprocess.journal import Journal
from tidemill.runtime.inprocess.opened import Key, Opened, Read, key_of
from tidemill.runtime.inprocess.sinks import MemorySink, Sink, WaitingSink, make_sink
from tidemill.runtime.interface import DETACHED, Restored, Root
from tidemill.runtime.progress import Progress, SourceProgress

_SHARES_EVERY = 64
"""Ticks between two looks at how many rows meet conditions."""


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

    `feed` opens a source. With a `journal`, the graph goes on where it was left.
    """

    def __init__(self, feed: Callable[[str], Feed], journal: Journal | None = None) -> None:
        self.after_tick: Callable[[], None] = lambda: None
        self.gathering = Gathering()
        self.failures: dict[str, Exception] = {}
        self.lock = RLock()
        self._opened = Opened(feed)
        self._graph = Graph()
        self._members: dict[str, _Member] = {}
        self._leaves: list[tuple[SourceExec, pl.DataFrame]] | None = None
        self._ticks = 0
        self._began = time.monotonic()
        self._journal = journal
        self._notes: Any = None
        with self._opened.restoring():
            self.restored = None if journal is None else self._restore(journal)

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
        return {name: feed.newest_end for name, feed in self._opened.streams.items()}

    @property
    def sources(self) -> Mapping[str, SourceProgress]:
        """What was read of every stream."""
        return {name: feed.progress.summary() for name, feed in self._opened.streams.items()}

    @property
    def has_more(self) -> bool:
        """Whether rows wait to be read, or the end of a stream to be noticed."""
        return self._opened.has_more

    def revise(
        self, roots: Mapping[str, Root], carried: Mapping[Exec, Exec], notes: Any = None
    ) -> None:
        """From the next tick on, run these queries."""
        self._revise(roots, carried, notes)
        if self._journal is not None:
            kept = {name: root.kept for name, root in roots.items()}
            self._journal.write_revision(self._ticks, (kept, dict(carried), notes))

    def _revise(self, roots: Mapping[str, Root], carried: Mapping[Exec, Exec], notes: Any) -> None:
        members = {name: self._member(name, root) for name, root in roots.items()}
        for name, member in members.items():
            if member is not self._members.get(name):
                self._opened.open(_sources(member.plan))  # first, because it may refuse
        self._graph.revise([member.plan for member in members.values()], carried)
        self._opened.keep(self._graph.running)
        self._members, self._notes = members, notes
        self.failures = {name: error for name, error in self.failures.items() if name in members}
        self._leaves = None

    @property
    def _fed(self) -> list[tuple[SourceExec, pl.DataFrame]]:
        """The leaves of the graph in their order; found when needed."""
        if self._leaves is None:
            leaves = [leaf for leaf in self._graph.leaves if isinstance(leaf, SourceExec)]
            self._leaves = [(leaf, empty_batch(leaf.schema)) for leaf in leaves]
        return self._leaves

    def _member(self, name: str, root: Root) -> _Member:
        old = self._members.get(name)
        if old is not None and (old.root is root or old.root == root):
            return old
        job = root.job
        if old is not None and isinstance(old.sink, WaitingSink):
            sink = old.sink.hand_over(make_sink(job))
            return _Member(root, job.running, sink, old.rows_out, old.began)
        if old is not None and old.root.job.sink == job.sink:
            return _Member(root, job.running, old.sink, old.rows_out, old.began)
        return _Member(root, job.running, make_sink(job))

    def tick(self) -> None:
        """Read what has come, and give every query its new answers."""
        with self.lock:
            self._refuse_detached()
            read = self._opened.read()
            if self._journal is not None:
                self._journal.write_tick(self._ticks, (read, self._opened.places))
            self._opened.taken()
            self._run(read, deliver=True)
            if self._journal is not None:
                self._journal.write_delivered(self._ticks - 1)
                if self._journal.wants_state:
                    self._journal.write_state(self._ticks - 1, self._state())
            self.after_tick()

    def _run(self, read: Mapping[Key, Read], deliver: bool) -> None:
        """One tick over what was read."""
        arrivals = [self._arrival(read, leaf, empty) for leaf, empty in self._fed]
        results = self._graph.try_step(arrivals)
        for (name, member), result in zip(self._members.items(), results, strict=True):
            if deliver:
                self._deliver(name, member, result)
        self._gather(read)
        self._ticks += 1

    def _arrival(self, read: Mapping[Key, Read], leaf: SourceExec, empty: pl.DataFrame) -> Arrival:
        rows = scanned(leaf.scan, *read[key_of(leaf)], empty)
        return rows, self._opened.watermark(leaf)

    def _refuse_detached(self) -> None:
        for name, member in self._members.items():
            if member.root.job.sink.target == DETACHED:
                raise ExecutionError(
                    f"the query `{name}` of the checkpoint has no function for its results yet",
                    help="start it again under its name, or stop it",
                )

    def _state(self) -> Any:
        """All that is needed to go on from here."""
        roots = {name: member.root.kept for name, member in self._members.items()}
        return roots, self._notes, self._graph.state, self._opened.places, self._graph.failures

    def _restore(self, journal: Journal) -> Restored | None:
        """Go to where the journal ends. Answers that never reached a sink wait there."""
        found = journal.state()
        if found is not None:
            tick, (roots, notes, state, places, failures) = found
            self._revise(roots, {}, notes)
            self._graph.state, self._graph.failures = state, failures
            self._ticks = tick + 1
            self._opened.go_to(places)
        delivered = journal.delivered()
        for tick, kind, event in journal.events():
            if kind == "revision":
                self._revise(*event[:3])
                for dropped in event[3:]:
                    self._opened.forget(dropped)
            else:
                read, places = event
                self._opened.go_to(places)
                self._run(read, tick > delivered)
        if not self._members and found is None:
            return None
        return Restored({n: member.root for n, member in self._members.items()}, self._notes)

    def _deliver(self, name: str, member: _Member, result: Arrival | None) -> None:
        if name in self.failures:
            return
        if result is None:
            self.failures[name] = self._graph.failures[member.plan]
            return
        rows, _ = result
        if rows.height and member.root.since:
            rows = cut(rows, member.root.since)
        try:
            member.sink(rows, self._ticks)
        except Exception as error:
            self.failures[name] = error
        member.rows_out += rows.height

    def _gather(self, read: Mapping[Key, Read]) -> None:
        """Find out about the streams, and how many rows meet conditions."""
        scans = {leaf.scan.source: leaf.scan for leaf, _ in self._fed}
        for name in self._opened.streams:
            rows, start, end = read[name]
            if rows.height and name in scans:
                facts = self.gathering.of(name, scans[name].kind)
                facts.add(rows, self._columns(name), start.to_numpy(), end.to_numpy())
        if self._ticks % _SHARES_EVERY == 0:
            self.gathering.shares.update(Conditions(self._graph.nodes).shares(self._graph.progress))

    def _columns(self, source: str) -> dict[str, None]:
        """The columns of a stream that some query reads."""
        scans: list[Scan] = [leaf.scan for leaf, _ in self._fed]
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
        self._opened.stream(source).heartbeat(at)

    def forget(self, source: str) -> None:
        """Let go of a source that was dropped."""
        with self.lock:
            self._opened.forget(source)
            if self._journal is not None:
                kept = {name: member.root.kept for name, member in self._members.items()}
                self._journal.write_revision(self._ticks, (kept, {}, self._notes, source))

    def start(self) -> None:
        """Nothing is read but by ticks, which others make."""

    def process_all_available(self) -> None:
        """Make ticks until everything that is there now has been read."""
        self.tick()
        while self.has_more:
            self.tick()

    def stop(self) -> None:
        """Let go of everything; a journal stays as it is."""
        self._revise({}, {}, None)
        if self._journal is not None:
            self._journal.close()


def _sources(plan: Exec) -> list[SourceExec]:
    return [node for node in plan.walk() if isinstance(node, SourceExec)]
