"""Queries that run together on Spark, and come and go between two ticks.

One streaming query reads all streams. What the queries of the moment make of their rows is decided
in every tick, by the epoch that is in force.
"""

from __future__ import annotations

import tempfile
import time
import uuid
from collections.abc import Callable, Collection, Mapping
from threading import Condition, RLock
from typing import Any

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from tidemill.errors import ExecutionError
from tidemill.fragments.staging import Staging
from tidemill.physical.operator import Exec
from tidemill.physical.source import SourceExec
from tidemill.runtime.gathering import Gathering
from tidemill.runtime.graph import NodeProgress, nodes_of
from tidemill.runtime.interface import DETACHED, Restored, Root
from tidemill.runtime.progress import Progress, SourceProgress
from tidemill.runtime.spark.checkpoint import Checkpoint
from tidemill.runtime.spark.delivery import Delivery, Member
from tidemill.runtime.spark.epoch_plan import EpochPlan
from tidemill.runtime.spark.epochs import Epoch, EpochLog, next_epoch
from tidemill.runtime.spark.failures import explained
from tidemill.runtime.spark.findings import level_totals
from tidemill.runtime.spark.idle import IdleWatch
from tidemill.runtime.spark.live_nodes import Streams, node_progress, operator_totals
from tidemill.runtime.spark.live_sources import LiveSources
from tidemill.runtime.spark.reading import Origin
from tidemill.runtime.spark.session import working_copy
from tidemill.runtime.spark.sinks import Writer, make_sink
from tidemill.runtime.spark.table_sinks import results_of
from tidemill.runtime.spark.tick import Marks

_KEPT_TICKS = 100  # only the last is needed; Spark keeps as many of its own


