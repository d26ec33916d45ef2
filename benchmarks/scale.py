"""What a tick costs beyond one machine: the constants of the model in `docs/scale.md`, measured.

The driver is measured alone: its tasks travel as they do on Spark, and the time in which they run
is taken out. What Spark itself needs for a task is measured with tasks that do nothing. Round trips
to shared storage are counted, and checked with a storage that is slowed by a known delay. At last
the model says what a tick costs on 64 executors.
"""

from __future__ import annotations

from benchmarks._harness import Figure, Report, options, present  # isort: split

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
from pyarrow import fs

import tidemill as tm
from tidemill.engine.environment import Environment
from tidemill.runtime.fabric import InProcess
from tidemill.runtime.sending import Sent
from tidemill.runtime.travelling import Travelling
from tidemill.store import using
from tidemill.store.remote import RemoteDisk

COUNTS = "SELECT item, COUNT(*) AS n FROM s0 WINDOW(RANGE 60) GROUP BY item"
TWO_STAGES = (
    "SELECT a.price, COUNT(*) AS n FROM s0 AS a WINDOW(RANGE 9) JOIN s1 AS b WINDOW(RANGE 9) "
    "ON a.item = b.item GROUP BY a.price"
)
DELAY = 0.005
"""Seconds that the slowed storage takes for everything."""


class Apart(Travelling):
    """Calls tasks here, and knows how long they and the driver took."""

    writes_spark_formats = False
    has_local_paths = True
    direct = 4 << 20
    check = InProcess.check
    write = InProcess.write

    def __init__(self, partitions: int) -> None:
        super().__init__(partitions)
        self.in_tasks = 0.0
        self.disk = SlowDisk(0.0)
        self.longest = 0

    def call(self, tasks: Sequence[Sent], title: str) -> list[bytes]:
        began, before = time.process_time(), self.disk.calls
        found = []
        longest = 0
        for task in tasks:
            calls = self.disk.calls
            found.append(task())
            longest = max(longest, self.disk.calls - calls)
        self.in_tasks += time.process_time() - began
        self.disk.calls = before
        self.longest += longest
        return found


class SlowDisk(RemoteDisk):
    """Shared storage that counts round trips, one after the other, and takes its time for each."""

    def __init__(self, delay: float) -> None:
        super().__init__(fs.LocalFileSystem())
        self._delay = delay
        self.calls = 0

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name not in _TRIPS:
            return found
        return lambda *args, **options: self._after_a_while(found, *args, **options)

    def _after_a_while(self, work: Callable[..., Any], *args: Any, **options: Any) -> Any:
        self.calls += 1
        time.sleep(self._delay)
        return work(*args, **options)


_TRIPS = ("write", "rename", "unlink", "remove_folder", "read", "buffer", "part", "mapped", "size",
          "exists", "names")  # fmt: skip


@dataclass(frozen=True)
class Case:
    """Queries over streams in partitions, with so many rows of each stream in a tick."""

    partitions: int = 8
    streams: int = 2
    rows: int = 100
    queries: Sequence[str] = (COUNTS,)


@dataclass(frozen=True)
class Cost:
    """What a tick takes: seconds of the driver, of all tasks, and by the clock; then round trips to
    the storage, of the driver and of the task of each stage that makes most."""

    driver: float
    tasks: float
    wall: float
    driver_calls: float
    task_calls: float


def cost(case: Case, ticks: int, delay: float = 0.0) -> Cost:
    """The middle of some ticks, after two others."""
    fabric = Apart(case.partitions)
    fabric.disk = SlowDisk(delay)
    with using(fabric.disk), _graph(case, fabric) as graph:
        found = []
        for number in range(ticks + 2):
            _push(graph.engine, case, number)
            fabric.in_tasks, fabric.disk.calls, fabric.longest = 0.0, 0, 0
            began, clock = time.process_time(), time.perf_counter()
            graph.tick()
            spent, wall = time.process_time() - began, time.perf_counter() - clock
            calls = fabric.disk.calls, fabric.longest
            found.append((spent - fabric.in_tasks, fabric.in_tasks, wall, *calls))
        for name, error in graph.failures.items():
            raise RuntimeError(name) from error
    return Cost(*(median(each) for each in zip(*found[2:], strict=True)))


class _Graph:
    def __init__(self, engine: tm.Engine, running: Any) -> None:
        self.engine = engine
        self.tick = running.tick
        self._running = running

    @property
    def failures(self) -> dict[str, Exception]:
        return dict(self._running.run.failures) if hasattr(self._running, "run") else {}


@contextmanager
def _graph(case: Case, fabric: Travelling) -> Iterator[_Graph]:
    with (
        tempfile.TemporaryDirectory(prefix="tidemill-scale-") as folder,
        patch.object(Environment, "_fabric", lambda self: fabric),
    ):
        engine = tm.Engine("inprocess")
        columns = pa.schema([("item", pa.int64()), ("price", pa.int64()), ("at", pa.int64())])
        for number in range(case.streams):
            engine.stream(f"s{number}", columns, time="at")
        running = engine.run(checkpoint=folder, every=None)
        for sql in case.queries:
            engine.sql(sql).start(lambda rows, tick: None)
        try:
            yield _Graph(engine, running)
        finally:
            running.stop()
            engine.close()


def _push(engine: tm.Engine, case: Case, tick: int) -> None:
    random = np.random.default_rng(tick)
    for number in range(case.streams):
        at = np.sort(tick * 10 + random.integers(0, 10, case.rows))
        columns = [random.integers(0, 1000, case.rows), random.integers(0, 20, case.rows), at]
        engine.push(
            f"s{number}", pa.table(dict(zip(["item", "price", "at"], columns, strict=True)))
        )


