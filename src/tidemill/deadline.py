"""Work that must not take for ever: whoever waits sets a time, and the work looks at it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Condition, Thread

from tidemill.errors import ExecutionError, TimeLimitError


@dataclass(frozen=True)
class TickLimits:
    """The most that the parts of one query may take, and a part may give, in one tick.

    They hold for each partition, and for each stage of a plan.
    """

    seconds: float | None = None
    rows: int | None = None


UNLIMITED = TickLimits()

_until: ContextVar[tuple[float, str, str] | None] = ContextVar("until", default=None)
_most_rows: ContextVar[int | None] = ContextVar("most_rows", default=None)


@contextmanager
def within(seconds: float, what: str, help: str) -> Iterator[None]:
    """End what takes longer, in this thread, with an error that says `what` took so long."""
    with until(time.monotonic() + seconds, f"{what} takes more than {seconds:g} s", help):
        yield


@contextmanager
def until(end: float, message: str, help: str) -> Iterator[None]:
    """End what goes on after a moment, unless it has to end earlier anyway."""
    around = _until.get()
    token = _until.set((end, message, help) if around is None or end < around[0] else around)
    try:
        yield
    finally:
        _until.reset(token)


@contextmanager
def giving(rows: int | None) -> Iterator[None]:
    """Let steps of operators, in this thread, give at most this number of rows."""
    token = _most_rows.set(rows)
    try:
        yield
    finally:
        _most_rows.reset(token)


def is_limited() -> bool:
    """Whether somebody waits, in this thread, no longer than for some time."""
    return _until.get() is not None


def look(rows: int = 0) -> None:
    """Fail if time is up, or if a step gives too many rows.

    Called wherever work goes on to its next part.
    """
    end = _until.get()
    if end is not None and time.monotonic() > end[0]:
        raise TimeLimitError(end[1], help=end[2])
    most = _most_rows.get() if rows else None
    if most is not None and rows > most:
        raise ExecutionError(
            f"a step gives more than {most:,} rows",
            help="join on equal columns, take shorter windows, or filter before",
        )


@contextmanager
def interrupting(interrupt: Callable[[], object]) -> Iterator[None]:
    """Call a function of a library that stops what it is doing, when time is up."""
    end = _until.get()
    if end is None:
        yield
        return
    look()
    number = _WATCH.add(end[0], interrupt)
    try:
        yield
    finally:
        _WATCH.remove(number)
        look()


class _Watch:
    """A thread that interrupts what has not ended in time.

    There is one for all: to start a thread for every call would take as long as many calls.
    """

    EVERY = 0.1
    PATIENCE = 100  # times it finds nothing before it sleeps until somebody comes

    def __init__(self) -> None:
        self._process = 0
        self._begin()

    def _begin(self) -> None:
        self._calls: dict[int, tuple[float, Callable[[], object]]] = {}
        self._count = 0
        self._change = Condition()
        self._sleeps = True

    def add(self, end: float, interrupt: Callable[[], object]) -> int:
        """Interrupt a call that has not ended at a moment; the number of the call."""
        if self._process != os.getpid():  # no thread comes along into a fork
            self._process = os.getpid()
            self._begin()
            Thread(target=self._run, name="tidemill-deadlines", daemon=True).start()
        with self._change:
            self._count += 1
            self._calls[self._count] = (end, interrupt)
            if self._sleeps:
                self._change.notify()
            return self._count

    def remove(self, number: int) -> None:
        """A call has ended; it is no longer interrupted."""
        with self._change:
            del self._calls[number]

    def _run(self) -> None:
        idle = self.PATIENCE
        while True:
            with self._change:
                self._sleeps = idle >= self.PATIENCE and not self._calls
                if self._sleeps:
                    self._change.wait()
                    self._sleeps = False
                idle = 0 if self._calls else idle + 1
                self._interrupt_late()
            time.sleep(self.EVERY)

    def _interrupt_late(self) -> None:
        now = time.monotonic()
        for end, interrupt in self._calls.values():
            if now > end:
                interrupt()


_WATCH = _Watch()
