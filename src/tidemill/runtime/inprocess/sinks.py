"""Where the answers of queries go that run in this process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import polars as pl
import pyarrow as pa

from tidemill.errors import UnsupportedError
from tidemill.physical.changes import AT, to_changes
from tidemill.runtime.interface import DETACHED, Callback, Job
from tidemill.runtime.results import user_table
from tidemill.timeline import VALID_FROM, VALID_TO

_FORMS = ("intervals", "live", "changes", "snapshot")
_TARGETS = ("memory", "console")


class Sink(Protocol):
    """Takes the new rows of a tick."""

    def __call__(self, rows: pl.DataFrame, tick: int) -> None: ...


Shape = Callable[[pl.DataFrame], pa.Table]


def shape_of(job: Job) -> Shape:
    """How the rows of a query take the form that its sink wants."""
    schema, domain = job.plan.schema, job.domain
    if job.sink.form == "changes":
        return lambda rows: user_table(to_changes(rows), schema, domain, AT)
    if job.sink.form in _FORMS:
        return lambda rows: user_table(rows, schema, domain, VALID_FROM, VALID_TO)
    raise UnsupportedError(f"no form `{job.sink.form}`", help=f"forms: {', '.join(_FORMS)}")


def make_sink(job: Job) -> Sink:
    """The sink of a query."""
    shape, target = shape_of(job), job.sink.target
    if callable(target):
        return CallbackSink(shape, target)
    if target == "memory":
        return MemorySink(shape, job.sink.form == "snapshot")
    if target == "console":
        return CallbackSink(shape, _print)
    if target == DETACHED:
        return WaitingSink()
    raise UnsupportedError(
        f"in this process, results cannot go to {target}",
        help=f"sinks: {', '.join(_TARGETS)}, or a function of a table and the number of the tick",
    )


class CallbackSink:
    """Calls a function with the rows of every tick that has some."""

    def __init__(self, shape: Shape, call: Callback) -> None:
        self._shape = shape
        self._call = call

    def __call__(self, rows: pl.DataFrame, tick: int) -> None:
        if rows.height:
            self._call(self._shape(rows), tick)


class MemorySink:
    """Keeps the rows of all ticks, or those of the newest one."""

    def __init__(self, shape: Shape, only_newest: bool) -> None:
        self._shape = shape
        self._only_newest = only_newest
        self._kept: list[pl.DataFrame] = []

    def __call__(self, rows: pl.DataFrame, tick: int) -> None:
        if self._only_newest:
            self._kept = [rows]
        elif rows.height or not self._kept:
            self._kept.append(rows)

    def results(self) -> pa.Table | None:
        """All rows that are kept; None before the first tick."""
        return self._shape(pl.concat(self._kept)) if self._kept else None


class WaitingSink:
    """Keeps answers for the sink that is to come."""

    def __init__(self) -> None:
        self._kept: list[tuple[pl.DataFrame, int]] = []

    def __call__(self, rows: pl.DataFrame, tick: int) -> None:
        self._kept.append((rows, tick))

    def hand_over(self, sink: Sink) -> Sink:
        """Give another sink what was kept for it."""
        for rows, tick in self._kept:
            sink(rows, tick)
        return sink


def _print(table: pa.Table, tick: int) -> None:
    print(pl.DataFrame(table))
