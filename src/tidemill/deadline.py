"""Work that must not take for ever: whoever waits sets a time, and the work looks at it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Timer

from tidemill.errors import TimeLimitError

_until: ContextVar[tuple[float, str, str] | None] = ContextVar("until", default=None)


@contextmanager
def within(seconds: float, what: str, help: str) -> Iterator[None]:
    """End what takes longer, in this thread, with an error that says `what` took so long."""
    message = f"{what} takes more than {seconds:g} s"
    token = _until.set((time.monotonic() + seconds, message, help))
    try:
        yield
    finally:
        _until.reset(token)


def look() -> None:
    """Fail if time is up; called wherever work goes on to its next part."""
    until = _until.get()
    if until is not None and time.monotonic() > until[0]:
        raise TimeLimitError(until[1], help=until[2])


@contextmanager
def interrupting(interrupt: Callable[[], object]) -> Iterator[None]:
    """Call a function of a library that stops what it is doing, when time is up."""
    until = _until.get()
    if until is None:
        yield
        return
    look()
    timer = Timer(max(until[0] - time.monotonic(), 0) + 0.001, interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        look()
