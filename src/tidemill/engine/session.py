"""The Spark session of an engine: one of the user's, or one that is started when it is needed."""

from __future__ import annotations

from concurrent.futures import Future
from threading import Lock, Thread
from typing import TYPE_CHECKING

from tidemill.errors import ExecutionError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class SparkStart:
    """Spark takes its time: it can be started, and its workers woken, while others do their work.

    PySpark is not imported before that.
    """

    def __init__(self, given: SparkSession | None) -> None:
        self._given = given
        self._started: Future[SparkSession] | None = None
        self._thread: Thread | None = None
        self._lock = Lock()

    def prepare(self, quietly: bool = False) -> None:
        """Start Spark if need be, and then its workers, in a thread of its own.

        Quietly, what Java says on the terminal is dropped.
        """
        with self._lock:
            if self._thread is None:
                if self._given is None and self._started is None:
                    self._started = Future()
                arguments = (self._started, quietly)
                name = "tidemill-spark"
                self._thread = Thread(target=self._prepare, args=arguments, name=name, daemon=True)
                self._thread.start()

    def _prepare(self, started: Future[SparkSession] | None, quietly: bool) -> None:
        from tidemill.runtime.spark.session import wake_workers

        if started is not None and not started.done():
            _start(started, quietly)
        if started is None or started.exception() is None:
            wake_workers(self.now)

    @property
    def is_there(self) -> bool:
        """Whether it is there already."""
        return self._given is not None or (self._started is not None and self._started.done())

    @property
    def now(self) -> SparkSession:
        """The session; whoever asks waits for it."""
        if self._given is not None:
            return self._given
        with self._lock:
            mine = self._started is None
            if self._started is None:
                self._started = Future()
            started = self._started
        if mine:
            _start(started)
        return started.result()

    def close(self) -> None:
        """Give the session back, if it was started here and no one else uses it."""
        if self._thread is not None:
            self._thread.join()
        started, self._started, self._thread = self._started, None, None
        if started is not None and started.exception() is None:
            from tidemill.runtime.spark.session import release

            release()


def _start(started: Future[SparkSession], quietly: bool = False) -> None:
    try:
        from tidemill.runtime.spark.session import acquire

        started.set_result(acquire(quietly))
    except ModuleNotFoundError as error:
        started.set_exception(_not_installed(error))
    except BaseException as error:
        started.set_exception(error)


def _not_installed(error: ModuleNotFoundError) -> ExecutionError:
    help = "pip install 'tidemill[spark]', or do without: Engine(runtime='inprocess')"
    return ExecutionError(f"Spark is not installed: there is no module {error.name}", help=help)
