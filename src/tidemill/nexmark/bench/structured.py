"""Spark's own Structured Streaming API: the same questions, as a Spark engineer would ask them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable

import polars as pl
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.readwriter import DataStreamWriter

from tidemill.nexmark.bench.measure import SAME, Setting, Spent, watched

NAME = "spark"
_SCHEMAS = {
    "bid": "item BIGINT, price DOUBLE, bidder BIGINT, ts TIMESTAMP",
    "open_auction": "item BIGINT, seller BIGINT, start_price DOUBLE, ts TIMESTAMP",
    "closed_auction": "item BIGINT, ts TIMESTAMP",
}
_TUNED = {
    # One task per core; state in RocksDB with changelogs, as large state needs it.
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.streaming.noDataMicroBatches.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
}
Streams = Callable[[str], DataFrame]


def currency(streams: Streams) -> DataFrame:
    """Prices in euros."""
    return streams("bid").select("item", (F.col("price") * 0.8).alias("euros"), "bidder")


def selection(streams: Streams) -> DataFrame:
    """Bids on five items."""
    wanted = F.col("item").isin(1007, 1020, 1087, 2001, 2019)
    return streams("bid").where(wanted).select("item", "price", "bidder")


def short_auctions(streams: Streams) -> DataFrame:
    """A stream-stream join within 5 hours."""
    opened, closed = _timed(streams, "open_auction", "o"), _timed(streams, "closed_auction", "c")
    near = "o.item = c.item AND c.ts >= o.ts AND c.ts < o.ts + INTERVAL 5 HOURS"
    return opened.join(closed, F.expr(near)).select("o.item", "o.seller", "o.start_price")


def bid_sellers(streams: Streams) -> DataFrame:
    """A stream-stream join within 2 days."""
    bids, opened = _timed(streams, "bid", "b"), _timed(streams, "open_auction", "o")
    near = "b.item = o.item AND b.ts >= o.ts AND b.ts < o.ts + INTERVAL 2 DAYS"
    joined = bids.join(opened, F.expr(near))
    return joined.select("b.item", "b.price", "o.seller", "o.start_price")


def bid_counts(streams: Streams) -> DataFrame:
    """Hopping windows: the nearest that Spark has to a window that slides with every bid."""
    hops = F.window("ts", "60 minutes", "10 minutes")
    counts = _timed(streams, "bid", "b").groupBy("item", hops.alias("hop")).count()
    return counts.select("item", "count", F.col("hop.end").alias("at"))


QUESTIONS: dict[str, tuple[Callable[[Streams], DataFrame], str]] = {
    "q1": (currency, SAME),
    "q2": (selection, SAME),
    "q3": (short_auctions, SAME),
    "counts": (bid_counts, "counts every 10 minutes only, nothing in between"),
    "sellers": (bid_sellers, SAME),
}


def _timed(streams: Streams, name: str, alias: str) -> DataFrame:
    """A stream whose state Spark may let go: files are in order of time, so there is no delay."""
    return streams(name).withWatermark("ts", "0 seconds").alias(alias)


def _writer(session: SparkSession, name: str, setting: Setting) -> DataStreamWriter:
    """The question, ready to be started; a session of its own keeps the settings apart."""
    own = session.newSession()
    for key, value in _TUNED.items():
        own.conf.set(key, value)
    own.conf.set("spark.sql.shuffle.partitions", str(setting.cores))

    def streams(stream: str) -> DataFrame:
        reader = own.readStream.schema(_SCHEMAS[stream]).option("maxFilesPerTrigger", 1)
        return reader.parquet(f"{setting.data}/{stream}")

    ask, _ = QUESTIONS[name]
    return ask(streams).writeStream.outputMode("append").trigger(availableNow=True)


def run(session: SparkSession, name: str, setting: Setting) -> Spent:
    """What it took."""
    writer = _writer(session, name, setting).format("noop")
    checkpoints = tempfile.TemporaryDirectory(prefix="tidemill-bench-")
    with checkpoints as checkpoint, watched() as spent:
        writer.option("checkpointLocation", checkpoint).start().awaitTermination()
    return spent


def answer(session: SparkSession, name: str, setting: Setting) -> pl.DataFrame:
    """The rows of the answer."""
    parts: list[pl.DataFrame] = []

    def keep(rows: DataFrame, batch: int) -> None:
        parts.append(pl.DataFrame(rows.toArrow()))

    with tempfile.TemporaryDirectory(prefix="tidemill-bench-") as checkpoint:
        writer = _writer(session, name, setting).foreachBatch(keep)
        writer.option("checkpointLocation", checkpoint).start().awaitTermination()
    return pl.concat(parts)
