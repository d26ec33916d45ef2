"""Queries as a run knows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from tidemill.connectors.sinks import SinkRequest
from tidemill.physical.operator import Exec
from tidemill.physical.operators.net_changes import ChangesExec, changes_of
from tidemill.physical.operators.snapshot import snapshots_of
from tidemill.timeline import BEGIN, TimeDomain


@dataclass(frozen=True)
class Job:
    """One of the queries that run together: its plan, the axis of its time, and its sink."""

    plan: Exec
    domain: TimeDomain | None = None
    sink: SinkRequest = field(default_factory=SinkRequest)

    @cached_property
    def running(self) -> Exec:
        """The plan of the form in which the sink wants the results."""
        match self.sink.form:
            case "live":
                return self.plan.with_eager(True)
            case "changes":
                return changes_of(self.plan)
            case "snapshot":
                return snapshots_of(self.plan)
        return self.plan


@dataclass(frozen=True)
class Root:
    """A query of a running graph; its answers begin at the instant `since`."""

    job: Job
    since: int = BEGIN

    @cached_property
    def running(self) -> Exec:
        """The plan that runs; a log of changes has to know when it begins."""
        plan = self.job.running
        return replace(plan, since=self.since) if isinstance(plan, ChangesExec) else plan

    @cached_property
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
