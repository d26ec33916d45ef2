"""Drive a plan on Spark: a streaming query whose every batch is a tick."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from tidemill.errors import ExecutionError
from tidemill.fragments import Staged
from tidemill.fragments.stages import RESULT
from tidemill.runtime.progress import OperatorProgress, Progress, SourceProgress
from tidemill.runtime.spark.checkpoint import Checkpoint
from tidemill.runtime.spark.layout import NOTE, TAG
from tidemill.runtime.spark.reading import Reader
from tidemill.runtime.spark.sinks import Sink
from tidemill.runtime.spark.tick import Marks, TickPlan, nothing_new
from tidemill.runtime.spark.worker import REPORT
from tidemill.timeline import OPEN_END

_ENDED = "ended.json"
_KEPT_TICKS = 100  # only the last is needed; Spark keeps as many of its own


class SparkRun:
    """One execution of a staged plan, from its checkpoint on."""

    def __init__(
        self,
        session: SparkSession,
        staged: Staged,
        reader: Reader,
        checkpoint: Checkpoint,
        partitions: int,
        sink: Sink,
    ) -> None:
        self._session = session
        self._staged = staged
        self._reader = reader
        self._checkpoint = checkpoint
        self._sink = sink
        kept = checkpoint.open(staged, partitions)
        self._plan = TickPlan(staged, reader.sources, kept, f"{checkpoint.uri}/state")
        self._statics = reader.statics()
        self._ended = self._read_ended()
        self._facts: dict[str, int] = {}
        self._reports: list[Any] = []
        self._phases: dict[str, float] = {}
        self._marks_now = Marks()
        self._ticks = 0
        self._rows_out = 0

    @property
    def has_streams(self) -> bool:
        """Whether any source brings rows while the query runs."""
        return any(source.has_time for source in self._reader.sources)

    def start(self, **trigger: Any) -> StreamingQuery:
        """Start the streaming query that drives the ticks."""
        streams = list(self._reader.streams().values())
        everything = streams[0]
        for more in streams[1:]:
            everything = everything.union(more)
        writer = everything.writeStream.foreachBatch(self._tick)
        writer = writer.option("checkpointLocation", f"{self._checkpoint.uri}/spark")
        return writer.trigger(**trigger).start()

    def finish(self) -> None:
        """At the end of the input: let time pass until nothing is held back."""
        if self._ended is None:
            if self._last_tick() < 0:
                self._tick(self._nothing(), 0)
            self._ended = self._last_tick()
            self._checkpoint.write(_ENDED, json.dumps({"last_tick": self._ended}))
        sources = dict.fromkeys((source.name for source in self._reader.sources), OPEN_END)
        # Time passes one stage with every tick. After a restart, some may have passed already.
        steps = max(1, len(self._staged.stages))
        for tick in range(self._last_tick() + 1, self._ended + steps + 1):
            self._run(self._nothing(), tick, replace(self._marks(tick - 1), sources=sources))

    def close(self) -> None:
        """Let go of the checkpoint."""
        self._checkpoint.close()

    def _nothing(self) -> DataFrame:
        return nothing_new(self._session, self._plan.input_layout)

    def _tick(self, batch: DataFrame, tick: int) -> None:
        if self._ended is not None:
            raise ExecutionError(
                "there are new rows, but this query has ended: with its checkpoint it is kept "
                "that its input was complete, and what was held back came out",
                help="choose another checkpoint; for input that grows, do not use available_now",
            )
        self._run(batch, tick, self._marks(tick - 1))

    def _run(self, batch: DataFrame, tick: int, marks: Marks) -> None:
        began = time.perf_counter()
        if tick == 0:
            for frame in self._statics.values():
                batch = batch.union(frame)
        rows, seen = self._plan.run(batch, tick, marks)
        reported = Observation()
        facts = [F.count(F.when(F.col(TAG) == RESULT, 1)).alias("results")]
        if self._staged.stages:
            notes = F.collect_list(F.when(F.col(TAG) == REPORT, F.col(NOTE)))
            facts.append(notes.alias("notes"))
        rows = rows.observe(reported, *facts)
        planned = time.perf_counter()
        self._sink(self._plan.result(rows), tick)
        done = time.perf_counter()
        self._note(seen.get, reported.get, {"plan": planned - began, "run": done - planned})
        self._marks_now = self._plan.next_marks(marks, seen.get, self._reports)
        self._checkpoint.write(f"ticks/{tick:012d}.json", json.dumps(asdict(self._marks_now)))
        self._checkpoint.remove(f"ticks/{tick - _KEPT_TICKS:012d}.json")

    def _note(
        self, facts: Mapping[str, Any], reported: Mapping[str, Any], phases: dict[str, float]
    ) -> None:
        for name, value in facts.items():
            if not name.startswith("newest"):
                self._facts[name] = self._facts.get(name, 0) + value
        self._reports = [json.loads(note) for note in reported.get("notes", ())]
        self._ticks += 1
        self._rows_out += reported["results"]
        for report in self._reports:
            for phase, seconds in report["times"].items():
                phases[phase] = max(phases.get(phase, 0.0), seconds)
        self._phases = phases

    def _marks(self, tick: int) -> Marks:
        """The watermarks after a tick; static sources have said everything at once."""
        known = dict.fromkeys(self._statics, OPEN_END)
        if tick < 0:
            return Marks(known)
        stored = json.loads(self._checkpoint.read(f"ticks/{tick:012d}.json"))
        edges = {int(tag): mark for tag, mark in stored["edges"].items()}
        return Marks({**stored["sources"], **known}, edges, stored["newest"])

    def _read_ended(self) -> int | None:
        """The last tick of the input, if an earlier run came to its end."""
        if _ENDED not in self._checkpoint.names("."):
            return None
        return int(json.loads(self._checkpoint.read(_ENDED))["last_tick"])

    def _last_tick(self) -> int:
        names = [n for n in self._checkpoint.names("ticks") if n.endswith(".json")]
        return max((int(name.split(".")[0]) for name in names), default=-1)

    @property
    def progress(self) -> Progress:
        """What was done since this run started."""
        sources = {
            source.name: SourceProgress(
                self._facts.get(f"rows{source.number}", 0),
                self._facts.get(f"late{source.number}", 0),
                _open(self._marks_now.sources.get(source.name, 0)),
            )
            for source in self._reader.sources
        }
        return Progress(self._ticks, self._rows_out, sources, self._operators(), self._phases)

    def _operators(self) -> tuple[OperatorProgress, ...]:
        totals: dict[tuple[int, int], OperatorProgress] = {}
        for report in self._reports:
            for number, facts in enumerate(report["operators"]):
                key = (report["level"], number)
                old = totals.get(key, OperatorProgress(facts["label"], 0, 0, 0))
                totals[key] = OperatorProgress(
                    facts["label"],
                    old.rows_out + facts["rows_out"],
                    old.state_rows + facts["state_rows"],
                    old.state_bytes + facts["state_bytes"],
                )
        return tuple(totals[key] for key in sorted(totals))


def _open(mark: int) -> int | None:
    return None if mark == OPEN_END else mark
