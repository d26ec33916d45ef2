"""What makes the ticks of a run: a thread, on the clock or as soon as there is something new."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Event, Thread

from tidemill.runtime.run import Run

AT_ONCE = 0.0
_LOOK_EVERY = 0.05
"""Seconds between two looks for changes that are not announced: files, tables, silent streams."""

_LONGEST_PAUSE = 5.0
"""Seconds at most before a tick that has failed is tried again."""


class Ticker:
    """Makes ticks in a thread of its own: every `every` seconds, or at once (0).

    No tick is made before the run `is_ready`. An error of a tick is told, and the tick is tried
    again; if nobody wants to be told, the thread ends with it. So it does when all `is_over`, and
    tells whoever wants to know that it `ended`.
    """

    def __init__(
        self,
        run: Run,
        every: float = AT_ONCE,
        failed: Callable[[Exception], None] | None = None,
        is_ready: Callable[[], bool] = lambda: True,
        is_over: Callable[[], bool] = lambda: False,
        ended: Callable[[], None] = lambda: None,
    ) -> None:
        self._run = run
        self._every = every
        self._failed = failed
        self._is_ready = is_ready
        self._is_over = is_over
        self._ended = ended
        self._wanted = Event()
        self._stopping = Event()
        self.error: Exception | None = None
        run.listen(self.soon if every == AT_ONCE else lambda: None)
        self._thread = Thread(target=self._go_on, name="tidemill-ticks", daemon=True)

    @property
    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def soon(self) -> None:
        """Do not wait with the next tick."""
        self._wanted.set()

    def stop(self) -> None:
        """End; a tick that is being made is made to its end."""
        self._stopping.set()
        self._wanted.set()
        self.join()

    def join(self, timeout: float | None = None) -> None:
        """Wait for the end."""
        if self._thread.is_alive():
            self._thread.join(timeout)

    def _go_on(self) -> None:
        try:
            self._make_ticks()
        finally:
            if not self._stopping.is_set():
                self._ended()

    def _make_ticks(self) -> None:
        pause = 0.0
        while not self._stopping.is_set() and not self._is_over():
            try:
                pause = 0.0 if self._made() else self._every or _LOOK_EVERY
            except Exception as error:
                if self._failed is None:
                    self.error = error
                    return
                self._failed(error)
                pause = min(_LONGEST_PAUSE, max(self._every, 2 * pause, _LOOK_EVERY))
            self._wait(pause)

    def _made(self) -> bool:
        """Make a tick, if it would bring something; whether the next one need not wait."""
        with self._run.lock:
            made = self._is_ready() and self._run.tick_if_more()
        return made and self._every == AT_ONCE

    def _wait(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while not self._stopping.is_set() and (left := until - time.monotonic()) > 0:
            if self._wanted.wait(left):
                break
        self._wanted.clear()
