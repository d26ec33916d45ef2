"""What runs between two exchanges: the operators of one stage, in one partition, for one tick."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import polars as pl

from tidemill.algebra.plan import nodes_of
from tidemill.deadline import UNLIMITED, TickLimits
from tidemill.physical.operator import Exec, empty_batch, together
from tidemill.runtime.clock import Clocks, Facts, SourceClock, moved, newest_of
from tidemill.runtime.operators import Arrival, Graph, copied
from tidemill.runtime.parcels import EVERY, FACTS, REPORT, Parcel
from tidemill.runtime.partitioning import partitioned
from tidemill.runtime.repartition_state import Share, rehash
from tidemill.runtime.reports import News, TaskFailure, TaskReport
from tidemill.runtime.state import StageState, TickRows
from tidemill.runtime.task_sinks import NOTHING, TaskSinks
from tidemill.runtime.ticks import refuse_late
from tidemill.stages import Mode, Stage, Staged, traced
from tidemill.stages.distribution import Distribution
from tidemill.store import Store
from tidemill.timeline import BEGIN

_MOST_REDO = 2.0
"""Seconds that a restart may need for the ticks since the last snapshot of a stage."""


@dataclass(frozen=True)
class Former:
    """A stage that ran until the tick before, and what its operators were to hear."""

    staged: Staged
    stage: Stage
    news: News = field(default_factory=dict)


@dataclass(frozen=True)
class Handover:
    """The stages whose operators go on in a new one; `carried` names old parts by new ones.

    With `distributions`, what they remember in `partitions` is repartitioned: where the rows of the
    inputs of the new operators are, in the order of these. Stages of the levels that are
    `lending` have operators that go on in others.
    """

    formers: tuple[Former, ...]
    carried: Mapping[Exec, Exec] = field(default_factory=dict)
    distributions: tuple[tuple[Distribution, ...], ...] | None = None
    partitions: int = 0
    lending: frozenset[int] = frozenset()


@dataclass(frozen=True)
class StageTask:
    """A stage at a tick; called with a partition and its parcels, it gives those of the next.

    `promised` are watermarks of exchanges, by tag, below which time must not fall. Tasks of one
    process that are handed over as they are (`is_local`) have the same objects as those before.
    If it `rehashes`, what it reads may have been written by a version with other hashes.
    """

    staged: Staged
    stage: Stage
    tick: int
    clocks: Clocks
    partitions: int
    run: str
    store: Store | None = None
    promised: Mapping[int, int] = field(default_factory=dict)
    news: News = field(default_factory=dict)
    handover: Handover | None = None
    task_sinks: TaskSinks = NOTHING
    is_local: bool = False
    rehashes: bool = False
    limits: TickLimits = UNLIMITED

    def __call__(self, partition: int, parcels: Iterable[Parcel]) -> Iterator[Parcel]:
        began = time.perf_counter()
        self._refuse_late()
        mine, facts = self._sorted(parcels)
        clocks = moved(self.clocks, facts.sights)
        marks = {leaf.tag: self._mark(leaf.tag, clocks, facts) for leaf in self.stage.leaves}
        state = StageState(self.store, self.stage.level, partition, self.run)
        graph, replayed = self._graph(state, partition)
        loaded = time.perf_counter()
        brought = TickRows(mine, marks, self.news)
        results = self._step(graph, self._arrivals(brought))
        stepped = time.perf_counter()
        self._save(state, graph, brought, stepped - loaded)
        report = TaskReport(self.stage.level, partition, graph.progress, self._failures(graph))
        report.told, report.replayed = graph.tell(), replayed
        yield from self._out(results, report, partition)
        report.seconds = {
            "load": loaded - began,
            "step": stepped - loaded,
            "save": time.perf_counter() - stepped,
        }
        yield Parcel(partition, REPORT, told=report)
        yield from self._tell(facts, results)

    def _refuse_late(self) -> None:
        """What others count on by now must stay as it is."""
        if self.store is not None and not self.is_local:
            refuse_late(self.store, self.tick)

    @cached_property
    def tags(self) -> frozenset[int]:
        """Those of the parcels that it takes."""
        return frozenset([FACTS, *(leaf.tag for leaf in self.stage.leaves)])

    def _sorted(self, parcels: Iterable[Parcel]) -> tuple[dict[int, pl.DataFrame], Facts]:
        """The rows by exchange, and the facts that others have sent."""
        rows: dict[int, list[pl.DataFrame]] = {}
        facts = []
        for parcel in parcels:
            if parcel.tag == FACTS:
                facts.append(parcel.told)
            elif parcel.rows is not None:
                rows.setdefault(parcel.tag, []).append(parcel.rows)
        return {tag: together(each) for tag, each in rows.items()}, Facts.together(facts)

    def _mark(self, tag: int, clocks: Mapping[str, SourceClock], facts: Facts) -> int:
        """The watermark of an exchange in this tick.

        At the end of the input, watermarks go to the end of time, where all windows are empty.
        Snapshots stop at the last instant that has brought something.
        """
        exchange, sources = self.staged.exchange(tag), self.staged.sources_of(tag)
        if exchange.made_at:
            mark = facts.marks.get(tag, BEGIN)
        else:
            (source,) = sources
            mark = clocks[source].mark
        if exchange.mode is Mode.NOW and (newest := newest_of(clocks, sources)) >= BEGIN:
            mark = min(mark, newest + 1)
        # Operators that go on behind a new exchange have passed this time already.
        return max(mark, self.promised.get(tag, BEGIN))

    def _tell(self, facts: Facts, results: Sequence[Arrival]) -> Iterator[Parcel]:
        """Tell all partitions of the next stage how far time and the exchanges have come."""
        if self.stage is self.staged.stages[-1]:
            return
        outputs = zip(self.stage.outputs, results, strict=True)
        marks = facts.marks | {tag: mark for (tag, _), (_, mark) in outputs}
        yield Parcel(EVERY, FACTS, told=Facts(facts.sights, marks))

    def _step(self, graph: Graph, arrivals: Sequence[Arrival]) -> list[Arrival]:
        done = graph.try_step(arrivals, self.limits)
        return [
            (empty_batch(root.schema), BEGIN) if each is None else each
            for each, (_, root) in zip(done, self.stage.outputs, strict=True)
        ]

    def _graph(self, state: StageState, partition: int) -> tuple[Graph, int]:
        """The operators, ready for this tick, and how many ticks had to be done again for it."""
        if self.handover is None:
            graph, replayed = self._restored(state, partition)
            graph.hear(self.news)
            return graph, replayed
        formers = self.handover.formers
        roots = [root for _, root in self.stage.outputs]
        if self.handover.distributions is not None:
            return self._repartitioned(self.handover, partition)
        alone = self.stage.level not in self.handover.lending
        if self.is_local and alone and [each.stage.level for each in formers] == [self.stage.level]:
            # Nobody else wants the operators, and their parts are the same objects: only what
            # comes or goes costs time.
            graph, replayed = self._past(formers[0])._graph(state, partition)
            graph.revise(roots, self.handover.carried)
            return graph, replayed
        return self._put_together(formers, roots, state, partition)

    def _put_together(
        self, formers: Sequence[Former], roots: Sequence[Exec], state: StageState, partition: int
    ) -> tuple[Graph, int]:
        """Operators of several stages, or of other objects, in the place of new ones."""
        assert self.handover is not None
        parts: dict[Exec, Any] = {}
        done_again = 0
        for former in formers:
            known, replayed = self._former(former, state, partition)
            # What a worker has in memory came with another task: its functions are other objects.
            nodes = nodes_of(*(root for _, root in former.stage.outputs))
            parts |= dict(zip(nodes, known, strict=True))
            done_again += replayed
        before = [root for former in formers for _, root in former.stage.outputs]
        graph = Graph(*before, partition=partition)
        graph.state = [parts[node] for node in graph.nodes]
        graph.revise(roots, self.handover.carried)
        return graph, done_again

    def _repartitioned(self, handover: Handover, partition: int) -> tuple[Graph, int]:
        """Fresh operators, with what belongs here of what there was in all old partitions."""
        parts: dict[Exec, list[Any]] = {}
        done_again = 0
        for former in handover.formers:
            nodes = nodes_of(*(root for _, root in former.stage.outputs))
            for number in range(handover.partitions):
                # As it is in the store: others want what is in memory, too.
                run = f"{self.run}/copy"
                state = StageState(self.store, former.stage.level, number, run)
                past = replace(self._past(former), rehashes=True)
                known, replayed = past._graph(state, number)
                for node, part in zip(nodes, known.state, strict=True):
                    parts.setdefault(node, []).append(part)
                done_again += replayed
        graph = Graph(*(root for _, root in self.stage.outputs), partition=partition)
        share = Share(handover.distributions or (), partition, self.partitions)
        share.give(graph, parts, handover.carried)
        return graph, done_again

    def _past(self, former: Former) -> StageTask:
        """The task of a stage that ran until now, as it was in the tick before."""
        return replace(
            self, staged=former.staged, stage=former.stage, news=former.news, handover=None
        )

    def _former(self, former: Former, state: StageState, partition: int) -> tuple[Any, int]:
        """What the operators of a stage remember that ran until now."""
        if former.stage.level != self.stage.level:
            # Another task may want what is in memory.
            run = self.run if self.store is None else f"{self.run}/copy"
            state = StageState(self.store, former.stage.level, partition, run)
        if self.store is None and self.handover and former.stage.level in self.handover.lending:
            return self._lent(former, state, partition), 0
        graph, replayed = self._past(former)._graph(state, partition)
        return graph.state, replayed

    def _lent(self, former: Former, state: StageState, partition: int) -> Any:
        """What the operators of a stage remember, some of which go on in others.

        None of them takes it from the rest, or sees it as another one has gone on with it.
        """
        known = state.lent(self.tick - 1)
        if known is None:
            graph, _ = self._past(former)._graph(state, partition)
            known = graph.state, self._copies(graph, partition)
            state.lend(self.tick - 1, known)
        own, copies = known
        # The stage of the same level goes on with the originals, others with copies.
        return own if former.stage.level == self.stage.level else copies

    def _copies(self, graph: Graph, partition: int) -> list[Any]:
        """What operators remember, and copies of those that go on in two places."""
        assert self.handover is not None
        carried = self.handover.carried
        return [
            (copied(node, operator, partition) if carried.get(node) == node else operator, done)
            for node, (operator, done) in zip(graph.nodes, graph.state, strict=True)
        ]

    def _restored(self, state: StageState, partition: int) -> tuple[Graph, int]:
        """The operators as the tick before left them, and how many ticks it took to get there."""
        before = self.tick - 1
        at, graph = state.cached(before)
        if graph is not None and (at == before or not state.is_durable):
            return graph, 0
        base, rows = state.history(before, at) if state.is_durable else (None, [])
        # Otherwise operators in memory go on from where they are, with the rows that they missed.
        if graph is None or base is not None:
            graph = Graph(*(root for _, root in self.stage.outputs), partition=partition)
        if base is not None:
            graph.state = state.read_snapshot(base, graph.state)
        if base is not None and self.rehashes:
            for operator, _ in graph.state:
                rehash(operator)
        for segment in rows:
            brought = state.read_rows(segment)
            graph.hear(brought.news)
            began = time.perf_counter()
            graph.try_step(self._arrivals(brought))
            graph.note_given(brought.given)
            graph.redo_seconds += time.perf_counter() - began
        return graph, len(rows)

    def _arrivals(self, brought: TickRows) -> list[Arrival]:
        arrivals = []
        for leaf in self.stage.leaves:
            rows = brought.rows.get(leaf.tag)
            if rows is None:
                rows = empty_batch(leaf.schema)
            elif self.stage.numbers_rows:
                # Else a stage that is done again would give rows other numbers than those under
                # which stages above know them already.
                rows = rows[rows.hash_rows(0).arg_sort()]
            arrivals.append((rows, brought.marks[leaf.tag]))
        return arrivals

    def _save(self, state: StageState, graph: Graph, brought: TickRows, seconds: float) -> None:
        if state.is_durable:
            # Once more: another attempt may have done the tick since this task began.
            self._refuse_late()
            self._write(state, graph, brought, seconds)
            state.settle()
        state.remember(self.tick, graph)

    def _write(self, state: StageState, graph: Graph, brought: TickRows, seconds: float) -> None:
        if self.handover is not None or graph.failures:
            # What other operators were fed with cannot be read again, nor what made one fail.
            _write_snapshot(state, self.tick, graph)
            return
        graph.redo_seconds += seconds
        tags = traced(self.stage, brought.marks)
        rows = {tag: rows for tag, rows in brought.rows.items() if tag in tags}
        snapshot, gathered = state.size_since(self.tick - 1)
        coming = sum(int(each.estimated_size()) for each in rows.values())
        # Whoever gets this partition next needs the snapshot, and then the rows: it is worth as
        # much writing again to spare them the rows, or the time to run through them.
        takes_long = graph.redo_seconds > max(_MOST_REDO, 4 * graph.save_seconds)
        grows = 2 * (gathered + coming) >= snapshot
        if takes_long or grows or state.has_snapshot(self.tick):
            _write_snapshot(state, self.tick, graph)
        else:
            # Run again on some of the rows, operators would count less than they gave.
            given = graph.given if len(rows) < len(brought.rows) else {}
            state.write_rows(self.tick, replace(brought, rows=rows, given=given))
        state.forget_before(self.tick - 1)

    def _failures(self, graph: Graph) -> dict[int, TaskFailure]:
        """Why results, by tag, are missing."""
        if not graph.failures:
            return {}
        pairs = zip(self.stage.outputs, graph.root_failures, strict=True)
        return {tag: TaskFailure.of(error) for (tag, _), error in pairs if error is not None}

    def _out(
        self, results: Sequence[Arrival], report: TaskReport, partition: int
    ) -> Iterator[Parcel]:
        for (tag, _), (rows, _) in zip(self.stage.outputs, results, strict=True):
            if not rows.height and tag not in self.task_sinks.writers:
                continue  # most of thousands
            exchange = self.staged.exchange(tag)
            if not exchange.is_result or self.task_sinks.leave(tag, rows, self.tick, report):
                yield from partitioned(rows, exchange, partition, self.partitions)


def _write_snapshot(state: StageState, tick: int, graph: Graph) -> None:
    began = time.perf_counter()
    state.write_snapshot(tick, graph.state)
    graph.redo_seconds, graph.save_seconds = 0.0, time.perf_counter() - began
