"""The floor: what Spark needs to scan, shuffle and hand rows to Python and back, and no more."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import reduce

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tidemill.runtime.spark.session import working_copy

NAME = "floor"
NOTE = "no operator: scan, shuffle, Arrow there and back"
_COLUMNS = {
    "bid": (
        "item BIGINT, price DOUBLE, bidder BIGINT, ts TIMESTAMP",
        "item",
        "bidder",
        "price",
    ),
    "open_auction": (
        "item BIGINT, seller BIGINT, start_price DOUBLE, ts TIMESTAMP",
        "item",
        "seller",
        "start_price",
    ),
    "closed_auction": ("item BIGINT, ts TIMESTAMP", "item", "item", "CAST(NULL AS DOUBLE)"),
    "person": ("id BIGINT, name STRING, ts TIMESTAMP", "id", "id", "CAST(NULL AS DOUBLE)"),
}


def run(session: SparkSession, streams: Sequence[str], data: str, partitions: int) -> float:
    """How many seconds it took, for some streams."""
    session = working_copy(session)
    rows = [_rows(session, name, data, partitions) for name in streams]
    everything = reduce(DataFrame.union, rows)

    def tick(batch: DataFrame, number: int) -> None:
        moved = batch.repartitionById(partitions, F.col("partition"))
        moved.mapInArrow(_identity, batch.schema).write.format("noop").mode("append").save()

    with tempfile.TemporaryDirectory(prefix="checkpoint-") as checkpoint:
        writer = everything.writeStream.foreachBatch(tick).trigger(availableNow=True)
        began = time.perf_counter()
        writer.option("checkpointLocation", checkpoint).start().awaitTermination()
        return time.perf_counter() - began


def _identity(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches


def _rows(session: SparkSession, name: str, data: str, partitions: int) -> DataFrame:
    """A stream as plain numbers: its key, its partition, its time, and its other columns."""
    schema, key, other, price = _COLUMNS[name]
    reader = session.readStream.schema(schema).option("maxFilesPerTrigger", 1)
    return reader.parquet(f"{data}/{name}").selectExpr(
        f"CAST(pmod(hash({key}), {partitions}) AS INT) AS partition",
        "unix_micros(ts) AS valid_from",
        "unix_micros(ts) + 1 AS valid_to",
        f"{key} AS key",
        f"{other} AS other",
        f"{price} AS price",
    )
