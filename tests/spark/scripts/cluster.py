"""A query on two executors in processes of their own; one is killed, and a task fails once.

    python cluster.py WORK

Prints the executors that were killed, and writes the results to WORK/results.parquet.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

import tidemill as tm

ROWS, TICKS = 60, 4
QUERY = """
SELECT k, COUNT(*) AS n, SUM(shaky(v)) AS total FROM s WINDOW(RANGE 12)
WHERE NOT EXISTS (SELECT 1 FROM t WINDOW(RANGE 4) WHERE t.k = s.k)
GROUP BY k
"""


def tables() -> dict[str, list[pa.Table]]:
    """The input, also for the run that it is compared with."""
    s = [
        pa.table({"k": [r % 7 for r in n], "v": list(n), "at": [r // 6 for r in n]})
        for n in (range(tick * ROWS, (tick + 1) * ROWS) for tick in range(TICKS))
    ]
    t = [
        pa.table({"k": [tick % 7, (tick + 3) % 7], "v": [1, 2], "at": [9 * tick, 9 * tick + 3]})
        for tick in range(TICKS)
    ]
    return {"s": s, "t": t}


def session() -> SparkSession:
    python = os.pathsep.join(filter(None, sys.path))
    builder = (
        SparkSession.builder.master("local-cluster[2,1,2048]")
        .appName("tidemill-cluster-test")
        .config("spark.ui.enabled", "false")
        .config("spark.executor.memory", "1g")
        .config("spark.executorEnv.PYTHONPATH", python)
        .config("spark.executorEnv.PYSPARK_PYTHON", sys.executable)
        .config("spark.executorEnv.POLARS_MAX_THREADS", "1")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.task.maxFailures", "6")
    )
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("FATAL")
    return spark


def executors(application: str) -> list[int]:
    """The processes of the executors of an application."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if application.encode() in words and any(b"ExecutorBackend" in w for w in words):
            found.append(int(path.parent.name))
    return sorted(found)


def main(work: Path) -> None:
    spark = session()
    marker = work / "failed"

    def shaky(value: int) -> int:
        time.sleep(0.005)  # so that a tick lasts
        if value == ROWS + 5 and not marker.exists():
            marker.touch()
            os._exit(9)  # as if the worker had run out of memory
        return value

    engine = tm.Engine(spark=spark, partitions=3)
    for name, ticks in tables().items():
        engine.stream(name, ticks, time="at")
    engine.function("shaky", shaky, returns="BIGINT")
    query = engine.sql(QUERY)
    assert query is not None
    results: dict[int, pa.Table] = {}

    def keep(rows: pa.Table, tick: int) -> None:
        results[tick] = rows
        if tick == 1:
            # In the middle of the next tick.
            threading.Timer(1.0, kill).start()

    def kill() -> None:
        victim = executors(spark.sparkContext.applicationId)[0]
        os.kill(victim, signal.SIGKILL)
        print("killed", flush=True)

    running = query.start(keep, checkpoint=str(work / "checkpoint"), available_now=True)
    running.await_termination()
    pq.write_table(pa.concat_tables(results.values()), work / "results.parquet")
    print("ended", sorted(results), flush=True)
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
