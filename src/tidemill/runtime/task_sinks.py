"""Results that tasks write themselves, where their rows are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

import polars as pl

from tidemill.connectors.sinks import PartWriter, Shape
from tidemill.physical.mechanisms.cut import cut
from tidemill.runtime.parcels import scratch
from tidemill.runtime.reports import TaskFailure, TaskReport
from tidemill.store import Store
from tidemill.timeline import BEGIN


@dataclass(frozen=True)
class ScratchWriter:
    """Leaves rows in files that are needed during a tick, for whoever writes them in the end."""

    store: Store
    query: str
    shape: Shape

    def write(self, rows: pl.DataFrame, tick: int, part: int) -> str | None:
        if not rows.height:
            return None
        name = f"{scratch(tick)}/{quote(self.query, safe='')}-{part:05d}.arrow"
        self.store.put_table(name, self.shape(rows))
        return name


@dataclass(frozen=True)
class TaskSink:
    """A query whose rows leave here; it gives none before `since`."""

    query: str
    writer: PartWriter
    since: int = BEGIN


@dataclass(frozen=True)
class TaskSinks:
    """By the tags of results: what writes them, and which of them the driver needs as well."""

    writers: Mapping[int, Sequence[TaskSink]]
    driver: frozenset[int]

    def leave(self, tag: int, rows: pl.DataFrame, tick: int, report: TaskReport) -> bool:
        """Write the rows of a result; whether the driver wants them."""
        for task_sink in self.writers.get(tag, ()):
            mine = cut(rows, task_sink.since) if task_sink.since else rows
            report.rows[task_sink.query] = mine.height
            try:
                name = task_sink.writer.write(mine, tick, report.part)
            except Exception as error:
                report.unwritten[task_sink.query] = TaskFailure.of(error)
                continue
            if name is not None:
                report.written[task_sink.query] = name
        return tag in self.driver


NOTHING = TaskSinks({}, frozenset())
