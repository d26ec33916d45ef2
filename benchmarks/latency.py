"""How soon answers come: from the time of an event to the call of the function that gets them.

Files of Parquet appear every 0.2 s, written by another process, with the rows of that time. On
Spark with two cores, a COUNT by key over a minute answers in all forms, alone and with others, and
so does a join with an aggregate above it. Spark's own `groupBy().count()` in update mode reads
files of the same kind in the same session. Its answers tell no instants, so it is compared by the
newest row of every key that a tick has changed, on both sides. (Its real-time mode has neither
files nor state.) At last, what a tick costs, and where its time goes.
"""

from __future__ import annotations

from benchmarks._harness import Figure, Report, options, present  # isort: split

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

import tidemill as tm

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PAUSE = 0.2
KEYS = 1_000
CATEGORIES = 20

COUNTS = "SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 60 SECONDS) GROUP BY item"
OTHERS = [
    f"SELECT item, {what} AS n FROM bid WINDOW(RANGE {seconds} SECONDS) WHERE price > {least} "
    "GROUP BY item"
    for what, seconds, least in [
        ("COUNT(*)", 30, 10), ("MAX(price)", 60, 0), ("SUM(price)", 10, 0), ("COUNT(*)", 60, 50),
        ("MIN(price)", 60, 0), ("AVG(price)", 60, 0), ("COUNT(*)", 5, 90),
    ]
]  # fmt: skip
TWO_STAGES = (
    "SELECT c.category, COUNT(*) AS n "
    "FROM bid WINDOW(RANGE 10 SECONDS) JOIN auction AS c WINDOW(RANGE 60 SECONDS) "
    "ON bid.item = c.item GROUP BY c.category"
)


def main() -> None:
    asked = options(__doc__ or "")
    spans = (2.0, 4.0) if asked.quick else (10.0, 20.0)
    report = Report("latency", {"file every": PAUSE, "warm-up and measured": spans, "keys": KEYS})
    engine = tm.Engine()
    bench = Bench(engine, *spans)
    for case in QUICK if asked.quick else ALL:
        if asked.only in case.name:
            report.figures += bench.figures(case)
    if asked.only in "ticks":
        report.figures += ticks(engine)
    engine.close()
    present(report, "From event to result", asked)


@dataclass(frozen=True)
class Case:
    """Queries over streams of a rate; goals are for the middle and the 99th percentile."""

    name: str
    rate: int
    form: str = "changes"
    queries: tuple[str, ...] = (COUNTS,)
    goals: tuple[float | None, float | None] = (None, None)
    against_spark: bool = False


FIRST = Case("COUNT by key, 50,000 rows/s, changes", 50_000, goals=(0.35, 0.8), against_spark=True)
LIVE = Case("COUNT by key, 50,000 rows/s, live", 50_000, "live", goals=(0.35, 0.8))
SLOW = Case("COUNT by key, 1,000 rows/s, changes", 1_000, goals=(0.3, None))
STAGES = Case("join, then COUNT, 1,000 rows/s", 1_000, queries=(TWO_STAGES,), goals=(0.6, None))
QUICK = (FIRST, SLOW, STAGES)
ALL = (
    FIRST,
    LIVE,
    Case("COUNT by key, 50,000 rows/s, intervals", 50_000, "intervals"),
    Case("COUNT by key, 50,000 rows/s, snapshot", 50_000, "snapshot"),
    Case("COUNT by key, 200,000 rows/s, changes", 200_000),
    SLOW,
    Case("COUNT by key, 1,000 rows/s, live", 1_000, "live", goals=(0.3, None)),
    STAGES,
    Case("join, then COUNT, 50,000 rows/s", 50_000, queries=(TWO_STAGES,)),
    Case("8 queries, 1,000 rows/s", 1_000, queries=(COUNTS, *OTHERS)),
    Case("8 queries, 50,000 rows/s", 50_000, queries=(COUNTS, *OTHERS)),
)


@dataclass
class Heard:
    """What a query has told, and how long after the events."""

    form: str
    since: float = float("inf")
    waits: list[float] = field(default_factory=list)
    newest: list[float] = field(default_factory=list)
    frontier: int = -1
    first: float | None = None

    def __call__(self, rows: pa.Table, tick: int) -> None:
        now = time.time()
        self.first = self.first or now
        frame = pl.DataFrame(rows)
        at = {"changes": "changed_at", "snapshot": "snapshot_at", "intervals": "valid_to"}
        name = at.get(self.form, "valid_from")
        frame = frame.with_columns(pl.col(name).dt.timestamp("us").alias("at"))
        frame = frame.filter(pl.col("at").is_not_null())
        if self.form == "changes":
            frame = frame.filter(pl.col("change") == "+")
        if self.form == "live":
            # Rows that go on begin where those of the tick before were cut.
            frame = frame.filter(pl.col("at") != self.frontier)
            ends = pl.DataFrame(rows)["valid_to"].dt.timestamp("us")
            self.frontier = int(ends.max() or self.frontier)  # type: ignore[arg-type]
        if now < self.since or not frame.height:
            return
        self.waits += (now - frame["at"] / 1e6).to_list()
        latest = frame.group_by(frame.columns[0]).agg(pl.col("at").max())["at"]
        self.newest += (now - latest / 1e6).to_list()


