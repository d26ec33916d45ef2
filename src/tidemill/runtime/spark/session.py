"""The Spark session: the user's own, or one on this machine."""

from __future__ import annotations

import logging
import os
import sys
from contextlib import suppress
from pathlib import Path
from subprocess import DEVNULL
from threading import RLock
from typing import Any

from pyspark import SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from tidemill.errors import ExecutionError
from tidemill.runtime.spark.failures import SPARK_ERRORS
from tidemill.runtime.spark.workers import Workers

_LOCAL = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.streaming.metricsEnabled": "false",
    # Java sends a worker its task in small pieces. Over TCP, one of them waits until the other end
    # says that it has the piece before, which takes 40 ms: more than all the rest of a small job.
    "spark.python.unix.domain.socket.enabled": "true",
}


_TICKS = {
    # Batches of operators are whole partitions; small ones would only be put together again.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "200000",
    # With any other limit, Spark adds up the bytes of a batch anew with every row.
    "spark.sql.execution.arrow.maxBytesPerBatch": str(2**31 - 1),
    # Partitions are ours to choose; looking at them again between two stages only takes time.
    "spark.sql.adaptive.enabled": "false",
    # Times without a zone are those of UTC, and expressions fail rather than overflow.
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
}

_TEN_TIMES = {"Invocation": 50_000, "MinInvocation": 6_000, "Compile": 150_000, "BackEdge": 400_000}
PATIENT_COMPILER = " ".join(f"-XX:Tier4{of}Threshold={n}" for of, n in _TEN_TIMES.items())
"""Java compiles a method for the second time when it was called ten times as often as usual.

Rows are worked on in Python; Java only hands out tasks, and the compiler, which is at it for the
first hundred jobs or so, takes the cores from them. Loops over rows reach these numbers at once.
"""

_JAVA = (
    "install a Java runtime, version 17 or newer (in a clone of Tidemill: make java), "
    "or do without Spark: Engine(runtime='inprocess')"
)

_lock = RLock()
_woken: set[str] = set()
_users = 0
_started_here: SparkSession | None = None


def acquire(quietly: bool = False) -> SparkSession:
    """The session of this process, started if there is none; `release` it after use.

    Quietly, Java has no voice on the terminal: it warns of a module that Spark asks for.
    """
    global _users, _started_here
    with _lock:
        # (The active session would be that of this thread only.)
        there = SparkContext._active_spark_context is not None
        session = _local_session(quietly=quietly)
        if not there:
            _started_here = session
        _users += 1
        return session


def release() -> None:
    """Give a session back; the last one to do so stops it, if it was started here."""
    global _users, _started_here
    with _lock:
        _users -= 1
        if _users == 0 and _started_here is not None:
            _started_here.stop()
            _started_here = None


def wake_workers(session: SparkSession) -> None:
    """Let workers start and import what ticks need, before the first tick has to wait for it."""
    context = session.sparkContext
    with _lock:
        if context.applicationId in _woken:
            return
        _woken.add(str(context.applicationId))
    # Errors come up again where the workers are needed, unless Spark was stopped meanwhile.
    with suppress(*SPARK_ERRORS):
        Workers(context).wake(context.defaultParallelism)


def working_copy(session: SparkSession) -> SparkSession:
    """A session with the user's settings, but for those that ticks need otherwise."""
    copy = SparkSession(session.sparkContext, session._jsparkSession.cloneSession())
    for key, value in _TICKS.items():
        copy.conf.set(key, value)
    return copy


def from_here(path: str) -> str:
    """A path of files as Spark should see it.

    On this machine, a relative one starts at the working directory of this process, wherever Java
    was started; on a cluster, where Spark says.
    """
    context = SparkContext._active_spark_context
    is_local = context is not None and str(context.master).startswith("local")
    return os.path.abspath(path) if is_local and "://" not in path else path


def _local_session(cores: str = "*", quietly: bool = False) -> SparkSession:
    _set_environment()
    builder = SparkSession.builder.master(f"local[{cores}]").appName("tidemill")
    for key, value in _LOCAL.items():
        builder = builder.config(key, value)
    try:
        if quietly:
            _start_java_quietly()
        session = builder.getOrCreate()
    except PySparkRuntimeError as error:
        if error.getCondition() != "JAVA_GATEWAY_EXITED":
            raise
        raise ExecutionError("Spark did not start: it needs Java", help=_JAVA) from error
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    return session


def _start_java_quietly() -> None:
    with SparkContext._lock:
        if SparkContext._gateway is None:
            gateway: Any = launch_gateway(popen_kwargs={"stderr": DEVNULL})  # type: ignore[no-untyped-call]
            SparkContext._gateway, SparkContext._jvm = gateway, gateway.jvm


def _set_environment() -> None:
    # Workers must find the packages that this interpreter has.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    # Parallelism comes from partitions: within one, operators use one thread.
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    # What fails is raised to the user; Spark would print it as well, with all its frames.
    log = Path(__file__).with_name("log4j2.properties").as_uri()
    # Spark looks with a regular expression through what Python has said when a stream was stopped
    # in the middle of a batch, which takes a deep stack.
    options = f"-Dlog4j2.configurationFile={log} -Xss16m {PATIENT_COMPILER}"
    os.environ.setdefault("SPARK_SUBMIT_OPTS", options)
