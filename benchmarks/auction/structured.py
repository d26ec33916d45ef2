"""Spark's own Structured Streaming API: the questions as a Spark engineer would ask them.

`spark` keeps its state in RocksDB, as large state needs it; `spark-memory` in the heap of the JVM,
which is Spark's default. Run by `serving` in a process of its own.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import polars as pl
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.readwriter import DataStreamWriter

from benchmarks.auction.measure import SAME, Form
from benchmarks.auction.worker import Request

NAME = "spark"
IN_MEMORY = "spark-memory"
_SCHEMAS = {
    "bid": "item BIGINT, price DOUBLE, bidder BIGINT, ts TIMESTAMP",
    "open_auction": "item BIGINT, seller BIGINT, start_price DOUBLE, ts TIMESTAMP",
    "closed_auction": "item BIGINT, ts TIMESTAMP",
    "person": "id BIGINT, name STRING, ts TIMESTAMP",
}
_STATE = "spark.sql.streaming.stateStore"
_TUNED = {
    f"{_STATE}.rocksdb.changelogCheckpointing.enabled": "true",
    # To count the rows of the state, RocksDB would look up every key that is written.
    f"{_STATE}.rocksdb.trackTotalNumberOfRows": "false",
    "spark.sql.session.timeZone": "UTC",
}
_STORES = {
    NAME: {
        f"{_STATE}.providerClass": (
            "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
        ),
        # One store for a join instead of four, with rows in the order of time: for RocksDB only.
        "spark.sql.streaming.join.stateFormatVersion": "4",
    },
    IN_MEMORY: {
        f"{_STATE}.providerClass": (
            "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
        ),
        "spark.sql.streaming.join.stateFormatVersion": "2",
    },
}
_HEAP = "4g"  # Spark's own 1 GiB would be too little; the goal is 6 GiB for all processes
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


def highest_bid(streams: Streams) -> DataFrame:
    """The highest bid of every hop."""
    hops = F.window("ts", "10 minutes", "1 minute").alias("hop")
    best = F.max(F.struct("price", "item")).alias("best")
    highest = _timed(streams, "bid", "b").groupBy(hops).agg(best)
    return highest.select("best.item", "best.price", F.col("hop.end").alias("at"))


def closing_price(streams: Streams) -> DataFrame:
    """All prices of an item with its end, and the highest of them: each item is closed once."""
    bids = _timed(streams, "bid", "b").selectExpr("item", "price", "NULL AS seller", "ts")
    opened = _timed(streams, "open_auction", "o")
    starts = opened.select("item", F.col("start_price").alias("price"), "seller", "ts")
    prices, closed = bids.unionAll(starts).alias("p"), _timed(streams, "closed_auction", "c")
    near = "p.item = c.item AND c.ts >= p.ts AND c.ts < p.ts + INTERVAL 2 DAYS"
    ended = prices.join(closed, F.expr(near)).groupBy("c.item", "c.ts")
    highest = ended.agg(F.max("p.seller").alias("seller"), F.max("p.price").alias("price"))
    return highest.select("item", "seller", "price", F.col("ts").alias("at"))


def hot_item(streams: Streams) -> DataFrame:
    """Counts in hops, and the highest of every hop."""
    counts = _timed(streams, "bid", "b").groupBy("item", _hops().alias("hop")).count()
    ends = F.window(F.window_time("hop"), "10 minutes").alias("end")
    hottest = counts.groupBy(ends).agg(F.max(F.struct("count", "item")).alias("best"))
    return hottest.select("best.item", "best.count", F.col("end.end").alias("at"))


def new_users(streams: Streams) -> DataFrame:
    """A stream-stream join within 12 hours; once, if a person opens several at one instant."""
    persons, opened = _timed(streams, "person", "p"), _timed(streams, "open_auction", "o")
    near = "p.id = o.seller AND o.ts >= p.ts AND o.ts < p.ts + INTERVAL 12 HOURS"
    joined = persons.join(opened, F.expr(near))
    return joined.select("p.id", "p.name", F.col("o.ts").alias("at")).dropDuplicates(["id", "at"])


def bid_sellers(streams: Streams) -> DataFrame:
    """A stream-stream join within 2 days."""
    bids, opened = _timed(streams, "bid", "b"), _timed(streams, "open_auction", "o")
    near = "b.item = o.item AND b.ts >= o.ts AND b.ts < o.ts + INTERVAL 2 DAYS"
    joined = bids.join(opened, F.expr(near))
    return joined.select("b.item", "b.price", "o.seller", "o.start_price")


def bid_counts(streams: Streams) -> DataFrame:
    """Hopping windows: the nearest that Spark has to a window that slides with every bid."""
    counts = _timed(streams, "bid", "b").groupBy("item", _hops().alias("hop")).count()
    return counts.select("item", "count", F.col("hop.end").alias("at"))


QUESTIONS: dict[str, tuple[Callable[[Streams], DataFrame], str]] = {
    "q1": (currency, SAME),
    "q2": (selection, SAME),
    "q3": (short_auctions, SAME),
    "q4": (highest_bid, "every minute only, nothing in between, and one of equal bids"),
    "q5": (closing_price, f"{SAME}, without the last two days"),
    "q6": (hot_item, "every 10 minutes only, nothing in between, and one of equal items"),
    "q8": (new_users, SAME),
    "counts": (bid_counts, "counts every 10 minutes only, nothing in between"),
    "sellers": (bid_sellers, SAME),
}
NO_FORM = {"q7": "no form of it in Spark's own API: there are no windows of rows"}
NO_STATE = dict.fromkeys(("q1", "q2"), f"no state: see {NAME}")


def forms(store: str, query: str) -> Sequence[Form]:
    """How it is asked, with state in one of the stores; without a form, there are none."""
    if query not in QUESTIONS or (store == IN_MEMORY and query in NO_STATE):
        return ()
    return (Form(store, f"{query}@{store}", QUESTIONS[query][1]),)


def handle(request: dict[str, Any]) -> dict[str, Any]:
    """Do what was asked."""
    asked = Request(**request)
    if asked.do == "answer":
        answer(_session(), asked).write_parquet(asked.file)
        return {}
    writer = _writer(_session(), asked).format("noop")
    with tempfile.TemporaryDirectory(prefix="checkpoint-") as checkpoint:
        began = time.perf_counter()
        writer.option("checkpointLocation", checkpoint).start().awaitTermination()
        return {"seconds": time.perf_counter() - began}


def answer(session: SparkSession, asked: Request) -> pl.DataFrame:
    """The rows of the answer."""
    parts: list[pl.DataFrame] = []

    def keep(rows: DataFrame, batch: int) -> None:
        parts.append(pl.DataFrame(rows.toArrow()))

    with tempfile.TemporaryDirectory(prefix="checkpoint-") as checkpoint:
        writer = _writer(session, asked).foreachBatch(keep)
        writer.option("checkpointLocation", checkpoint).start().awaitTermination()
    return pl.concat(parts)


def _writer(session: SparkSession, asked: Request) -> DataStreamWriter:
    """The question, ready to be started; a session of its own keeps the settings apart."""
    query, store = asked.query.split("@")
    own = session.newSession()
    for key, value in {**_TUNED, **_STORES[store]}.items():
        own.conf.set(key, value)
    own.conf.set("spark.sql.shuffle.partitions", str(asked.partitions))

    def streams(stream: str) -> DataFrame:
        reader = own.readStream.schema(_SCHEMAS[stream]).option("maxFilesPerTrigger", 1)
        return reader.parquet(f"{asked.data}/{stream}")

    ask, _ = QUESTIONS[query]
    return ask(streams).writeStream.outputMode("append").trigger(availableNow=True)


@cache
def _session() -> SparkSession:
    """On all cores of this process; `serving` has seen to it that these are as many as wanted."""
    builder = SparkSession.builder.master("local[*]").appName("tidemill-bench-spark")
    builder = builder.config("spark.driver.memory", _HEAP).config("spark.ui.enabled", "false")
    return builder.config("spark.sql.streaming.metricsEnabled", "false").getOrCreate()


def _timed(streams: Streams, name: str, alias: str) -> DataFrame:
    """A stream whose state Spark may let go: files are in order of time, so there is no delay."""
    return streams(name).withWatermark("ts", "0 seconds").alias(alias)


def _hops() -> Column:
    return F.window("ts", "60 minutes", "10 minutes")
