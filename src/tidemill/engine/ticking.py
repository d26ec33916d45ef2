"""Ticks of a running graph, and waiting for them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from threading import Event, RLock

from tidemill.graph.query_graph import QueryGraph
from tidemill.runtime.progress import SourceProgress
from tidemill.runtime.run import Run
from tidemill.runtime.ticker import Ticker


class Ticking:
    """A run that ticks by itself or by hand, until its input ends or it is stopped."""

    def __init__(self, run: Run, queries: QueryGraph, is_open: bool) -> None:
        self._run = run
        self._queries = queries
        self._is_open = is_open
        self.ticker: Ticker | None = None
        self._is_stopped = False
        self._gone = Event()
        self._failure: Exception | None = None

    @property
    def lock(self) -> RLock:
        """Held while a tick is made, and by whoever reads or changes several things at once."""
        return self._queries.lock

    @property
    def ticks(self) -> int:
        """How many ticks were made."""
        return self._run.ticks

    @property
    def seconds(self) -> float:
        """Since the graph was started."""
        return self._run.seconds

    @property
    def busy_seconds(self) -> float:
        """How long all ticks have taken."""
        return self._run.busy_seconds

    @property
    def newest(self) -> Mapping[str, int]:
        """For sources that are being read, the end of the newest row that a new query misses."""
        return self._run.newest

    @property
    def has_more(self) -> bool:
        """Whether something is there that was not read yet."""
        return self._run.has_more

    @property
    def sources(self) -> Mapping[str, SourceProgress]:
        """What was read of every stream."""
        return self._run.sources

    @property
    def is_active(self) -> bool:
        """Whether the graph can run."""
        return not self._is_stopped

    def tick(self, ticks: int = 1) -> None:
        """Make ticks now."""
        for _ in range(ticks):
            self._run.tick()

    def tick_if_more(self) -> bool:
        """Make a tick if something is there that was not read yet; whether one was made."""
        return self._run.tick_if_more()

    def tick_every(
        self, seconds: float, failed: Callable[[Exception], None] | None = None
    ) -> Ticker:
        """Make ticks from now on, in a thread of their own; 0 is as soon as something is new."""
        whole = partial(getattr, self._queries, "is_whole")
        # While more queries may come, the end of these inputs is not the end.
        over = (lambda: False) if self._is_open else partial(getattr, self, "_has_done_its_work")
        self.ticker = Ticker(self._run, seconds, failed, whole, over, self._let_go)
        self.ticker.start()
        return self.ticker

    @property
    def is_ended(self) -> bool:
        """Whether all that the queries read has ended, and was read."""
        run = self._run
        return self._queries.is_whole and run.is_ended and not run.has_more

    def _let_go(self) -> None:
        """The input has ended, or no tick can be made: let others use the checkpoint."""
        if not self._is_stopped:
            self._is_stopped = True
            self._queries.let_all_go()
            self._run.stop()
            self._gone.set()

    @property
    def error(self) -> Exception | None:
        """Why the last tick could not be made, if so."""
        ended = None if self.ticker is None else self.ticker.error
        return ended or self._failure

    def note_failure(self, error: Exception) -> None:
        """Take note that a tick could not be made; it is tried again."""
        self._failure = error

    def process_all_available(self) -> None:
        """Come back when everything that is there now has been read."""
        if self._run.is_bounded and self.ticker is not None:
            self.await_termination()
        if self.error is not None:
            raise self.error
        if self.is_active:
            self._run.process_all_available()

    def await_termination(self, timeout: float | None = None) -> bool:
        """Wait for the end of the input, or until the graph is stopped."""
        over = self.waited(self._gone.is_set, timeout)
        if self.error is not None:
            raise self.error
        return over

    def waited(self, done: Callable[[], bool], timeout: float | None = None) -> bool:
        """Wait until the input ends or something is done; whether that came in time."""
        until = None if timeout is None else time.monotonic() + timeout
        while not (over := done() or self._is_over):
            if until is not None and time.monotonic() >= until:
                break
            time.sleep(0.01)
        return over

    @property
    def _is_over(self) -> bool:
        """Whether there is nothing to wait for; what was let go of can be used by others."""
        return self.is_ended if self._is_open else self._gone.is_set()

    @property
    def _has_done_its_work(self) -> bool:
        return self.is_ended or (self._queries.is_whole and not self._queries.running)

    def heartbeat(self, source: str, at: int) -> None:
        """Say that a stream has come to an instant: rows that hold earlier, and come from now on,
        are late."""
        self._run.heartbeat(source, at)

    def stop(self) -> None:
        """Stop all queries, and the graph."""
        if self.ticker is not None:
            self.ticker.stop()
        self._let_go()
