"""Spark as the fabric: one job for the tasks of every stage.

What tasks send each other is either short, and goes through the driver, or in files of the store,
and only their names do. So no job shuffles, and none needs what Spark remembers of another one. A
tick of few rows is read by every partition of the first stage: that saves a job. The tasks
themselves know nothing of Spark.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession

from tidemill.connectors.sinks import SparkWrite
from tidemill.errors import ExecutionError
from tidemill.runtime.fabric import arriving
from tidemill.runtime.parcels import Packed, Packer, Parcel, unpack
from tidemill.runtime.sending import Sender
from tidemill.runtime.source_task import SourceTask
from tidemill.runtime.spark.failures import SPARK_ERRORS, explained, reason
from tidemill.runtime.spark.formats import active, check_writer
from tidemill.runtime.spark.session import from_here, working_copy
from tidemill.runtime.spark.snapshot_files import SnapshotFolder
from tidemill.runtime.spark.types import columns_ddl
from tidemill.runtime.spark.workers import Workers
from tidemill.runtime.stage_task import StageTask
from tidemill.store import Store


@dataclass(frozen=True)
class _Reading:
    """A task that reads; what it has read goes on into a stage at once, if there is one."""

    task: SourceTask
    store: Store
    stage: StageTask | None = None

    def __str__(self) -> str:
        return f"tick {self.task.tick}, reading"

    def __call__(self) -> bytes:
        parcels = self.task()
        if self.stage is not None:
            parcels = _through(self.stage, self.task.number, parcels)
        return _packed(parcels, self.store, self.task.tick)


@dataclass(frozen=True)
class _Staging:
    """A stage in one partition, and what came for it."""

    task: StageTask
    partition: int
    coming: Sequence[Packed]
    store: Store

    def __str__(self) -> str:
        return f"tick {self.task.tick}, stage {self.task.stage.level}"

    def __call__(self) -> bytes:
        parcels = (unpack(each, self.store) for each in self.coming)
        return _packed(self.task(self.partition, parcels), self.store, self.task.tick)


def _through(stage: StageTask, partition: int, parcels: Iterable[Parcel]) -> Iterator[Parcel]:
    """What a stage makes of parcels, and those that are not for it."""
    every = list(parcels)
    yield from (parcel for parcel in every if parcel.tag not in stage.tags)
    yield from stage(partition, [parcel for parcel in every if parcel.tag in stage.tags])


def _packed(parcels: Iterable[Parcel], store: Store, tick: int) -> bytes:
    return pickle.dumps(list(map(Packer(store, tick), parcels)), protocol=5)


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


class SparkFabric:
    """Runs ticks on a session of Spark."""

    is_local = False
    direct = 4 << 20
    writes_spark_formats = True

    def __init__(self, session: SparkSession, partitions: int | None = None) -> None:
        self.session = working_copy(session)
        self.partitions = partitions or session.sparkContext.defaultParallelism
        self.has_local_paths = str(session.sparkContext.master).startswith("local")
        self._workers = Workers(session.sparkContext)
        self._sender = Sender()

    def run(
        self, sources: Sequence[SourceTask], stages: Sequence[StageTask], store: Store | None
    ) -> list[Parcel]:
        """All parcels that go to the driver."""
        assert store is not None
        if sources[0].direct:
            first, stages = stages[0], stages[1:]
            parcels = self._call([_Reading(task, store, first) for task in sources], store)
        else:
            parcels = self._call([_Reading(task, store) for task in sources], store)
        for stage in stages:
            coming, rest = arriving(stage, parcels)
            tasks = [_Staging(stage, n, mine, store) for n, mine in enumerate(coming)]
            parcels = rest + self._call(tasks, store)
        return [unpack(each, store) for each in parcels]

    def _call(self, tasks: Sequence[_Reading | _Staging], store: Store) -> list[Packed]:
        sent = [self._sender.send(task, store) for task in tasks]
        try:
            found = self._workers.call(sent, f"tidemill: {tasks[0]}")
        except SPARK_ERRORS as error:
            raise explained(error) from error
        return [packed for each in found for packed in pickle.loads(each)]

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
