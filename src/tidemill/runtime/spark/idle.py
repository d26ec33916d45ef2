"""Sources that fall silent do not hold the others back for ever."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from threading import Event, Thread
from typing import Protocol

from tidemill.runtime.spark.inputs import SourceRows
from tidemill.timeline import BEGIN

_LONGEST_PAUSE = 1.0


class Watched(Protocol):
    """A run whose sources are watched."""

    @property
    def sources(self) -> Sequence[SourceRows]: ...

    @property
    def watermarks(self) -> Mapping[str, int]: ...

    @property
    def last_rows(self) -> Mapping[str, float]: ...

    def heartbeat(self, instants: Mapping[str, int]) -> None: ...


def overdue(run: Watched, now: float) -> dict[str, int]:
    """How far silent sources are moved on: to where the slowest of the others is.

    Silent is a source that has brought no rows for longer than it may.
    """
    marks = {s.name: run.watermarks.get(s.name, BEGIN) for s in run.sources if s.has_time}
    silent = {
        s.name
        for s in run.sources
        if s.idle is not None and now - run.last_rows.get(s.name, now) >= s.idle
    }
    awake = [mark for name, mark in marks.items() if name not in silent]
    target = min(awake) if awake else max(marks.values(), default=BEGIN)
    return {name: target for name in silent if marks[name] < target}


class IdleWatch:
    """Looks after silent sources while a query runs."""

    def __init__(self, run: Watched) -> None:
        self._run = run
        self._ended = Event()
        self._sent: dict[str, int] = {}
        limits = [source.idle for source in run.sources if source.idle is not None]
        self._pause = min([_LONGEST_PAUSE, *(limit / 4 for limit in limits)])
        if limits:
            Thread(target=self._watch, name="tidemill-idle", daemon=True).start()

    def stop(self) -> None:
        """Look no more."""
        self._ended.set()

    def _watch(self) -> None:
        while not self._ended.wait(self._pause):
            due = overdue(self._run, time.monotonic())
            # The tick that takes a heartbeat in may take a while.
            new = {name: at for name, at in due.items() if at > self._sent.get(name, BEGIN)}
            if new:
                self._sent.update(new)
                self._run.heartbeat(new)
