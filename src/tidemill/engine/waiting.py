"""A line on the terminal that says how far a query has come, while one waits for its answer."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

from tidemill.runtime.progress import Progress

_PAUSE = 0.2
_ERASE = "\r\x1b[K"


@contextmanager
def progress_line(progress: Callable[[], Progress]) -> Iterator[None]:
    """Show progress on standard error until the block ends, if that is a terminal."""
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield
        return
    ended = Event()
    thread = Thread(target=_draw, args=(progress, ended), name="tidemill-line", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _draw(progress: Callable[[], Progress], ended: Event) -> None:
    drawn = False
    while not ended.wait(_PAUSE):
        now = progress()
        if now.sources:  # before that, the run is being prepared
            line = line_of(now)[: shutil.get_terminal_size().columns - 1]
            sys.stderr.write(_ERASE + line)
            sys.stderr.flush()
            drawn = True
    if drawn:
        sys.stderr.write(_ERASE)
        sys.stderr.flush()


def line_of(progress: Progress) -> str:
    """How far a run has come, in one line.

    >>> line_of(Progress(ticks=3, rows_out=1200))
    '0 rows in, 1,200 out, tick 3'
    """
    speed = f" at {progress.rows_per_second:,.0f}/s" if progress.seconds else ""
    return f"{progress.rows_in:,} rows in{speed}, {progress.rows_out:,} out, tick {progress.ticks}"
