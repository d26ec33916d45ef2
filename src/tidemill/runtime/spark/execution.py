"""A query on Spark: collected at once, or started and left running."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from threading import Thread
from typing import Any

import polars as pl
import pyarrow as pa
from pyspark.errors import PySparkException, StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

from tidemill.algebra.nodes import Scan, SourceKind
from tidemill.algebra.schema import Schema
from tidemill.errors import ExecutionError
from tidemill.fragments import LateRowsExec, Staged, stage_plans
from tidemill.physical.operator import Exec
from tidemill.physical.snapshot import snapshots_of
from tidemill.physical.source import SourceExec
from tidemill.runtime.gathering import Gathering
from tidemill.runtime.interface import Job, StartRequest
from tidemill.runtime.progress import Progress
from tidemill.runtime.spark.checkpoint import Checkpoint
from tidemill.runtime.spark.failures import explained
from tidemill.runtime.spark.forms import SNAPSHOT
from tidemill.runtime.spark.idle import IdleWatch
from tidemill.runtime.spark.reading import Origin, Reader
from tidemill.runtime.spark.run import SparkRun
from tidemill.runtime.spark.session import working_copy
from tidemill.runtime.spark.sinks import Sink, Writer, make_late_sink, make_sink
from tidemill.runtime.spark.table_sinks import results_of


class SparkExecution:
    """Runs physical plans over sources that Spark reads."""

    def __init__(
        self,
        session: SparkSession,
        jobs: Sequence[Job],
        origins: Mapping[str, Origin],
        partitions: int | None = None,
    ) -> None:
        self._session = working_copy(session)
        self._jobs = jobs
        self._origins = origins
        self._partitions = partitions or session.sparkContext.defaultParallelism
        self.gathering = Gathering()
        self._run: SparkRun | None = None

    def __iter__(self) -> Iterator[pl.DataFrame]:
        """All results, tick by tick; the input must come to an end."""
        results: list[pl.DataFrame] = []

        def collect(rows: DataFrame, tick: int) -> None:
            results.append(pl.DataFrame(rows.toArrow()))

        plans = [job.plan for job in self._jobs]
        with tempfile.TemporaryDirectory(prefix="tidemill-") as folder:
            running = self._launch(plans, [collect], folder, {"availableNow": True})
            running.await_termination()
        yield from results

    def start(self, request: StartRequest) -> RunningQuery:
        """Run from a checkpoint on: until stopped, or until all that is there was read."""
        # Without a checkpoint there is nothing to come back to, but Spark needs a folder.
        folder = request.checkpoint or tempfile.mkdtemp(prefix="tidemill-")
        sinks = [
            make_sink(job.sink, job.domain, job.plan.schema, Writer(folder, number))
            for number, job in enumerate(self._jobs)
        ]
        plans = [
            snapshots_of(job.plan) if job.sink.form == SNAPSHOT else job.plan for job in self._jobs
        ]
        if request.late is not None:
            for name, origin in sorted(self._origins.items()):
                if origin.info.kind is SourceKind.STREAM:
                    scan = Scan(name, name, origin.info.schema)
                    plans.append(LateRowsExec(SourceExec(scan)))
                    sinks.append(make_late_sink(request.late, origin.info))
        if request.available_now:
            return self._launch(plans, sinks, folder, {"availableNow": True})
        trigger = {"processingTime": request.every or "0 seconds"}
        return self._launch(plans, sinks, folder, trigger)

    def _launch(
        self,
        plans: Sequence[Exec],
        sinks: Sequence[Sink],
        checkpoint: str,
        trigger: Mapping[str, Any],
    ) -> RunningQuery:
        place = Checkpoint(checkpoint)
        staged = stage_plans(plans, place.partitions(self._partitions))
        try:
            reader = Reader(self._session, self._sources(staged), place.uri)
            arguments = (self._session, staged, reader, place, self._partitions, sinks)
            self._run = SparkRun(*arguments, self.gathering)
            return RunningQuery(self._run, trigger, sinks[: len(self._jobs)])
        except BaseException:
            place.close()
            raise

    def _sources(self, staged: Staged) -> Sequence[tuple[Origin, Schema]]:
        """Every source once, with the columns that any leaf of the plans reads."""
        columns: dict[str, Schema] = {}
        for node in staged.walk():
            if isinstance(node, SourceExec):
                old = columns.get(node.scan.source, Schema(()))
                new = tuple(f for f in node.scan.columns if f not in old.fields)
                columns[node.scan.source] = Schema(old.fields + new)
        return [(self._origins[name], schema) for name, schema in sorted(columns.items())]

    @property
    def progress(self) -> Progress:
        """How the last run went."""
        return Progress() if self._run is None else self._run.progress(range(len(self._jobs)))


class RunningQuery:
    """A started query; its methods are named as those of PySpark's StreamingQuery."""

    def __init__(self, run: SparkRun, trigger: Mapping[str, Any], sinks: Sequence[Sink]) -> None:
        self._run = run
        self._sinks = sinks
        self._stopped = False
        self._failure: Exception | None = None
        ends = "availableNow" in trigger
        goes_on = run.has_streams or (run.is_changing and not ends)
        self._query = run.start(**trigger) if goes_on else None
        self._ending: Thread | None = None
        self._idle: IdleWatch | None = None
        if self._query is None or ends:
            # The input has an end: after it, whoever waits, what was held back comes out.
            self._ending = Thread(target=self._end, name="tidemill-end", daemon=True)
            self._ending.start()
            return
        self._idle = IdleWatch(run)

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
            self._close()
        return active

    def _close(self) -> None:
        if self._idle is not None:
            self._idle.stop()
        self._run.close()

    @property
    def progress(self) -> Progress:
        """What was done since the start, by all queries that run together."""
        return self._run.progress(range(len(self._sinks)))

    def progress_of(self, query: int) -> Progress:
        """What was done since the start, with the results of one of the queries, by number."""
        return self._run.progress([query])

    def heartbeat(self, source: str, at: int) -> None:
        """Say that a source has come to an instant: rows that hold earlier are late from now on."""
        names = {s.name.casefold(): s.name for s in self._run.sources if s.has_time}
        if source.casefold() not in names:
            raise ExecutionError(
                f"the query reads no stream `{source}`", help=f"streams: {', '.join(names)}"
            )
        self._run.heartbeat({names[source.casefold()]: at})

    def results(self, query: int = 0) -> pa.Table:
        """What the sink `memory` of a query holds now."""
        return results_of(self._sinks[query])

    def exception(self) -> Exception | None:
        """What stopped the query, if it failed."""
        if self.is_active:
            return None
        failure = self._failure
        if failure is None and self._query is not None and not self._stopped:
            failure = self._query.exception()
        return None if failure is None else explained(failure)

    def process_all_available(self) -> None:
        """Wait until everything that is there now has been read."""
        if self._ending is not None or self._query is None:
            self.await_termination()
            return
        try:
            self._query.processAllAvailable()
        except PySparkException as error:
            raise explained(error) from error

    def stop(self) -> None:
        """Stop, without the end of the current tick; the checkpoint can be used to go on."""
        self._stopped = True
        if self._query is not None:
            self._query.stop()
        if self._ending is not None:
            self._ending.join()
        self._close()

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
