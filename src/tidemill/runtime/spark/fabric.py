"""Spark as the fabric: one job for every tick.

Tasks that read run in as many partitions; every stage is an exchange of parcels and the tasks
behind it. The tasks themselves know nothing of Spark.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tidemill.errors import ExecutionError
from tidemill.results import SparkWrite
from tidemill.runtime.parcels import DDL, SCHEMA, Packer, Parcel, unpack
from tidemill.runtime.source_task import SourceTask
from tidemill.runtime.spark.failures import SPARK_ERRORS, explained, reason
from tidemill.runtime.spark.session import from_here, working_copy
from tidemill.runtime.spark.snapshot_files import SnapshotFolder
from tidemill.runtime.spark.types import columns_ddl
from tidemill.runtime.stage_task import StageTask
from tidemill.store import Store


@dataclass(frozen=True)
class _Reading:
    """The tasks that read, by the number of their partition."""

    tasks: Sequence[SourceTask]
    store: Store

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:  # which only says that there is a partition
            pass
        task = self.tasks[_partition()]
        yield from Packer(self.store, task.tick).batches(task())


@dataclass(frozen=True)
class _Staging:
    """A stage in the partition that it is called in."""

    task: StageTask
    store: Store

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        parcels = self.task(_partition(), unpack(batches, self.store))
        yield from Packer(self.store, self.task.tick).batches(parcels)


@dataclass(frozen=True)
class _Opening:
    """Rows that tasks have left in files."""

    names: Sequence[str]
    store: Store

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            pass
        table = self.store.get_table(self.names[_partition()])
        yield from table.to_batches()


class SparkFabric:
    """Runs ticks on a session of Spark."""

    is_local = False
    writes_spark_formats = True

    def __init__(self, session: SparkSession, partitions: int | None = None) -> None:
        self.session = working_copy(session)
        self.partitions = partitions or session.sparkContext.defaultParallelism
        self.has_local_paths = str(session.sparkContext.master).startswith("local")

    def run(
        self, sources: Sequence[SourceTask], stages: Sequence[StageTask], store: Store | None
    ) -> list[Parcel]:
        """All parcels that go to the driver."""
        assert store is not None
        count = len(sources)
        rows = self.session.range(0, count, 1, count).mapInArrow(_Reading(sources, store), DDL)
        for stage in stages:
            dealt = rows.repartitionById(stage.partitions, F.col("target"))
            rows = dealt.mapInArrow(_Staging(stage, store), DDL)
        try:
            table = rows.toArrow()
        except SPARK_ERRORS as error:
            raise explained(error) from error
        return list(unpack(table.cast(SCHEMA).to_batches(), store))

    def write(self, request: SparkWrite, names: Sequence[str], tick: int, store: Store) -> None:
        """Write the rows of a tick, which are in files of the store, in a format of Spark."""
        if not names and not request.whole:
            return
        try:
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


def _partition() -> int:
    context = TaskContext.get()
    assert context is not None
    # Within a task, operators use one thread: parallelism comes from partitions.
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    return int(context.partitionId())