class Bench:
    """Measures cases one after the other, each with files of its own."""

    def __init__(self, engine: tm.Engine, warm_up: float, measured: float) -> None:
        self._engine = engine
        self._warm_up = warm_up
        self._measured = measured

    def figures(self, case: Case) -> Iterator[Figure]:
        heard = self._run(case)
        middle, last = np.percentile(heard.waits, [50, 99])
        yield Figure(case.name, "p50", "s", float(middle), goal=case.goals[0], less=True)
        yield Figure(case.name, "p99", "s", float(last), goal=case.goals[1], less=True)
        if case.against_spark:
            theirs = self._run_spark(case)
            for part in (50, 99):
                own, other = (float(np.percentile(w, part)) for w in (heard.newest, theirs))
                yield Figure(case.name, f"p{part} of Spark's own", "s", other)
                yield Figure(case.name, f"Spark's own / ours, p{part}", "×", other / own, goal=1.0)

    def _run(self, case: Case) -> Heard:
        with arriving(case.rate) as folder:
            self._declare(folder)
            graph = self._engine.run()
            heard = [Heard(case.form) for _ in case.queries]
            for number, (sql, ears) in enumerate(zip(case.queries, heard, strict=True)):
                query = self._engine.sql(sql)
                assert isinstance(query, tm.Query)
                query.start(ears, form=case.form, name=f"q{number}")
            self._listen(heard[0])
            graph.stop()
        return heard[0]

    def _listen(self, heard: Heard) -> None:
        while heard.first is None:
            time.sleep(0.1)
        time.sleep(self._warm_up)
        heard.since = time.time()
        time.sleep(self._measured)

    def _declare(self, folder: Path) -> None:
        for name, columns in (("bid", "price DOUBLE"), ("auction", "category BIGINT")):
            self._engine.sql(f"DROP STREAM IF EXISTS {name}")
            self._engine.sql(
                f"CREATE STREAM {name} (item BIGINT, {columns}, ts TIMESTAMP) "
                f"SOURCE parquet(path => '{folder / name}') ORDERED BY ts"
            )

    def _run_spark(self, case: Case) -> list[float]:
        from pyspark.sql import functions as F

        spark: SparkSession = self._engine.spark
        heard = Heard("update")

        def hear(rows: DataFrame, batch: int) -> None:
            found = pl.DataFrame(rows.toArrow())["at"].dt.timestamp("us")
            now = time.time()
            heard.first = heard.first or now
            if now >= heard.since:
                heard.newest += (now - found / 1e6).to_list()

        with arriving(case.rate) as folder, tempfile.TemporaryDirectory() as checkpoint:
            spark.conf.set("spark.sql.shuffle.partitions", "2")
            bids = spark.readStream.schema("item BIGINT, price DOUBLE, ts TIMESTAMP_NTZ")
            counts = bids.parquet(str(folder / "bid")).groupBy("item")
            counted = counts.agg(F.count("*").alias("n"), F.max("ts").alias("at"))
            writer = counted.writeStream.outputMode("update").foreachBatch(hear)
            running = writer.option("checkpointLocation", checkpoint).start()
            self._listen(heard)
            running.stop()
        return heard.newest


@contextmanager
def arriving(rate: int) -> Iterator[Path]:
    """Folders in which files appear while the block lasts."""
    context = get_context("spawn")
    with tempfile.TemporaryDirectory(prefix="latency-") as name:
        for stream in ("bid", "auction", "made"):
            (Path(name) / stream).mkdir()
        process = context.Process(target=write_files, args=(name, rate), daemon=True)
        process.start()
        try:
            yield Path(name)
        finally:
            process.kill()
            process.join()


def write_files(folder: str, rate: int) -> None:
    """Write the rows of the last moments, again and again."""
    random = np.random.default_rng(1)
    number, due = 0, time.time()
    while True:
        due += PAUSE
        time.sleep(max(0.0, due - time.time()))
        for name, count in (("bid", int(rate * PAUSE)), ("auction", KEYS // 50)):
            at = np.sort((due - random.random(count) * PAUSE) * 1e6).astype(np.int64)
            other: dict[str, Any] = {"price": random.random(count) * 100}
            if name == "auction":
                other = {"category": random.integers(0, CATEGORIES, count)}
            table = pa.table(
                {
                    "item": random.integers(0, KEYS, count),
                    **other,
                    "ts": pa.array(at, pa.timestamp("us")),
                }
            )
            made = Path(folder) / "made" / f"{number:06d}.parquet"
            pq.write_table(table, made)
            made.rename(Path(folder) / name / f"{number:06d}.parquet")
        number += 1


def ticks(engine: tm.Engine) -> Iterator[Figure]:
    """What a tick costs by itself, with rows that are pushed, and how that splits."""
    random = np.random.default_rng(1)
    engine.stream("pushed", pa.schema({"item": pa.int64(), "ts": pa.int64()}), time="ts")
    graph = engine.run(every=None)
    query = engine.sql("SELECT item, COUNT(*) AS n FROM pushed WINDOW(RANGE 300) GROUP BY item")
    assert isinstance(query, tm.Query)
    running = query.start(lambda rows, tick: None, name="ticks")
    now = 0
    for count, goal in ((0, 0.1), (1_000, 0.2), (100_000, None)):
        seconds, phases = [], list[dict[str, float]]()
        for _ in range(25):
            now += 1
            if count:
                items = random.integers(0, KEYS, count)
                engine.push("pushed", pa.table({"item": items, "ts": np.full(count, now)}))
            began = time.perf_counter()
            graph.tick()
            seconds.append(time.perf_counter() - began)
            phases.append(dict(running.progress.phases))
        case = f"a tick with {count:,} rows"
        yield Figure(case, "time", "s", median(seconds[5:]), goal=goal, less=True)
        for phase in phases[-1]:
            yield Figure(case, phase, "s", median(each.get(phase, 0.0) for each in phases[5:]))
    graph.stop()


if __name__ == "__main__":
    main()
