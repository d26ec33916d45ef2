"""Drive plans on Spark: a streaming query whose every batch is a tick."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from tidemill.errors import ExecutionError
from tidemill.fragments import Staged
from tidemill.runtime.gathering import Gathering
from tidemill.runtime.progress import Progress, RelationProgress, SourceProgress
from tidemill.runtime.spark.changing import Changing
from tidemill.runtime.spark.checkpoint import Checkpoint
from tidemill.runtime.spark.findings import Findings, level_totals
from tidemill.runtime.spark.heartbeats import Heartbeats
from tidemill.runtime.spark.inputs import Inputs, SourceRows
from tidemill.runtime.spark.layout import layouts_of
from tidemill.runtime.spark.reading import Reader
from tidemill.runtime.spark.sinks import Sink
from tidemill.runtime.spark.tick import Marks, TickPlan
from tidemill.timeline import OPEN_END

_ENDED = "ended.json"
_KEPT_TICKS = 100  # only the last is needed; Spark keeps as many of its own


class SparkRun:
    """One execution of staged plans, from their checkpoint on."""

    def __init__(
        self,
        session: SparkSession,
        staged: Staged,
        reader: Reader,
        checkpoint: Checkpoint,
        partitions: int,
        sinks: Sequence[Sink],
        gathering: Gathering,
    ) -> None:
        self._session = session
        self._staged = staged
        self._reader = reader
        self._checkpoint = checkpoint
        self._sinks = sinks
        kept = checkpoint.open("\n".join(map(str, staged.plans)), partitions)
        layouts = layouts_of(staged)
        self._inputs = Inputs(staged, reader.sources, layouts[0])
        self._plan = TickPlan(staged, reader.sources, layouts, kept, f"{checkpoint.uri}/state")
        self._heartbeats = Heartbeats(checkpoint)
        self._changing = Changing(reader, self._inputs, checkpoint)
        statics = [s for s in reader.sources if not (s.has_time or s.is_changing)]
        self._statics = {source.name: self._rows(source) for source in statics}
        self._ended = self._read_ended()
        self._findings = Findings(staged, gathering)
        self._facts: dict[str, int] = {}
        self._reports: list[Any] = []
        self._phases: dict[str, float] = {}
        self._marks_now = Marks()
        self._ticks = 0
        self._rows_out = [0] * len(sinks)
        self._began = time.monotonic()
        self._last_rows = {source.name: self._began for source in reader.sources}
        self._seconds = 0.0
        self._goes_on = False

    @property
    def sources(self) -> Sequence[SourceRows]:
        return self._reader.sources

    @property
    def watermarks(self) -> Mapping[str, int]:
        """Of the sources, after the last tick."""
        return self._marks_now.sources

    @property
    def last_rows(self) -> Mapping[str, float]:
        """When each source last brought rows, or when the run began."""
        return self._last_rows

    @property
    def has_streams(self) -> bool:
        """Whether any source is a stream."""
        return any(source.has_time for source in self.sources)

    @property
    def is_changing(self) -> bool:
        """Whether any source is a relation that changes while the query runs."""
        return bool(self._changing)

    def heartbeat(self, instants: Mapping[str, int]) -> None:
        """Let sources reach an instant without rows: none will come that hold before it."""
        known = {source.name: source for source in self.sources}
        self._heartbeats.send(
            {known[name].number: at + known[name].slack for name, at in instants.items()}
        )

    def start(self, **trigger: Any) -> StreamingQuery:
        """Start the streaming query that drives the ticks."""
        self._goes_on = "availableNow" not in trigger
        streams = [self._rows(source) for source in self.sources if source.has_time]
        if self._staged.stages or self._changing:
            # They come first, because the first one's session is that of all: ticks need ours.
            # (Without stages, nothing waits for time to pass, and nothing but changes wakes.)
            beats = self._heartbeats.read(self._session)
            streams.insert(0, self._inputs.heartbeats(beats))
        if self._changing and self._ended is None:
            self._heartbeats.wake()  # relations have changed even if no stream brings rows
        if self._changing and self._goes_on:
            self._changing.listen(self._heartbeats.wake)
        writer = reduce(DataFrame.union, streams).writeStream.foreachBatch(self._tick)
        writer = writer.option("checkpointLocation", f"{self._checkpoint.uri}/spark")
        return writer.trigger(**trigger).start()

    def finish(self) -> None:
        """At the end of the input: let time pass until nothing is held back."""
        if self._ended is None:
            if self._last_tick() < 0 or not self.has_streams:
                self._tick(self._inputs.nothing(self._session), self._last_tick() + 1)
            self._ended = self._last_tick()
            self._checkpoint.write(_ENDED, json.dumps({"last_tick": self._ended}))
        sources = dict.fromkeys((source.name for source in self.sources), OPEN_END)
        # Time passes one stage with every tick. After a restart, some may have passed already.
        for tick in range(self._last_tick() + 1, self._ended + len(self._staged.stages) + 1):
            marks = replace(self._marks(tick - 1), sources=sources)
            self._run(self._inputs.nothing(self._session), marks, tick)
        self._marks_now = replace(self._marks_now, sources=sources)

    def close(self) -> None:
        """Let go of the checkpoint, and of relations that change."""
        self._changing.close()
        self._checkpoint.close()

    def _rows(self, source: SourceRows) -> DataFrame:
        return self._inputs.of_edges(source, self._reader.read(source))

    def _tick(self, batch: DataFrame, tick: int) -> None:
        if self._ended is not None:
            raise ExecutionError(
                "there are new rows, but this query has ended: with its checkpoint it is kept "
                "that its input was complete, and what was held back came out",
                help="choose another checkpoint; for input that grows, do not use available_now",
            )
        self._run(*self._changing.join(batch, tick, self._marks(tick - 1)), tick)

    def _run(self, batch: DataFrame, marks: Marks, tick: int) -> None:
        began = time.perf_counter()
        if tick == 0:
            for frame in self._statics.values():
                batch = batch.union(frame)
        if not self._ticks and tick:
            self._reports = self._plan.reports(tick - 1)  # of the run before
        rows, seen = self._plan.run(batch, tick, marks, self._reports)
        planned = time.perf_counter()
        self._deliver(rows, tick)
        done = time.perf_counter()
        self._reports = self._plan.reports(tick)
        self._note(seen.get, {"plan": planned - began, "run": done - planned})
        self._marks_now = self._plan.next_marks(marks, seen.get, self._reports)
        if self._goes_on and self._staged.stages and self._marks_now != marks:
            # A tick works with the watermarks of the one before: what has become certain now
            # comes out with the next, which must not wait for more rows.
            self._heartbeats.wake()
        self._checkpoint.write(f"ticks/{tick:012d}.json", self._marks_now.dump())
        self._checkpoint.remove(f"ticks/{tick - _KEPT_TICKS:012d}.json")
        self._seconds = time.monotonic() - self._began

    def _deliver(self, rows: DataFrame, tick: int) -> None:
        """Give every sink its rows. Where there are several, the tick must not run for each."""
        several = len(self._sinks) > 1
        if several:
            rows = rows.persist()
        try:
            for tag, sink in zip(self._staged.results, self._sinks, strict=True):
                sink(self._plan.result(rows, tag), tick)
        finally:
            if several:
                rows.unpersist()

    def _note(self, facts: Mapping[str, Any], phases: dict[str, float]) -> None:
        for source in self.sources:
            self._findings.note_rows(source, facts)
            for fact in (f"rows{source.number}", f"late{source.number}"):
                self._facts[fact] = self._facts.get(fact, 0) + facts[fact]
            if facts[f"rows{source.number}"]:
                self._last_rows[source.name] = time.monotonic()
        for name, relation in self._changing.relations.items():
            self._findings.note_held(name, relation.held)
        self._ticks += 1
        self._findings.note_reports(self._reports, level_totals(self._reports))
        for query, tag in enumerate(self._staged.results):
            native = facts.get(f"results{tag}", 0)
            self._rows_out[query] += native + sum(r["rows"].get(str(tag), 0) for r in self._reports)
        for report in self._reports:
            for phase, seconds in report["times"].items():
                phases[phase] = max(phases.get(phase, 0.0), seconds)
        self._phases = phases

    def _marks(self, tick: int) -> Marks:
        """The watermarks after a tick; static sources have said everything at once."""
        known = dict.fromkeys(self._statics, OPEN_END)
        if tick < 0:
            return Marks(known)
        marks = Marks.load(self._checkpoint.read(f"ticks/{tick:012d}.json"))
        return replace(marks, sources={**marks.sources, **known})

    def _read_ended(self) -> int | None:
        """The last tick of the input, if an earlier run came to its end."""
        if _ENDED not in self._checkpoint.names("."):
            return None
        return int(json.loads(self._checkpoint.read(_ENDED))["last_tick"])

    def _last_tick(self) -> int:
        return self._checkpoint.last("ticks")

    def progress(self, queries: Sequence[int]) -> Progress:
        """What was done since this run started; the results are those of some of the queries."""
        sources = {source.name: self._progress_of(source) for source in self.sources}
        rows_out = sum(self._rows_out[query] for query in queries)
        totals = sorted(level_totals(self._reports).items())
        operators = tuple(node.summary() for _, nodes in totals for node in nodes)
        statistics = self._findings.statistics
        return Progress(
            self._ticks, rows_out, sources, operators, self._phases, self._seconds, statistics
        )

    def _progress_of(self, source: SourceRows) -> SourceProgress:
        read = (
            self._facts.get(f"rows{source.number}", 0),
            self._facts.get(f"late{source.number}", 0),
            _open(self._marks_now.sources.get(source.name, 0)),
        )
        relation = self._changing.relations.get(source.name)
        if relation is None:
            return SourceProgress(*read)
        return RelationProgress(*read, relation.held, relation.changes, relation.missing)


def _open(mark: int) -> int | None:
    return None if mark == OPEN_END else mark