class LiveRun:
    """Reads some streams, from now on or from where a checkpoint left them, and runs queries.

    `relation` tells where the rows of a relation are. Whoever holds the `lock` is between ticks.
    """

    def __init__(
        self,
        session: SparkSession,
        streams: Mapping[str, Origin],
        relation: Callable[[str], Origin],
        partitions: int | None = None,
        checkpoint: str | None = None,
        every: str | None = None,
    ) -> None:
        self.after_tick: Callable[[], None] = lambda: None
        self.failures: dict[str, Exception] = {}
        self.gathering = Gathering()
        self.lock = RLock()
        self._ticked = Condition(self.lock)
        # Without a checkpoint there is nothing to come back to, but Spark needs a folder.
        self._checkpoint = Checkpoint(checkpoint or tempfile.mkdtemp(prefix="tidemill-"))
        wanted = partitions or session.sparkContext.defaultParallelism
        self._partitions = self._checkpoint.open(f"streams {', '.join(sorted(streams))}", wanted)
        self._sources = LiveSources(working_copy(session), streams, relation, self._checkpoint)
        self._epochs = EpochLog(self._checkpoint)
        self._run_id = uuid.uuid4().hex
        self._members: dict[str, Member] = {}
        self._carried: dict[Exec, Exec] = {}
        self._reports: list[dict[str, Any]] = []
        self._phases: dict[str, float] = {}
        self._nodes: Mapping[Exec, NodeProgress] | None = None
        self._ticks = 0
        self._began = time.monotonic()
        self._idle: IdleWatch | None = None
        self._trigger = {"processingTime": every or "0 seconds"}
        self._query: StreamingQuery | None = None
        self._wanted = False
        self._restore()

    def _restore(self) -> None:
        """Find where a checkpoint was left. A tick that was begun is done again as it was."""
        nothing = Staging(self._partitions)
        last = self._epochs.at() or Epoch(staging=nothing, before=nothing)
        done = self._checkpoint.last("spark/commits")
        self._is_begun = self._checkpoint.last("spark/offsets") > done
        self._next = done + 1 + int(self._is_begun)
        self._pending = self._planned(last)
        self._base = last.before if last.tick > done else last.staging
        if done >= 0:
            self._sources.marks = Marks.load(self._checkpoint.read(f"ticks/{done:012d}.json"))
            self._reports = self._planned_at(done + 1).reports_before(done + 1)
        self._members = {name: self._member(name, root) for name, root in last.roots.items()}
        self.restored = Restored(last.roots, last.notes) if last.roots else None

    def start(self) -> None:
        """Begin to read, as soon as all queries of the checkpoint have their sinks."""
        with self.lock:
            self._wanted = True
            if self._query is None and not self._detached:
                self._start()

    def _start(self) -> None:
        writer = self._sources.read().writeStream.foreachBatch(self._tick)
        writer = writer.option("checkpointLocation", f"{self._checkpoint.uri}/spark")
        self._query = writer.trigger(**self._trigger).start()
        self._idle = IdleWatch(self._sources)
        # What is read of the graph must not be of before a tick that was begun.
        while self._is_begun:
            if not self._query.isActive:
                raise explained(self._query.exception() or ExecutionError("Spark has stopped"))
            self._ticked.wait(timeout=1)

    @property
    def _detached(self) -> list[str]:
        """Queries of the checkpoint that have no function for their results yet."""
        members = self._members.items()
        return [name for name, member in members if member.root.job.sink.target == DETACHED]

    def revise(
        self, roots: Mapping[str, Root], carried: Mapping[Exec, Exec], notes: Any = None
    ) -> None:
        """From the next tick on, run these queries."""
        with self.lock:
            members = {name: self._member(name, root) for name, root in roots.items()}
            if self._query is not None or carried or not self._pending.epoch.runs(roots):
                self._put_in_force(roots, carried, notes)
            self._members = members
            self.failures = {name: e for name, e in self.failures.items() if name in members}
            if self._query is not None:
                self._sources.wake()
            elif self._wanted:
                self.start()

    def _put_in_force(
        self, roots: Mapping[str, Root], carried: Mapping[Exec, Exec], notes: Any
    ) -> None:
        """Write an epoch down that begins with the next tick."""
        if self._is_begun:
            raise ExecutionError(
                "the queries of the checkpoint have to go on first",
                help=f"start them again under their names: {', '.join(self._members)}",
            )
        for root in roots.values():
            self._sources.check(root.job.running)
        # Between the same two ticks, plans may have been replaced already.
        came = {new: self._carried.get(old, old) for new, old in carried.items()}
        came = {**self._carried, **came}
        epoch = next_epoch(self._next, self._base, roots, came, notes)
        self._epochs.write(epoch)
        self._pending, self._carried, self._nodes = self._planned(epoch), came, None

    def _planned(self, epoch: Epoch) -> EpochPlan:
        state = f"{self._checkpoint.uri}/state"
        arguments = (self._sources.raw, self._sources.read_static, self._partitions, state)
        return EpochPlan(epoch, *arguments, self._run_id, self.gathering)

    def _member(self, name: str, root: Root) -> Member:
        old, job = self._members.get(name), root.job
        if old is not None and old.root.job.sink == job.sink:
            return Member(root, old.sink, old.rows_out, old.began)
        writer = Writer(self._checkpoint.uri, name)
        return Member(root, make_sink(job.sink, job.domain, job.plan.schema, writer))

    def _tick(self, batch: DataFrame, tick: int) -> None:
        with self.lock:
            planned = self._planned_at(tick)
            try:
                self._run(batch, tick, planned)
            except (PySparkException, ExecutionError) as error:
                self._run_without_failing(batch, tick, planned, error)
            self.after_tick()
            self._ticked.notify_all()

    def _planned_at(self, tick: int) -> EpochPlan:
        """What a tick goes by; one that is done again may be of an epoch before the last."""
        old = self._epochs.at(tick) if self._pending.epoch.tick > tick else None
        return self._pending if old is None else self._planned(old)

    def _run(self, batch: DataFrame, tick: int, planned: EpochPlan) -> None:
        began = time.perf_counter()
        marks = planned.marks(tick, self._sources.marks, self._reports)
        rows, seen = planned.run(batch, tick, marks, self._reports)
        delivery = Delivery(planned.plan, rows, self._members, planned.epoch)
        try:
            delivery.make()
            made = time.perf_counter()
            reports = planned.plan.reports(tick)
            failed = planned.failed(reports)
            self.failures |= failed
            self.failures |= delivery.give(tick, self.failures, reports)
        finally:
            delivery.end()
        self._phases = {"run": made - began, "sinks": time.perf_counter() - made}
        self._reports = reports
        self._note(seen.get, planned)
        self._sources.marks = planned.plan.next_marks(marks, seen.get, reports)
        self._is_done(tick, planned)
        if planned.staged.stages and self._sources.marks != marks:
            # What has become certain now comes out with the next tick; see SparkRun.
            self._sources.wake()

    def _is_done(self, tick: int, planned: EpochPlan) -> None:
        self._is_begun, self._carried, self._nodes = False, {}, None
        self._next = tick + 1
        later = self._pending.epoch
        self._base = later.before if later.tick > tick else planned.epoch.staging
        if self.failures:
            # What is left of operators that failed must not be used again, not even after a crash.
            self._let_go(self.failures)
        self._checkpoint.write(f"ticks/{tick:012d}.json", self._sources.marks.dump())
        self._checkpoint.remove(f"ticks/{tick - _KEPT_TICKS:012d}.json")
        if tick == planned.epoch.tick:
            self._epochs.forget_before(tick)

    def _let_go(self, names: Collection[str]) -> None:
        epoch = self._pending.epoch
        if any(name in epoch.roots for name in names):
            rest = {name: root for name, root in epoch.roots.items() if name not in names}
            self._put_in_force(rest, {}, epoch.notes)

    def _run_without_failing(
        self, batch: DataFrame, tick: int, planned: EpochPlan, error: Exception
    ) -> None:
        """Do a tick again that failed, without the queries whose sources or expressions failed."""
        marks = planned.marks(tick, self._sources.marks, self._reports)
        failed = planned.failed([], planned.failing_edges(batch, tick, marks))
        if not failed or tick != self._next:
            raise error
        self.failures |= failed
        self._let_go(failed)
        self._run(batch, tick, self._pending)

    def _note(self, facts: Mapping[str, Any], planned: EpochPlan) -> None:
        self._sources.note(facts)
        for source in self._sources.sources:
            planned.findings.note_rows(source, facts)
        planned.findings.note_reports(self._reports, level_totals(self._reports))
        self._ticks += 1

    @property
    def ticks(self) -> int:
        """How many ticks were made since the start."""
        return self._ticks

    @property
    def seconds(self) -> float:
        """Since the graph was started."""
        return time.monotonic() - self._began

    @property
    def nodes(self) -> Mapping[Exec, NodeProgress]:
        """What every part of the graph has done."""
        if self._nodes is None:
            epoch = self._pending.epoch
            totals = operator_totals(self._base, self._reports)
            if epoch.tick == self._next:
                totals |= {n: totals[old] for n, old in epoch.carried.items() if old in totals}
            streams = Streams(self._sources.marks.sources, self.newest, self._base.placed)
            self._nodes = node_progress(epoch.staging, totals, streams, self._partitions)
        return self._nodes

    @property
    def newest(self) -> Mapping[str, int]:
        """For every stream, the end of the newest row so far."""
        return self._sources.newest

    @property
    def sources(self) -> Mapping[str, SourceProgress]:
        """What was read of every stream."""
        return self._sources.progress

    def progress_of(self, query: str) -> Progress:
        """What was done since the query was added."""
        member, nodes = self._find(query), self.nodes
        parts = nodes_of(member.root.job.running)
        read = {part.scan.source for part in parts if isinstance(part, SourceExec)}
        return Progress(
            self._ticks,
            member.rows_out,
            {name: source for name, source in self.sources.items() if name in read},
            tuple(nodes[part].summary() for part in parts if part in nodes),
            self._phases,
            time.monotonic() - member.began,
            self.gathering.statistics,
        )

    def results(self, query: str) -> pa.Table:
        """What the sink `memory` of a query holds now."""
        return results_of(self._find(query).sink)

    def _find(self, query: str) -> Member:
        if query not in self._members:
            help = f"running: {', '.join(self._members) or 'none'}"
            raise ExecutionError(f"no query `{query}` is running", help=help)
        return self._members[query]

    def forget(self, source: str) -> None:
        """Spark goes on reading all streams that it began with."""

    def heartbeat(self, source: str, at: int) -> None:
        """Say that a stream has come to an instant: rows that hold earlier are late from now on."""
        self._sources.heartbeat({source: at})

    def process_all_available(self) -> None:
        """Wait until everything that is there now has been read."""
        if self._query is None:
            for name in self._detached:
                raise ExecutionError(
                    f"the query `{name}` of the checkpoint has no function for its results yet",
                    help="start it again under its name, or stop it",
                )
            return
        try:
            self._query.processAllAvailable()
        except PySparkException as error:
            raise explained(error) from error

    def stop(self) -> None:
        """Stop, without the end of the current tick; the checkpoint can be used to go on."""
        if self._idle is not None:
            self._idle.stop()
        if self._query is not None:
            self._query.stop()
        self._checkpoint.close()
