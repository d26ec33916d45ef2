"""Queries: what they ask for, and what they are doing."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, cast

from tidemill.connectors.sinks import SinkRequest
from tidemill.engine import Query
from tidemill.engine.kept import KeptResults
from tidemill.engine.started import StartedQuery
from tidemill.errors import TidemillError, masked
from tidemill.runtime.operator_progress import OperatorProgress
from tidemill.runtime.progress import MigrationProgress, Progress
from tidemill.show.problems import problem
from tidemill.show.statements import select_text
from tidemill.show.tables import columns_of, domain_of
from tidemill.wire.queries import (
    MigrationLeft,
    OperatorEntry,
    OrderKey,
    QueryEntry,
    QueryProgress,
    SourceRead,
    StateName,
)


def query_of(name: str, definition: Query, run: StartedQuery | None) -> QueryEntry:
    """A query by name, which may run."""
    return QueryEntry(
        name=name,
        state="stopped" if run is None else cast(StateName, run.state),
        error=_error(run),
        sql=masked(select_text(definition.sql)),
        columns=columns_of(definition.schema),
        order=[OrderKey(**asdict(key)) for key in definition.planned.order],
        domain=domain_of(definition.planned.domain),
        depends_on=sorted(definition.depends_on),
        sink=sink_of(definition.sink),
        warnings=[problem(warning) for warning in definition.warnings],
        **({} if run is None else _run(run)),
    )


def _run(run: StartedQuery) -> dict[str, Any]:
    """What it has done since it was started."""
    progress = run.progress
    return {
        "complete_from": run.complete_from,
        "rows_out": progress.rows_out,
        "started": True,
        "sizes": {knob: list(map(list, history)) for knob, history in progress.sizes.items()},
        "migration": _left(progress.migration),
    }


def _left(migration: MigrationProgress | None) -> MigrationLeft | None:
    if migration is None:
        return None
    return MigrationLeft(
        split=migration.split, time_left=migration.time, old_rows=migration.old_rows
    )


def _error(run: StartedQuery | None) -> str | None:
    """Why a query failed."""
    error = None if run is None else run.exception()
    if error is None:
        return None
    if not isinstance(error, TidemillError):
        return masked(str(error))
    return masked("\nhelp: ".join(filter(None, (error.message, error.help))))


def sink_of(sink: SinkRequest) -> str:
    """Where results go. Options may hold passwords and are not shown."""
    if isinstance(sink.target, KeptResults):
        return "memory"
    return "a function" if callable(sink.target) else str(sink.target)


def progress_of(progress: Progress) -> QueryProgress:
    """How far a query has come."""
    return QueryProgress(
        ticks=progress.ticks,
        rows_in=progress.rows_in,
        rows_out=progress.rows_out,
        late_rows=progress.late_rows,
        seconds=progress.seconds,
        sources={
            name: SourceRead(rows=s.rows, late_rows=s.late_rows, watermark=s.watermark)
            for name, s in progress.sources.items()
        },
        operators=list(map(_operator, progress.operators)),
    )


def _operator(each: OperatorProgress) -> OperatorEntry:
    return OperatorEntry(
        operator=each.operator,
        rows_in=each.rows_in,
        rows_out=each.rows_out,
        state_rows=each.state_rows,
        state_bytes=each.state_bytes,
        measures=dict(each.measures),
    )
