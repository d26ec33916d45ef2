"""Streams that meet relations, on Spark: lookups, star joins, and star joins that shed.

Every case reads ticks of a million rows from Parquet files and counts the time from the end of its
first tick, in which the relation is read, to the end of its last. Beside every lookup stands the
join of a stream with a table as Spark does it alone, over the same files, in the same ticks.
"""

from __future__ import annotations

from benchmarks._harness import Figure, Options, Report, options, present, seconds_of  # isort: split

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import numpy as np
import polars as pl
from pyspark.sql import SparkSession

import tidemill as tm
from tidemill.stages import placement

EXACT, SHEDDING = 1e6, 3e5  # rows per second
TICK = 1_000_000
SMALL, LARGE = 1_000, 1_000_000
BOUND = 10_000

LOOKUP = "SELECT r.v, k.name FROM r WINDOW(RANGE 1000) r, k WHERE r.a = k.a"
STAR = """
SELECT p.v, q.w, k.name
FROM p WINDOW(RANGE 1000) p, k, q WINDOW(RANGE 1000) q WHERE p.a = k.a AND k.b = q.b
"""
POLICIES = ("dgl", "dimpprob", "simpprob", "simp", "semantic", "random")


@dataclass(frozen=True)
class World:
    """Files of streams and relations: `r` for lookups; `p` and `q`, half as fast, for stars."""

    folder: Path
    ticks: int

    def write(self) -> None:
        rng = np.random.default_rng(5)
        for size in (SMALL, LARGE):
            folder = self.path("k", size)
            folder.mkdir(parents=True)
            rows = pl.DataFrame({"a": np.arange(size), "b": rng.permutation(size)})
            rows = rows.with_columns(name="item " + pl.col("a").cast(pl.String))
            rows.write_parquet(folder / "all.parquet")
            for name, key, value, count in (
                ("r", "a", "v", TICK),
                ("p", "a", "v", TICK // 2),
                ("q", "b", "w", TICK // 2),
            ):
                self._write_stream(self.path(name, size), key, value, count, size, rng)

    def path(self, name: str, size: int) -> Path:
        return self.folder / f"{name}-{size}"

    def _write_stream(
        self, folder: Path, key: str, value: str, count: int, size: int, rng: np.random.Generator
    ) -> None:
        folder.mkdir()
        for tick in range(self.ticks):
            at = tick * TICK + np.sort(rng.integers(0, TICK, count))
            columns = {key: rng.integers(0, size, count), value: rng.random(count), "at": at}
            pl.DataFrame(columns).write_parquet(folder / f"{tick:03d}.parquet")

    def engine(self, spark: SparkSession, size: int) -> tm.Engine:
        """An engine that knows the files of one size."""
        engine = tm.Engine(spark=spark)
        for name, key, value in (("r", "a", "v"), ("p", "a", "v"), ("q", "b", "w")):
            source = f"parquet(path => '{self.path(name, size)}', maxFilesPerTrigger => 1)"
            columns = f"{key} BIGINT, {value} DOUBLE, at BIGINT"
            engine.sql(f"CREATE STREAM {name} ({columns}) SOURCE {source} ORDERED BY at")
        source = f"parquet(path => '{self.path('k', size)}')"
        engine.sql(f"CREATE RELATION k (a BIGINT, b BIGINT, name STRING) SOURCE {source}")
        return engine


def spark_seconds(spark: SparkSession, world: World, size: int) -> float:
    """The same lookup by Spark alone."""
    table = spark.read.parquet(str(world.path("k", size)))
    stream = spark.readStream.schema("a BIGINT, v DOUBLE, at BIGINT").option(
        "maxFilesPerTrigger", 1
    )
    rows = stream.parquet(str(world.path("r", size))).join(table, "a").select("v", "name", "at")
    with tempfile.TemporaryDirectory(prefix="checkpoint-") as checkpoint:
        writer = rows.writeStream.format("noop").option("checkpointLocation", checkpoint)
        query = writer.trigger(availableNow=True).start()
        query.awaitTermination()
        batches = [batch["durationMs"]["triggerExecution"] for batch in query.recentProgress]
    return sum(batches[1 : world.ticks]) / 1000


@dataclass(frozen=True)
class Case:
    """One thing to measure; a relation of up to `broadcast` bytes goes to every partition."""

    name: str
    sql: str
    size: int
    broadcast: int
    goal: float | None


def cases(quick: bool) -> Iterator[Case]:
    ways = {"broadcast": 1000 * LARGE, "co-partitioned": 0}
    usual = {SMALL: ["broadcast"], LARGE: ["co-partitioned"]}
    for size in (SMALL, LARGE):
        for way in usual[size] if quick else ways:
            yield Case(f"lookup in {size:,} rows, {way}", LOOKUP, size, ways[way], EXACT)
        if not quick:
            yield Case(f"star through {size:,} rows, exact", STAR, size, LARGE // 10, None)
        for policy in POLICIES[:1] if quick else POLICIES:
            shed = f"{STAR} SHED TO {BOUND} ROWS BY p.v, q.w USING {policy}"
            yield Case(f"star through {size:,} rows, {policy}", shed, size, LARGE // 10, SHEDDING)


def figure(case: Case, rate: float) -> Figure:
    return Figure(case.name, "rate", "M rows/s", rate / 1e6, goal=case.goal and case.goal / 1e6)


def _query(world: World, spark: SparkSession, sql: str, size: int) -> tm.Query:
    query = world.engine(spark, size).sql(sql)
    assert query is not None
    return query


def measured(world: World, asked: Options) -> Iterator[Figure]:
    rows = (world.ticks - 1) * TICK
    with tm.Engine() as starter:
        spark = starter.spark
        rates: dict[str, float] = {}
        # The first query of a session is slow, whatever it asks.
        seconds_of(_query(world, spark, LOOKUP, SMALL), world.ticks)
        for case in cases(asked.quick):
            if asked.only not in case.name:
                continue
            with patch.object(placement, "MOST_BROADCAST", case.broadcast):
                query = _query(world, spark, case.sql, case.size)
                rates[case.name] = rows / seconds_of(query, world.ticks)
            yield figure(case, rates[case.name])
        for size in (SMALL, LARGE):
            own = [rate for name, rate in rates.items() if name.startswith(f"lookup in {size:,}")]
            if own:
                alone = rows / spark_seconds(spark, world, size)
                name = f"lookup in {size:,} rows"
                yield Figure(f"{name}, by Spark alone", "rate", "M rows/s", alone / 1e6)
                yield Figure(name, "best / Spark alone", "×", max(own) / alone)


def main() -> None:
    asked = options(__doc__ or "")
    ticks = 2 if asked.quick else 6
    report = Report("star join", {"rows per tick": TICK, "ticks": ticks, "bound": BOUND})
    with tempfile.TemporaryDirectory(prefix="star-") as folder:
        world = World(Path(folder), ticks)
        world.write()
        report.figures += measured(world, asked)
    present(report, "Streams that meet relations, on Spark", asked)


if __name__ == "__main__":
    main()
