"""Spark as the fabric: one job for the tasks of every stage.

What tasks send each other is either short, and goes through the driver, or in files of the store,
and only their names do. So no job shuffles, and none needs what Spark remembers of another one. A
tick of few rows is read by every partition of the first stage: that saves a job. The tasks
themselves know nothing of Spark.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession

from tidemill.connectors.sinks import SparkWrite
from tidemill.errors import ExecutionError
from tidemill.runtime.sending import Sent
from tidemill.runtime.spark.failures import SPARK_ERRORS, explained, reason
from tidemill.runtime.spark.formats import active, check_writer
from tidemill.runtime.spark.session import from_here, working_copy
from tidemill.runtime.spark.snapshot_files import SnapshotFolder
from tidemill.runtime.spark.types import columns_ddl
from tidemill.runtime.spark.workers import Workers
from tidemill.runtime.travelling import Travelling
from tidemill.store import Store


@dataclass(frozen=True)
class _Opening:
    """Rows that tasks have left in files."""

    names: Sequence[str]
    store: Store

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            pass
        table = self.store.get_table(self.names[_number()])
        yield from table.to_batches()


class SparkFabric(Travelling):
    """Runs ticks on a session of Spark."""

    direct = 4 << 20
    writes_spark_formats = True

    def __init__(self, session: SparkSession, partitions: int | None = None) -> None:
        super().__init__(partitions or session.sparkContext.defaultParallelism)
        self.session = working_copy(session)
        self.has_local_paths = str(session.sparkContext.master).startswith("local")
        self._workers = Workers(session.sparkContext)

    def call(self, tasks: Sequence[Sent], title: str) -> list[bytes]:
        try:
            return self._workers.call(tasks, title)
        except SPARK_ERRORS as error:
            raise explained(error) from error

    def check(self, request: SparkWrite) -> None:
        check_writer(self.session, request)

    def write(self, request: SparkWrite, names: Sequence[str], tick: int, store: Store) -> None:
        """Write the rows of a tick, which are in files of the store, in a format of Spark."""
        if not names and not request.whole:
            return
        try:
            with active(self.session):
                self._write(request, self._frame(request, names, store), tick)
        except SPARK_ERRORS as error:
            raise ExecutionError(
                f"results cannot be written as {request.format}: {reason(str(error))}",
                help="check the name of the sink and its options; Spark says it in its own words",
            ) from error

    def _frame(self, request: SparkWrite, names: Sequence[str], store: Store) -> DataFrame:
        ddl = columns_ddl(request.shape.columns)
        if not names:
            return self.session.createDataFrame([], ddl)
        parts = self.session.range(0, len(names), 1, len(names))
        return parts.mapInArrow(_Opening(names, store), ddl)

    def _write(self, request: SparkWrite, rows: DataFrame, tick: int) -> None:
        options = dict(request.options)
        if request.path is None:
            mode = "overwrite" if request.whole else "append"
            rows.write.format(request.format).options(**options).mode(mode).save()
            return
        path = from_here(request.path)
        if request.whole:
            SnapshotFolder(self.session, path).replace(rows, tick, request.format, options)
            return
        folder = f"{path}/tick={tick:08d}"
        rows.write.format(request.format).options(**options).mode("overwrite").save(folder)


def _number() -> int:
    context = TaskContext.get()
    assert context is not None
    return int(context.partitionId())
