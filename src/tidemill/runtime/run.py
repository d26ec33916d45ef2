"""The one run: queries that run together, and come and go between two ticks.

A tick takes what is new from the feeds and writes down what that is, runs tasks on a fabric, gives
the sinks their rows, and writes down that it is done. Whatever stops it, it is done again with the
same slices, from the state that the tick before has left.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from threading import RLock
from typing import Any
from uuid import uuid4

import polars as pl
import pyarrow as pa

from tidemill.algebra.nodes import Scan
from tidemill.algebra.plan import nodes_of
from tidemill.connectors.feeds import folder_of, size_of
from tidemill.connectors.sinks import LateCallback
from tidemill.deadline import UNLIMITED, TickLimits
from tidemill.errors import DamageError, ExecutionError, TidemillError
from tidemill.optimize.statistics import Statistics
from tidemill.physical.operator import Exec
from tidemill.physical.operators.source import SourceExec
from tidemill.runtime.clock import Seen, SourceClock, moved
from tidemill.runtime.codec import KnownFunctions
from tidemill.runtime.delivery import Delivery, Receivers
from tidemill.runtime.epochs import Epoch, EpochLog, next_epoch
from tidemill.runtime.fabric import Fabric
from tidemill.runtime.interface import Job, Restored, Root
from tidemill.runtime.manifest import Manifest, note_repartitioned, open_manifest
from tidemill.runtime.members import Member, Members, Sinks
from tidemill.runtime.open_sources import OpenSources
from tidemill.runtime.operator_progress import OperatorProgress
from tidemill.runtime.operator_totals import GraphNodes, NativeTotals, operator_totals
from tidemill.runtime.operators import places_of
from tidemill.runtime.pace import Pace
from tidemill.runtime.parcels import REPORT, Parcel, forget_scratch, scratch
from tidemill.runtime.planned_epoch import PlannedEpoch
from tidemill.runtime.progress import Progress, SourceProgress
from tidemill.runtime.reports import TaskFailure, TaskReport
from tidemill.runtime.sending import FOLDER as PLANS
from tidemill.runtime.source_task import SourcePiece
from tidemill.runtime.sources import Source
from tidemill.runtime.state import StageState, folder_of_state, forget, forget_undone
from tidemill.runtime.statistics.gathering import Gathering
from tidemill.runtime.tasks import Before, TickTasks
from tidemill.runtime.ticks import Begun, Committed, TickLog
from tidemill.stages import LateRowsExec
from tidemill.stages.repartitioning import repartitioned
from tidemill.stages.staging import Staging
from tidemill.store import Store

_MOMENT = 0.01
"""Seconds."""

_LATE = "#late "
"""Before the name of a stream: the name of the result that has its late rows."""


class Run:
    """Every tick reads what has come of every stream, and runs all queries once.

    `open_source` tells where the rows of a source are. With a `store`, the run goes on where it
    was left. One that is `bounded` reads what is there and comes to an end. Rows that come too
    late go to `late`. Whoever holds the `lock` is between two ticks; how far all has come can be
    asked for at any time, from any thread. A query that fails is let go of; but if it was the last
    of a run that `ends_with_queries`, the tick fails with it. Ticks of one that does not end take
    as much as is done in about the seconds of `latency`. Functions of users are those that are
    `known`: a checkpoint has only their names. What a checkpoint has is repartitioned to so many
    `partitions`, if they are asked for; else it keeps those that it has. A query whose parts take
    more than the `limits` in a tick fails. What `statistics` tell of sources decides which rows are
    sent to all partitions.
    """

    def __init__(
        self,
        fabric: Fabric,
        open_source: Callable[[str], Source],
        store: Store | None = None,
        bounded: bool = False,
        late: str | LateCallback | None = None,
        ends_with_queries: bool = False,
        latency: float | None = None,
        known: KnownFunctions | None = None,
        partitions: int | None = None,
        limits: TickLimits = UNLIMITED,
        statistics: Callable[[], Statistics] = Statistics,
    ) -> None:
        self.after_tick: Callable[[], None] = lambda: None
        self.before_commit: Callable[[], None] = lambda: None
        self.failures: dict[str, Exception] = {}
        self.gathering = Gathering()
        self._statistics = statistics
        self.lock = RLock()
        self._books = RLock()  # held for moments: to note what was done, or to look at it
        self.is_bounded = bounded
        self._fabric = fabric
        self._store = store
        self._late = late
        self._limits = limits
        self._ends_with_queries = ends_with_queries
        self._pace = Pace(None if bounded else latency)
        self._id = uuid4().hex
        manifest = _taken(store, partitions or fabric.partitions)
        self._asked, self._rehashes = partitions, manifest.rehashes
        self._opened = OpenSources(open_source, store, bounded)
        try:
            self._log = None if store is None else TickLog(store, known)
            self._epochs = EpochLog(store, known)
        except BaseException:
            if store is not None:
                store.close()
            raise
        self._sinks = Sinks(fabric, store)
        self._members = Members()
        self._receivers: Receivers | None = None
        self._reports: Sequence[TaskReport] = ()
        self._native = NativeTotals()
        self._phases: dict[str, float] = {}
        self._busy = 0.0
        self._nodes: GraphNodes | None = None
        self._ticks = 0
        self._began = time.monotonic()
        self._next = 0
        self._unfinished: Begun | None = None
        self._uncommitted: PlannedEpoch | None = None
        self._lost: Exception | None = None
        self._changed = False
        self._base = Staging(partitions or manifest.partitions)
        self._pending = PlannedEpoch(Epoch(staging=self._base, before=self._base))
        try:
            self.restored = self._restore()
        except BaseException:
            self.stop()  # others may do better
            raise

    # What there is

    @property
    def ticks(self) -> int:
        """How many ticks were made since the start."""
        return self._ticks

    @property
    def seconds(self) -> float:
        """Since the run was started."""
        return time.monotonic() - self._began

    @property
    def busy_seconds(self) -> float:
        """How long all ticks have taken since the start."""
        return self._busy

    @property
    def nodes(self) -> GraphNodes:
        """What every part of the graph has done; parts that are new have done nothing."""
        with self._books:
            if self._nodes is None:
                epoch, totals = self._pending.epoch, self._totals
                if epoch.tick == self._next and epoch.carried:
                    places = places_of(epoch.carried)
                    there = {n: totals.get(old) for n, old in places.items() if old is not None}
                    totals = {n: done for n, done in totals.items() if n not in places}
                    totals |= {n: done for n, done in there.items() if done is not None}
                self._nodes = self._nodes_of(epoch.staging, totals)
            return self._nodes

    def _nodes_of(self, staging: Staging, totals: Mapping[Exec, OperatorProgress]) -> GraphNodes:
        return GraphNodes(staging, totals, self._native, self._opened.now)

    @property
    def _totals(self) -> dict[Exec, OperatorProgress]:
        """What the operators of the last tick have done."""
        return operator_totals(self._base, self._reports)

    @property
    def _carried(self) -> Mapping[Exec, Exec]:
        """The parts that take the place of others with the next tick."""
        epoch = self._pending.epoch
        return epoch.parts if epoch.tick >= self._next else {}

    @property
    def newest(self) -> Mapping[str, int]:
        """For sources that are being read, the end of the newest row that a new query misses."""
        return self._opened.missed

    @property
    def came(self) -> Mapping[str, int]:
        """For sources that are being read, the end of the newest row so far."""
        found = {name: stream.clock.newest + 1 for name, stream in self._opened.streams.items()}
        return found | {name: each.clock.mark for name, each in self._opened.changing.items()}

    @property
    def refillable(self) -> Collection[str]:
        """The streams of which rows that have come are still there for new queries."""
        streams = self._opened.streams.items()
        return {name for name, stream in streams if stream.retained.still(stream.clock.mark)}

    @property
    def readings(self) -> Collection[SourceExec]:
        """The readings of sources that were there in the last tick."""
        return [leaf for leaf in self._base.placed if isinstance(leaf, SourceExec)]

    @property
    def sources(self) -> Mapping[str, SourceProgress]:
        """What was read of every stream, and of relations that change."""
        with self._books:
            return self._opened.progress

    @property
    def is_ended(self) -> bool:
        """Whether nothing can come any more, and what was held back came out."""
        return self._next > 0 and self._unfinished is None and self._opened.is_ended

    @property
    def has_more(self) -> bool:
        """Whether another tick would bring something, and can be made."""
        if self._members.detached:
            return False
        owes = self._unfinished is not None or self._uncommitted is not None
        return owes or self._changed or self._opened.has_more

    # Queries come and go

    def revise(
        self, roots: Mapping[str, Root], carried: Mapping[Exec, Exec], notes: Any = None
    ) -> None:
        """From the next tick on, run these queries.

        `carried` names the old part in whose place a new one goes on.
        """
        with self.lock:
            every = {**roots, **self._late_roots(roots)}
            members = self._members_of(every)
            if carried or not self._pending.epoch.runs(every):
                self._put_in_force(every, carried, notes)
            self._members = members
            self.failures = {name: e for name, e in self.failures.items() if name in members}

    def _members_of(self, roots: Mapping[str, Root]) -> Members:
        found = Members()
        for name, root in roots.items():
            old = self._members.get(name)
            if not name.startswith(_LATE):
                found[name] = self._sinks.member(name, root, old)
            elif old is not None:
                found[name] = old
            elif self._late is not None:
                source = self._opened.streams[name[len(_LATE) :]].source
                found[name] = self._sinks.late(self._late, source, root)
        return found

    def _put_in_force(
        self, roots: Mapping[str, Root], carried: Mapping[Exec, Exec], notes: Any
    ) -> None:
        """Write an epoch down that begins with the next tick."""
        if self._unfinished is not None:
            raise ExecutionError(
                "the queries of the checkpoint have to resume first",
                help=f"start them again under their names: {', '.join(self._members)}",
            )
        # Between the same two ticks, plans may have been replaced already.
        known = self._carried
        came = {**known, **{new: known.get(old, old) for new, old in carried.items()}}
        epoch = next_epoch(self._next, self._base, roots, came, notes, self._statistics())
        epoch = replace(epoch, repartitions=self._rehashes)
        pending = PlannedEpoch(epoch)
        self._opened.open(pending.leaves)  # first, because it may refuse
        self._epochs.write(epoch)
        with self._books:
            self._native.carry(carried, self.nodes)
            self._pending, self._nodes = pending, None
        self._changed = True
        for name, root in roots.items():
            old = self._members.get(name)
            if old is None or old.root is not root:
                for leaf in _leaves(root.job.plan):
                    self._opened.note_domain(leaf.scan.source, root.job.domain)

    def _late_roots(self, roots: Mapping[str, Root]) -> dict[str, Root]:
        """Results of their own for the late rows of all streams that are read."""
        if self._late is None:
            # A tick that is repeated may still have them, although late rows go nowhere now.
            before = self._pending.epoch.roots if self._unfinished is not None else {}
            return {name: root for name, root in before.items() if name.startswith(_LATE)}
        leaves = [leaf for root in roots.values() for leaf in _leaves(root.job.plan)]
        self._opened.open(leaves)
        found = {}
        for name, stream in self._opened.streams.items():
            info = stream.source.info
            plan = LateRowsExec(SourceExec(Scan(name, name, info.schema)))
            found[f"{_LATE}{name}"] = Root(Job(plan, info.domain))
        return found

    # Ticks

    def tick(self) -> None:
        """Read what has come, and give every query its new answers."""
        with self.lock:
            self._opened.look_anew()
            self._tick()

    def tick_if_more(self) -> bool:
        """Make a tick if it would bring something; whether it did."""
        with self.lock:
            self._opened.look_anew()
            if not self.has_more:
                return False
            self._tick()
            return True

    def _tick(self) -> None:
        if self._lost is not None:
            raise self._lost
        self._refuse_detached()
        self._make(*self._begun())

    def _make(self, begun: Begun, planned: PlannedEpoch) -> None:
        try:
            self._run(begun, planned)
        except BaseException as error:
            if self._store is None:
                # Some operators have gone on, and nothing tells what they were before.
                what = (
                    TaskFailure.of(error)
                    if isinstance(error, Exception)
                    else TaskFailure("it was ended")
                )
                self._lost = ExecutionError(
                    f"a tick failed and, without a checkpoint, cannot be repeated: {what.message}",
                    help=what.help or "start the queries again",
                )
            raise
        self.after_tick()

    def finish(self) -> None:
        """Do a tick again that was begun and not finished, if there is one."""
        with self.lock:
            if self._unfinished is not None:
                self._make(*self._begun())

    def _begun(self) -> tuple[Begun, PlannedEpoch]:
        """What this tick is to do: what one that was not finished was to do, or what is new."""
        if self._uncommitted is not None:  # the disk was full then
            self._commit(self._next - 1, self._uncommitted)
        begun = self._unfinished
        if begun is None:
            begun = self._opened.next(self._next, self._pending, self._pace.most)
            if self._log is not None:
                # Before anything runs: a tick that is repeated after a crash has to read the same.
                self._log.begin(begun)
            self._unfinished = begun
        return begun, self._planned_at(begun.tick)

    def _planned_at(self, tick: int) -> PlannedEpoch:
        """What a tick goes by; one that is done again may be of an epoch before the last."""
        old = self._epochs.at(tick) if self._pending.epoch.tick > tick else None
        return self._pending if old is None else PlannedEpoch(old)

    def _run(self, begun: Begun, planned: PlannedEpoch) -> None:
        started = time.perf_counter()
        epoch, tick = planned.epoch, begun.tick
        receivers = self._receivers_at(epoch)
        clocks = self._opened.clocks(begun)
        fabric = self._fabric
        partitions = epoch.staging.partitions
        tasks = TickTasks(
            self._id, fabric.is_local, fabric.direct, partitions, self._store, self._limits
        )
        task_sinks = receivers.task_sinks
        before = Before(self._base, self._reports, self._opened.now)
        pieces, timings = self._opened.pieces(begun, planned), self._opened.timings
        sources = tasks.reading(begun, planned, pieces, timings, task_sinks)
        stages = tasks.of_stages(tick, planned, clocks, task_sinks, before)
        asked = time.perf_counter()
        parcels = self._fabric.run(sources, stages, self._store)
        done = time.perf_counter()
        reports, parts = _sorted(parcels)
        self._note_failures({**planned.failed(reports), **planned.reading(begun.broken)})
        delivery = Delivery(receivers, parts, reports, self._fabric)
        # Before the commit: rows that come again are known to sinks by the number of the tick,
        # while rows of a tick that is done would be lost if this process ended in between.
        self.failures |= delivery.give(tick, self.failures)
        self._raise_the_last(receivers.members, begun)
        self.before_commit()
        given = time.perf_counter()
        self._pace.note(max(_bytes_of(pieces), default=0), given - started)
        self._is_done(begun, planned, clocks, reports)
        phases = {"plan": asked - started, "run": done - asked, "sinks": given - done}
        ended = time.perf_counter()
        phases["commit"] = ended - given
        self._busy += ended - started
        for report in reports:
            for phase, seconds in report.seconds.items():
                phases[phase] = max(phases.get(phase, 0.0), seconds)
        self._phases = phases

    def _receivers_at(self, epoch: Epoch) -> Receivers:
        """Who is given something of a tick of an epoch; they change only with the queries."""
        known = self._receivers
        if known is None or known.every is not self._members or known.epoch is not epoch:
            known = self._receivers = Receivers(self._members, epoch, self._store)
        return known

    def _raise_the_last(self, members: Mapping[str, Member], begun: Begun) -> None:
        """Fail with the last query: started again, it goes on with this very tick."""
        if not self._ends_with_queries:
            return
        users = [name for name in members if not name.startswith(_LATE)]
        if not users or set(users) - self.failures.keys():
            return
        if self._log is not None and begun.broken:
            self._log.withdraw(begun)  # what could not be read may be there then
        raise self.failures[users[0]]

    def _is_done(
        self,
        begun: Begun,
        planned: PlannedEpoch,
        clocks: Mapping[str, SourceClock],
        reports: Sequence[TaskReport],
    ) -> None:
        """Take note of what a tick has brought; it is not repeated after this."""
        tick = begun.tick
        with self._books:
            self._note(begun, planned, clocks, reports)
        if self.failures:
            # What is left of operators that failed must not be used again, not even after a crash.
            self._let_go(self.failures)
        self._commit(tick, planned)
        # Not before the commit: until then, the tick may be repeated, and needs what it has read.
        self._opened.let_broken_go(begun)
        self._opened.keep(self._pending.leaves)
        self._opened.let_go()
        self.gathering.note_shares(self.nodes, self._ticks)
        if planned.epoch.repartitions:
            self._note_repartitioned(tick, planned.epoch)
        self._repartition_as_asked()

    # Other partitions

    def _repartition_as_asked(self) -> None:
        """With the next tick, repartition the state, if another number of partitions is asked for.

        A tick that was begun, and plans that wait for their first one, have to be done with first.
        """
        waits = self._unfinished is not None or self._pending.epoch.tick >= self._next
        if self._asked is None or self._asked == self._base.partitions or waits:
            return
        epoch = self._pending.epoch
        new = repartitioned(self._base, epoch.plans, self._asked)
        if new.reason is None:
            self._repartition(epoch.in_partitions(self._next, self._base, new))
            return
        have = self._base.partitions
        text = f"the checkpoint goes on with {have} partitions, not {self._asked}: {new.reason}"
        warnings.warn(text, stacklevel=2)
        self._asked = None

    def _repartition_by_new_hashes(self) -> None:
        """Find rows and keys by other hashes than before, from the next tick on."""
        epoch = self._planned_at(self._next).epoch
        reason = repartitioned(self._base, epoch.plans, self._base.partitions).reason
        if reason is not None:
            raise ExecutionError(
                f"the checkpoint was made with another version of Polars: {reason}",
                help="use that version, or start again with another checkpoint",
            )
        if epoch.tick < self._next:
            epoch = replace(
                epoch, tick=self._next, before=self._base, carried={}, inputs={}, parts={}
            )
        self._repartition(replace(epoch, repartitions=True))

    def _repartition(self, epoch: Epoch) -> None:
        self._epochs.write(epoch)
        with self._books:
            self._pending, self._nodes = PlannedEpoch(epoch), None

    def _note_repartitioned(self, tick: int, epoch: Epoch) -> None:
        """All is in place now; what is left elsewhere goes once no attempt can go back to it."""
        assert self._store is not None
        if tick == epoch.tick:
            self._rehashes = False
            note_repartitioned(self._store, epoch.staging.partitions)
        if tick != epoch.tick + 1:
            return
        for stage in epoch.before.staged.stages:
            for number in range(epoch.staging.partitions, epoch.before.partitions):
                self._store.remove_folder(folder_of_state(stage.level, number))

    def _note(
        self,
        begun: Begun,
        planned: PlannedEpoch,
        clocks: Mapping[str, SourceClock],
        reports: Sequence[TaskReport],
    ) -> None:
        tick, later, sights = begun.tick, self._pending.epoch, _seen(reports)
        self._reports = [report for report in reports if report.level]
        self._native.add(planned.native_nodes, reports)
        self._opened.took(begun, moved(clocks, sights), sights)
        self.gathering.note(reports, self._opened.timings)
        for name, relation in self._opened.declared.items():
            self.gathering.note_held(name, relation.following.held)
        self._base = later.before if later.tick > tick else planned.epoch.staging
        self._next, self._unfinished = tick + 1, None
        self._nodes, self._changed = None, later.tick > tick
        self._ticks += 1

    def _commit(self, tick: int, planned: PlannedEpoch) -> None:
        if self._log is None or self._store is None:
            return
        # It stays if the disk is full: the tick is done, and its record is written before the next.
        self._uncommitted = planned
        rows_out = {name: member.rows_out for name, member in self._members.items()}
        went_by = planned.epoch.tick
        done = Committed(tick, went_by, self._opened.dump(), self._reports, self._native, rows_out)
        self._log.commit(done)
        self._uncommitted = None
        self._store.remove_folder(scratch(tick))
        # With its first tick done, nothing goes by an epoch before this one any more.
        if tick == planned.epoch.tick:
            self._epochs.forget_before(tick)

    def _note_failures(self, failed: Mapping[str, Any]) -> None:
        for name, failure in failed.items():
            self.failures.setdefault(name, failure.error)

    def _let_go(self, names: Collection[str]) -> None:
        epoch = self._pending.epoch
        if any(name in epoch.roots for name in names):
            rest = {name: root for name, root in epoch.roots.items() if name not in names}
            self._put_in_force(rest, {}, epoch.notes)

    def _restore(self) -> Restored | None:
        """Find where the store was left. A tick that was begun is done again as it was."""
        last = self._epochs.at()
        if self._log is None or last is None:
            return None
        done = self._log.last()
        self._refuse_lost(done)
        assert self._store is not None
        forget_undone(self._store, done.tick)
        forget_scratch(self._store, done.tick)
        self._next = done.tick + 1
        self._unfinished = self._log.begun(self._next)
        # Nobody waits for what is only repartitioned.
        self._changed = last.tick > done.tick and bool(last.roots) and not last.repartitions
        self._pending = PlannedEpoch(last)
        self._base = last.before if last.tick > done.tick else last.staging
        self._opened.go_to(done.sources)
        self._reports = done.reports
        self._native.update(done.native)
        self._opened.open(self._pending.leaves)
        self._native.carry(self._carried, self._nodes_of(self._base, self._totals))
        self._members = self._members_of(last.roots)
        for name, rows in done.rows_out.items():
            if name in self._members:
                self._members[name].rows_out = rows
        self._refuse_lost_state(done)
        if self._rehashes:
            self._repartition_by_new_hashes()
        self._repartition_as_asked()
        users = {name: root for name, root in last.roots.items() if not name.startswith(_LATE)}
        return Restored(users, last.notes) if users else None

    def _refuse_lost(self, done: Committed) -> None:
        """What a tick went by, or that there were ticks, is known in more than one place."""
        assert self._store is not None
        if done.tick < 0 and not self._log_has(0) and self._store.names("state"):
            raise DamageError(self._store.path("ticks"), "its files are missing")
        epoch = None if done.tick < 0 else self._epochs.at(done.tick)
        if done.tick >= 0 and (epoch is None or epoch.tick != done.epoch):
            path = self._store.path(f"epochs/{done.epoch:012d}.epoch")
            raise DamageError(path, "it is missing")

    def _log_has(self, tick: int) -> bool:
        return self._log is not None and self._log.begun(tick) is not None

    def _refuse_lost_state(self, done: Committed) -> None:
        """Tell at once that a file is missing, and not when a tick wants it."""
        if done.tick >= 0:
            for stage in self._base.staged.stages:
                for partition in range(self._base.partitions):
                    StageState(self._store, stage.level, partition, self._id).history(done.tick)

    def _refuse_detached(self) -> None:
        for name in self._members.detached:
            raise ExecutionError(
                f"the query `{name}` of the checkpoint has no function for its results yet",
                help="start it again under its name, or stop it",
            )

    # What users ask for

    def progress_of(self, query: str) -> Progress:
        """What was done since the query was added."""
        member = self._find(query)
        parts = nodes_of(member.root.running)
        read = {part.scan.source for part in parts if isinstance(part, SourceExec)}
        with self._books:
            nodes = self.nodes
            return Progress(
                self._ticks,
                member.rows_out,
                {name: source for name, source in self.sources.items() if name in read},
                tuple(nodes[part] for part in parts if part in nodes),
                self._phases,
                time.monotonic() - member.began,
                self.gathering.statistics,
            )

    def rows_out(self, query: str) -> int:
        """How many rows a query has given since it was added, before a restart too."""
        return self._find(query).rows_out

    def results(self, query: str) -> pa.Table:
        """What the sink `memory` of a query holds now."""
        return self._find(query).results()

    def _find(self, query: str) -> Member:
        members = self._members  # others may come and go meanwhile
        if query not in members:
            help = f"running: {', '.join(members) or 'none'}"
            raise ExecutionError(f"no query `{query}` is running", help=help)
        return members[query]

    def heartbeat(self, source: str, at: int) -> None:
        """Say that a stream has come to an instant: rows that hold earlier, and come from now on,
        are late."""
        self._opened.stream(source).heartbeat(at)
        self._opened.wake()

    def listen(self, wake: Callable[[], None]) -> None:
        """Call a function, from any thread, when a tick would bring something."""
        self._opened.wake = wake

    def forget(self, source: str) -> None:
        """Let go of a source that was dropped, and of all that the store has of it."""
        with self.lock:
            self._opened.forget(source)
            if self._store is not None:
                if self._next:
                    # Before its rows go: a restart must not find a position in what is gone.
                    self._commit(self._next - 1, self._planned_at(self._next - 1))
                self._store.remove_folder(folder_of(source))

    def tick_or_wait(self) -> None:
        """Make a tick if it would bring something; else wait a moment."""
        if not self.tick_if_more():
            time.sleep(_MOMENT)

    def process_all_available(self) -> None:
        """Make ticks until everything that is there now has been read."""
        with ThreadPoolExecutor() as threads:
            # What others bring may have to wait for ticks.
            coming = [threads.submit(feed.settle) for feed in self._opened.feeds]
            self.tick()
            while not all(each.done() for each in coming):
                self.tick_or_wait()
        for each in coming:
            with suppress(TidemillError):  # queries that read it have failed for it
                each.result()
        while self.tick_if_more():
            pass

    def stop(self) -> None:
        """Let go of everything; what is in the store stays as it is."""
        with self.lock:
            self._opened.close()
            forget(self._id)
            if self._store is not None:
                self._store.close()


def _taken(store: Store | None, partitions: int) -> Manifest:
    """Take a store for this run; a new one gets this number of partitions."""
    if store is None:
        return Manifest(partitions)
    store.lock()
    try:
        store.remove_folder(PLANS)
        return open_manifest(store, partitions)
    except BaseException:
        store.close()
        raise


def _sorted(parcels: Sequence[Parcel]) -> tuple[list[TaskReport], dict[int, list[pl.DataFrame]]]:
    """The reports of the tasks, and the rows of results by tag."""
    reports, parts = [], dict[int, list[pl.DataFrame]]()
    for parcel in parcels:
        if parcel.tag == REPORT:
            reports.append(parcel.told)
        elif parcel.rows is not None:
            parts.setdefault(parcel.tag, []).append(parcel.rows)
    # Tasks end in any order; what is added up from their reports must not depend on it.
    return sorted(reports, key=lambda report: (report.level, report.part)), parts


def _bytes_of(pieces: Iterable[SourcePiece]) -> Iterable[int]:
    """How many bytes every source has brought."""
    found: dict[str, int] = {}
    for piece in pieces:
        found[piece.source] = found.get(piece.source, 0) + size_of(piece.slice)
    return found.values()


def _seen(reports: Sequence[TaskReport]) -> dict[str, Seen]:
    found: dict[str, Seen] = {}
    for report in reports:
        for name, seen in report.sights.items():
            found.setdefault(name, Seen()).add(seen)
    return found


def _leaves(plan: Exec) -> list[SourceExec]:
    return [node for node in plan.walk() if isinstance(node, SourceExec)]
