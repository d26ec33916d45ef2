"""A query on Spark: collected at once, or started and left running."""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from threading import Thread
from typing import Any

import polars as pl
from pyspark.errors import PySparkException, StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

from tidemill.algebra.schema import Schema
from tidemill.errors import ExecutionError, TidemillError
from tidemill.fragments import Staged, stage_plan
from tidemill.physical.operator import Exec
from tidemill.physical.source import SourceExec
from tidemill.runtime.interface import StartRequest
from tidemill.runtime.progress import Progress
from tidemill.runtime.spark.checkpoint import Checkpoint
from tidemill.runtime.spark.reading import Origin, Reader
from tidemill.runtime.spark.run import SparkRun
from tidemill.runtime.spark.sinks import Sink, make_sink


class SparkExecution:
    """Runs a physical plan over sources that Spark reads."""

    def __init__(
        self,
        session: SparkSession,
        plan: Exec,
        origins: Mapping[str, Origin],
        partitions: int | None = None,
    ) -> None:
        self._session = session
        self.staged: Staged = stage_plan(plan)
        self._origins = origins
        self._partitions = partitions or session.sparkContext.defaultParallelism
        self._run: SparkRun | None = None

    def __iter__(self) -> Iterator[pl.DataFrame]:
        """All results, tick by tick; the input must come to an end."""
        results: list[pl.DataFrame] = []

        def collect(rows: DataFrame, tick: int) -> None:
            results.append(pl.DataFrame(rows.toArrow()))

        with tempfile.TemporaryDirectory(prefix="tidemill-") as folder:
            self._launch(collect, folder, {"availableNow": True}).await_termination()
        yield from results

    def start(self, request: StartRequest, options: Mapping[str, Any]) -> RunningQuery:
        """Run from a checkpoint on: until stopped, or until all that is there was read."""
        sink = make_sink(request.sink, request.form, request.domain, options)
        # Without a checkpoint there is nothing to come back to, but Spark needs a folder.
        folder = request.checkpoint or tempfile.mkdtemp(prefix="tidemill-")
        if request.available_now:
            return self._launch(sink, folder, {"availableNow": True})
        return self._launch(sink, folder, {"processingTime": request.every or "0 seconds"})

    def _launch(self, sink: Sink, checkpoint: str, trigger: Mapping[str, Any]) -> RunningQuery:
        place = Checkpoint(checkpoint)
        try:
            reader = Reader(self._session, self._sources(), place.uri)
            self._run = SparkRun(self._session, self.staged, reader, place, self._partitions, sink)
            return RunningQuery(self._run, trigger)
        except BaseException:
            place.close()
            raise

    def _sources(self) -> Sequence[tuple[Origin, Schema]]:
        """Every source once, with the columns that any leaf of the plan reads."""
        columns: dict[str, Schema] = {}
        for node in self.staged.plan.walk():
            if isinstance(node, SourceExec):
                old = columns.get(node.scan.source, Schema(()))
                new = tuple(f for f in node.scan.columns if f not in old.fields)
                columns[node.scan.source] = Schema(old.fields + new)
        return [(self._origins[name], schema) for name, schema in sorted(columns.items())]

    @property
    def progress(self) -> Progress:
        """How the last run went."""
        return Progress() if self._run is None else self._run.progress


class RunningQuery:
    """A started query; its methods are named as those of PySpark's StreamingQuery."""

    def __init__(self, run: SparkRun, trigger: Mapping[str, Any]) -> None:
        self._run = run
        self._stopped = False
        self._failure: Exception | None = None
        self._query = run.start(**trigger) if run.has_streams else None
        self._ending: Thread | None = None
        if self._query is None or "availableNow" in trigger:
            # The input has an end: after it, whoever waits, what was held back comes out.
            self._ending = Thread(target=self._end, name="tidemill-end", daemon=True)
            self._ending.start()

    def _end(self) -> None:
        try:
            if self._query is not None:
                self._query.awaitTermination()
            if not self._stopped:
                self._run.finish()
        except Exception as error:
            self._failure = error
        finally:
            self._run.close()

    @property
    def is_active(self) -> bool:
        """Whether ticks are still being made."""
        if self._ending is not None:
            return self._ending.is_alive()
        active = self._query is not None and bool(self._query.isActive)
        if not active:
            self._run.close()
        return active

    @property
    def progress(self) -> Progress:
        """What was done since the start."""
        return self._run.progress

    def exception(self) -> Exception | None:
        """What stopped the query, if it failed."""
        if self.is_active:
            return None
        failure = self._failure
        if failure is None and self._query is not None and not self._stopped:
            failure = self._query.exception()
        return None if failure is None else _explained(failure)

    def process_all_available(self) -> None:
        """Wait until everything that is there now has been read."""
        if self._ending is not None or self._query is None:
            self.await_termination()
            return
        try:
            self._query.processAllAvailable()
        except PySparkException as error:
            raise _explained(error) from error

    def stop(self) -> None:
        """Stop, without the end of the current tick; the checkpoint can be used to go on."""
        self._stopped = True
        if self._query is not None:
            self._query.stop()
        if self._ending is not None:
            self._ending.join()
        self._run.close()

    def await_termination(self, timeout: float | None = None) -> bool:
        """Wait for the end. At the end of bounded input, results held back are released."""
        if self._ending is not None:
            self._ending.join(timeout)
        elif self._query is not None:
            try:
                whole = None if timeout is None else math.ceil(timeout)
                self._query.awaitTermination(whole)
            except StreamingQueryException as error:
                self._failure = error
        if self.is_active:
            return False
        if (failure := self.exception()) is not None:
            raise failure
        return True


def _explained(failure: Exception) -> Exception:
    """An error of ours for one that came through Spark."""
    if isinstance(failure, TidemillError):
        return failure
    error = ExecutionError(_reason(str(failure)))
    error.__cause__ = failure
    return error


def _reason(text: str) -> str:
    """What went wrong, out of the many lines that Spark says about it.

    >>> _reason("Query failed\\n  x.ArithmeticException: [DIVIDE_BY_ZERO] Division by zero. Use...")
    'Division by zero. Use...'
    """
    ours = re.findall(r"ExecutionError: error: (.*)", text)
    causes = re.findall(
        r"^(?:Caused by)?[:\s]*\S*(?:Exception|Error): (?:\[[A-Z_.]+\] )?(.*)", text, re.MULTILINE
    )
    reason = str((ours or causes or text.splitlines())[-1 if ours or causes else 0])
    file = re.search(r"error while reading file \S*/(\S+?)\.?\s", text)
    where = f"cannot read {file[1]}: " if file and not ours else ""
    return where + re.sub(r" SQLSTATE: \w+$", "", reason)
