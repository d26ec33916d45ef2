"""What runs next to the sources: rows are read, filtered, projected, and partitioned."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from tidemill.algebra.nodes import SourceKind
from tidemill.connectors.feeds import Slice, read_slice, split_numbered
from tidemill.deadline import UNLIMITED, TickLimits
from tidemill.physical.operator import Exec, empty_batch
from tidemill.physical.operators.source import SourceExec
from tidemill.runtime.clock import Facts, Seen
from tidemill.runtime.operators import Graph
from tidemill.runtime.parcels import EVERY, FACTS, REPORT, Parcel
from tidemill.runtime.partitioning import partitioned
from tidemill.runtime.reports import TaskFailure, TaskReport
from tidemill.runtime.statistics.sources import SourceSample
from tidemill.runtime.task_sinks import NOTHING, TaskSinks
from tidemill.runtime.validity import TimedRows, Timing
from tidemill.stages import Exchange, LateRowsExec, Staged
from tidemill.timeline import BEGIN, OPEN_END

_FEW_ROWS = 1 << 14
"""So many rows are looked at in no time: it would take longer to share them out."""


@dataclass(frozen=True)
class SourcePiece:
    """A slice of a source; rows that start before `mark` are late, those after `until` too early.

    It may be meant for some leaves only: a relation is read for those that are new, and so are
    rows of a stream that came before. What was read before does not count again.
    """

    source: str
    slice: Slice
    mark: int = BEGIN
    leaves: frozenset[SourceExec] | None = None
    counts: bool = True
    until: int = OPEN_END


@dataclass(frozen=True)
class SourceTask:
    """Reads some pieces in a tick, and makes of them what the exchanges of level 0 carry.

    `plan` names what is in force, so that operators can be used again. If `gathers`, it looks at
    what the sources are like. One that is `direct` reads all pieces, as all others do, and keeps
    what is for the partition of its own number; the first one stands for all that is done once.
    """

    number: int
    tick: int
    staged: Staged
    timings: Mapping[str, Timing]
    pieces: Sequence[SourcePiece]
    partitions: int
    plan: str
    arrived: int
    task_sinks: TaskSinks = NOTHING
    gathers: bool = True
    direct: bool = False
    limits: TickLimits = UNLIMITED

    def __call__(self) -> Iterator[Parcel]:
        began = time.perf_counter()
        report = TaskReport(0, self.number)
        read = {name: self._read(name, report) for name in {p.source for p in self.pieces}}
        done = time.perf_counter()
        exchanges = [exchange for exchange in self.staged.exchanges if not exchange.made_at]
        yield from self._parcels(exchanges, read, report)
        report.seconds = {"read": done - began, "source": time.perf_counter() - done}
        # Who reads everything knows everything; the others have to hear of each other.
        yield Parcel(self.number if self.direct else EVERY, FACTS, told=Facts(report.sights))
        if self._is_copy:
            # What all have seen and done is reported once; an error may have happened only here.
            report = replace(report, operators=(), sights={})
        yield Parcel(self.number % self.partitions, REPORT, told=report)

    @property
    def _is_copy(self) -> bool:
        """Whether another task does the same, and tells of it."""
        return self.direct and self.number > 0

    def _parcels(
        self, exchanges: Sequence[Exchange], read: Mapping[str, _Read], report: TaskReport
    ) -> Iterator[Parcel]:
        late = [exchange for exchange in exchanges if isinstance(exchange.producer, LateRowsExec)]
        plain = [
            exchange for exchange in exchanges if not isinstance(exchange.producer, LateRowsExec)
        ]
        for exchange in late:
            assert isinstance(exchange.producer, LateRowsExec)
            found = read.get(exchange.producer.child.scan.source)
            if found is not None and found.late is not None:
                yield from self._out(exchange, _late(found, exchange.producer), report)
        graph = _operators(self.plan, [exchange.producer for exchange in plain])
        graph.count_anew()
        arrivals = [(self._batch(leaf, read), BEGIN) for leaf in _leaves(graph)]
        results = graph.try_step(arrivals, self.limits)
        for exchange, result, error in zip(plain, results, graph.root_failures, strict=True):
            failure = _unread(exchange, read)
            if error is not None:
                failure = failure or TaskFailure.of(error)
            if failure is not None:
                report.failures[exchange.tag] = failure
            elif result is not None:
                yield from self._out(exchange, result[0], report)
        report.operators = graph.progress

    def _out(self, exchange: Exchange, rows: pl.DataFrame, report: TaskReport) -> Iterator[Parcel]:
        if exchange.is_result and self._is_copy:
            return
        if not exchange.is_result or self.task_sinks.leave(exchange.tag, rows, self.tick, report):
            if self.direct:
                yield from partitioned(rows, exchange, 0, self.partitions, only=self.number)
            else:
                yield from partitioned(
                    rows, exchange, self.number % self.partitions, self.partitions
                )

    def _batch(self, leaf: SourceExec, read: Mapping[str, _Read]) -> pl.DataFrame:
        found = read.get(leaf.scan.source)
        parts = [] if found is None else found.rows_for(leaf)
        batches = [rows.scanned(leaf.scan) for rows in parts if len(rows)]
        return pl.concat(batches) if batches else empty_batch(leaf.schema)

    def _read(self, source: str, report: TaskReport) -> _Read:
        """The rows of a source, and what is to be known of them."""
        timing = self.timings[source]
        pieces = [piece for piece in self.pieces if piece.source == source]
        found = _Read()
        try:
            for piece in pieces:
                found.add(piece, self._rows(timing, piece))
        except Exception as error:
            return _Read(failure=TaskFailure.of(error))
        seen = report.sights.setdefault(source, Seen())
        for piece, rows, late in found.parts:
            if piece.counts:
                _note(seen, timing, rows, late)
                self._gather(timing, rows, report)
        return found

    def _rows(self, timing: Timing, piece: SourcePiece) -> TimedRows:
        wanted = list(dict.fromkeys([*timing.needed, *self.staged.columns_of(timing.source)]))
        # A table without columns has no rows.
        columns = timing.read(wanted) or list(timing.columns.names[:1])
        table = read_slice(piece.slice, timing.columns, columns, timing.source)
        return timing.rows(timing.completed(table, wanted), self.arrived)

    def _gather(self, timing: Timing, rows: TimedRows, report: TaskReport) -> None:
        if not self.gathers or timing.kind is SourceKind.CHANGING:
            return
        mine = self._looked_at(len(rows))
        if mine.start == mine.stop:
            return
        names = [name for name in rows.table.column_names if name not in timing.needed]
        some = pl.DataFrame(rows.table.select(names).slice(mine.start, mine.stop - mine.start))
        found = SourceSample.of(some, names, rows.start[mine], rows.end[mine])
        if found is not None:
            report.found.append((timing.source, found))

    def _looked_at(self, rows: int) -> slice:
        """Of rows that all tasks read, those that this one looks at; few are left to the first."""
        if not self.direct:
            return slice(0, rows)
        size = max(_FEW_ROWS, -(-rows // self.partitions))
        start = min(rows, self.number * size)
        return slice(start, min(rows, start + size))


@dataclass
class _Read:
    """What was read of a source: by piece, rows in time and rows that came too late."""

    parts: list[tuple[SourcePiece, TimedRows, TimedRows | None]] = field(default_factory=list)
    failure: TaskFailure | None = None

    def add(self, piece: SourcePiece, rows: TimedRows) -> None:
        in_time = rows.start >= piece.mark
        if piece.until < OPEN_END:
            in_time &= rows.start <= piece.until
        late = None if in_time.all() else rows.where(~in_time)
        self.parts.append((piece, rows.where(in_time), late))

    def rows_for(self, leaf: SourceExec) -> list[TimedRows]:
        wanted = (p for p in self.parts if p[0].leaves is None or leaf in p[0].leaves)
        return [rows for _, rows, _ in wanted]

    @property
    def late(self) -> list[tuple[SourcePiece, TimedRows]] | None:
        return [(piece, late) for piece, _, late in self.parts if late is not None] or None


def shared_out(pieces: Sequence[SourcePiece], tasks: int) -> list[list[SourcePiece]]:
    """Pieces for a number of tasks, about as many bytes for each; large ones are cut."""
    if tasks == 1:
        return [list(pieces)]
    parts = split_numbered([piece.slice for piece in pieces], tasks)
    return [[replace(pieces[number], slice=part) for number, part in task] for task in parts]


def _unread(exchange: Exchange, read: Mapping[str, _Read]) -> TaskFailure | None:
    """Why the source of an exchange could not be read, if so."""
    sources = (
        leaf.scan.source for leaf in exchange.producer.walk() if isinstance(leaf, SourceExec)
    )
    found = (read[name].failure for name in sources if name in read)
    return next((failure for failure in found if failure is not None), None)


def _note(seen: Seen, timing: Timing, rows: TimedRows, late: TimedRows | None) -> None:
    tardy = 0 if late is None else len(late)
    seen.add(Seen(len(rows) + tardy, tardy))
    if len(rows) and timing.kind is SourceKind.STREAM:
        seen.add(Seen(0, 0, int(rows.start.min()), int(rows.start.max())))


def _late(found: _Read, producer: LateRowsExec) -> pl.DataFrame:
    """Late rows hold from their time to the watermark that they have missed."""
    scan = producer.child.scan
    batches = []
    for piece, rows in found.late or ():
        missed = TimedRows(rows.table, rows.start, rows.start * 0 + piece.mark)
        batch = missed.scanned(scan)
        names = dict(zip(scan.schema.names, scan.columns.names, strict=True))
        batches.append(batch.rename(names))
    return pl.concat(batches)


_GRAPHS: dict[str, Graph] = {}
"""Operators that this process has made for plans in force. They remember nothing."""


def _operators(plan: str, producers: Sequence[Exec]) -> Graph:
    graph = _GRAPHS.get(plan)
    if graph is None:
        if len(_GRAPHS) > 8:
            _GRAPHS.clear()
        graph = _GRAPHS[plan] = Graph(*producers)
    return graph


def _leaves(graph: Graph) -> list[SourceExec]:
    return [leaf for leaf in graph.leaves if isinstance(leaf, SourceExec)]
