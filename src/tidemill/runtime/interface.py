"""What a runtime offers: a plan can be run to the end, or started and left running."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import RLock
from typing import Any, Protocol

import polars as pl
import pyarrow as pa

from tidemill.physical.eagerness import eager
from tidemill.physical.operator import Exec
from tidemill.physical.snapshot import snapshots_of
from tidemill.results import Callback, LateCallback, SinkRequest
from tidemill.runtime.graph import NodeProgress
from tidemill.runtime.progress import Progress, SourceProgress
from tidemill.timeline import BEGIN, TimeDomain

@dataclass(frozen=True)
class StartRequest:
    """How queries are to run: from which checkpoint on, for how long, and where late rows go."""

    checkpoint: str | None = None
    available_now: bool = False
    every: str | None = None
    late: str | LateCallback | None = None


@dataclass(frozen=True)
class Job:
    """One of the queries that run together: its plan, the axis of its time, and its sink."""

    plan: Exec
    domain: TimeDomain | None = None
    sink: SinkRequest = SinkRequest()

    @cached_property
    def running(self) -> Exec:
        """The plan that runs: that of the form in which the sink wants the results."""
        if self.sink.form == "live":
            return eager(self.plan)
        return snapshots_of(self.plan) if self.sink.form == "snapshot" else self.plan


@dataclass(frozen=True)
class Root:
    """A query of a running graph; it gives answers for the instants from `since` on."""

    job: Job
    since: int = BEGIN

    @property
    def kept(self) -> Root:
        """The query as a checkpoint keeps it: a function that gets the results is not kept."""
        if isinstance(self.job.sink.target, str):
            return self
        sink = SinkRequest(DETACHED, form=self.job.sink.form)
        return replace(self, job=replace(self.job, sink=sink))


DETACHED = "a function"
"""The sink of a query that was restored from a checkpoint, until it gets its function again."""


@dataclass(frozen=True)
class Restored:
    """What a checkpoint knows of a graph: its queries, and the notes of whoever revised it."""

    roots: Mapping[str, Root]
    notes: Any = None


class GraphRun(Protocol):
    """Queries that run together, and come and go between two ticks.

    `after_tick` is called when a tick is done, and may revise the graph. Whoever holds the `lock`
    is between two ticks: what is read of the graph stays so until it is revised.
    """

    after_tick: Callable[[], None]
    lock: RLock

    @property
    def ticks(self) -> int: ...

    @property
    def seconds(self) -> float:
        """Since the graph was started."""

    @property
    def nodes(self) -> Mapping[Exec, NodeProgress]:
        """What every part of the graph has done; parts that are new have done nothing."""

    @property
    def newest(self) -> Mapping[str, int]:
        """For streams that are being read, the end of the newest row so far."""

    @property
    def sources(self) -> Mapping[str, SourceProgress]: ...

    @property
    def failures(self) -> Mapping[str, Exception]:
        """Of queries, by name, why they failed. They give no more answers."""

    @property
    def restored(self) -> Restored | None:
        """What was running when the checkpoint was left, if there was one."""

    def revise(
        self, roots: Mapping[str, Root], carried: Mapping[Exec, Exec], notes: Any = None
    ) -> None:
        """From the next tick on, run these queries; see `Graph.revise`.

        The notes are kept in the checkpoint.
        """

    def progress_of(self, query: str) -> Progress: ...

    def results(self, query: str) -> pa.Table: ...

    def heartbeat(self, source: str, at: int) -> None: ...

    def forget(self, source: str) -> None:
        """Let go of a source that was dropped: no query reads it."""

    def start(self) -> None:
        """Begin to read, where the runtime does that by itself."""

    def process_all_available(self) -> None:
        """Come back when everything that is there now has been read."""

    def stop(self) -> None: ...


class Running(Protocol):
    """A started query; its methods are named as those of PySpark's StreamingQuery."""

    @property
    def is_active(self) -> bool: ...

    @property
    def progress(self) -> Progress: ...

    def progress_of(self, query: int) -> Progress: ...

    def heartbeat(self, source: str, at: int) -> None: ...

    def results(self, query: int = 0) -> pa.Table: ...

    def exception(self) -> Exception | None: ...

    def process_all_available(self) -> None: ...

    def stop(self) -> None: ...

    def await_termination(self, timeout: float | None = None) -> bool: ...


class Execution(Protocol):
    """A plan in some runtime: the results tick by tick, and how it goes."""

    def __iter__(self) -> Iterator[pl.DataFrame]: ...

    @property
    def progress(self) -> Progress: ...