def mixed(count: int) -> list[str]:
    """Queries that share little: windows of other lengths over filters of other constants."""
    return [
        f"SELECT item, COUNT(*) AS n FROM s{number % 2} WINDOW(RANGE {5 + number % 50}) "
        f"WHERE price > {number % 20} AND item <> {number} GROUP BY item"
        for number in range(count)
    ]


def main() -> None:
    asked = options(__doc__ or "")
    report = Report("scale", {"delay": DELAY, "quick": asked.quick})
    sections = {
        "partitions": by_partitions,
        "rows": by_rows,
        "queries": by_queries,
        "streams": by_streams,
        "storage": by_storage,
        "spark": on_spark,
    }
    for name, section in sections.items():
        if asked.only in name:
            report.figures += section(asked.quick)
    present(report, "What a tick costs beyond one machine", asked)


def by_partitions(quick: bool) -> Iterator[Figure]:
    """The driver's work for each partition must not grow with their number."""
    counts = (16, 128) if quick else (16, 128, 1000)
    ticks = 3
    for name, queries, rows in [
        ("one stage", (COUNTS,), 100),
        ("two stages", (TWO_STAGES,), 100),
        ("two stages, rows dealt out", (TWO_STAGES,), 200_000),
    ]:
        if quick and rows > 1000:
            continue
        # Tasks that read bundles of 1,000 others one after the other would take minutes here.
        some = counts if rows <= 1000 else (16, 64, 256)
        each = {n: cost(Case(n, 2, rows, queries), ticks) for n in some}
        for partitions, found in each.items():
            yield Figure(
                f"{name}, {partitions} partitions", "driver per partition", "ms",
                1000 * found.driver / partitions,
            )  # fmt: skip
        first, last = some[-2], some[-1]
        growth = (each[last].driver / each[first].driver) / (last / first)
        what = f"driver's work per partition, {last} to {first}"
        yield Figure(name, what, "times", growth, goal=1.25, less=True)


def by_rows(quick: bool) -> Iterator[Figure]:
    """Rows never pass the driver."""
    few, many = 1_000, 100_000 if quick else 1_000_000
    a, b = (cost(Case(16, 2, rows), 3) for rows in (few, many))
    for rows, found in ((few, a), (many, b)):
        yield Figure(f"{rows:,} rows", "driver per tick", "ms", 1000 * found.driver)
    # Rows that are dealt out by one more job cost the driver that job.
    yield Figure("rows", "driver, many to few", "times", b.driver / a.driver, goal=2.0, less=True)


def by_queries(quick: bool) -> Iterator[Figure]:
    few, many = (10, 100) if quick else (10, 500)
    a, b = (cost(Case(8, 2, 100, mixed(count)), 3) for count in (few, many))
    yield Figure("queries", "driver per query", "ms", 1000 * (b.driver - a.driver) / (many - few))
    each = 1000 * (b.tasks - a.tasks) / (many - few) / 8
    yield Figure("queries", "a task per query", "ms", each)


def by_streams(quick: bool) -> Iterator[Figure]:
    few, many = 2, 50 if quick else 100
    unions = [
        " UNION ALL ".join(f"SELECT item FROM s{n} WINDOW(RANGE 5)" for n in range(count))
        for count in (few, many)
    ]
    a, b = (
        cost(Case(8, count, 100, [sql]), 3) for count, sql in zip((few, many), unions, strict=True)
    )
    yield Figure("streams", "driver per stream", "ms", 1000 * (b.driver - a.driver) / (many - few))


def by_storage(quick: bool) -> Iterator[Figure]:
    """Round trips one after the other; what they are said to cost is what they cost."""
    for name, case in [
        ("one stage", Case(4)),
        ("two stages", Case(4, queries=(TWO_STAGES,))),
        ("two stages, rows dealt out", Case(4, rows=200_000, queries=(TWO_STAGES,))),
    ][: 2 if quick else 3]:
        found = cost(case, 3)
        yield Figure(f"storage, {name}", "calls of the driver", "per tick", found.driver_calls)
        yield Figure(f"storage, {name}", "calls of a task", "per tick", found.task_calls)
    quick_one, slow_one = (cost(Case(1), 5, delay) for delay in (0.0, DELAY))
    said = DELAY * (slow_one.driver_calls + slow_one.task_calls)
    ratio = (slow_one.wall - quick_one.wall) / said
    yield Figure("storage, slowed", "measured to said", "times", ratio)


def on_spark(quick: bool) -> Iterator[Figure]:
    """What Spark itself needs for tasks that do nothing, in workers that are there."""
    from tidemill.runtime.spark.workers import Workers

    engine = tm.Engine()
    workers = Workers(engine.spark.sparkContext)
    few, many = (2, 8) if quick else (2, 24)
    seconds = {count: _job(workers, count) for count in (few, many)}
    yield Figure("Spark", "a job of two tasks", "ms", 1000 * seconds[few])
    each = 1000 * (seconds[many] - seconds[few]) / (many - few)
    yield Figure("Spark", "one more task, on two cores", "ms", each)
    engine.close()


def _job(workers: Any, count: int) -> float:
    times = []
    for _ in range(12):
        began = time.perf_counter()
        workers.call([Nothing()] * count, "nothing")
        times.append(time.perf_counter() - began)
    return median(times[4:])


class Nothing:
    """A task without work."""

    def __call__(self) -> bytes:
        return b""


if __name__ == "__main__":
    main()
