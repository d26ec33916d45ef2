"""The clock of a server: a tick every so often, and one soon if somebody waits for it."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread


class Ticker:
    """Makes ticks in a thread of its own; an error of a tick is told, and the next one is made.

    >>> made, done = [], Event()
    >>> ticker = Ticker(lambda: (made.append(1), done.set()), 60.0, print)
    >>> ticker.start(); ticker.soon(); done.wait(5)
    True
    >>> ticker.stop()
    """

    def __init__(
        self, tick: Callable[[], object], every: float, failed: Callable[[Exception], None]
    ) -> None:
        self._tick = tick
        self._every = every
        self._failed = failed
        self._wanted = Event()
        self._stopping = Event()
        self._thread = Thread(target=self._run, name="tidemill-ticks", daemon=True)

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
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._wanted.wait(self._every)
            if self._stopping.is_set():
                return
            self._wanted.clear()
            try:
                self._tick()
            except Exception as error:
                self._failed(error)
