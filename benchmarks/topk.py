"""The first objects of incomplete streams, by each strategy: rows per second, and what is kept.

Three streams tell about objects, no more than once each, one row at every instant; asked are the
10 or 100 objects with the largest sum of values in a window of 1 thousand to 1 million rows, at
every instant. `plain` groups, sorts and cuts.

- *alone*: the operators in this process, seconds of one core, ticks of 50 thousand rows. The window
  is full before the clock starts. State is what is kept after the last tick: rows (of EAA and
  APPROXIMATE instances, as in the text; of `plain` those of both its operators), and bytes of
  memory, of which much is room for the rows of a tick. Precision is the share of the true first
  objects that is found, at 50 instants. All is pruned at the ends of ticks: where a window is
  shorter than a tick, approximate answers are nearly exact, and memory within a tick is larger.
- *Spark*: two cores, ticks of 1 million rows from Parquet files, from the end of the first tick.
- *Flink*: two cores, from CSV files, the second run of two; not in quick runs, and only if
  `make bench-peers` was run. It can ask for the first rows of windows that hop, by
  ROW_NUMBER() <= k, here ten times per window; not for what comes and expires row by row: sums
  over groups never expire, and an OVER window says nothing when a row leaves it.

Goals that are missed are reported; they do not make the run fail.
"""

from __future__ import annotations

from benchmarks._harness import Figure, Options, Report, options, present, seconds_of, timed  # isort: split

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa

import tidemill as tm
from benchmarks.auction import flink
from benchmarks.auction.worker import Request, Worker, WorkerFailed
from experiments.ranking.incomplete import Arrivals, IncompleteStreams
from tidemill.algebra import AggregateCall, Scan, Schema, column
from tidemill.algebra.ranking import Promise, Ranked, Ranking, Strategy
from tidemill.errors import TidemillError
from tidemill.physical.lowering import lower
from tidemill.physical.operator import Exec, with_validity
from tidemill.runtime.operators import Graph
from tidemill.timeline import OPEN_END, VALID_FROM, VALID_TO

STREAMS = 3
# With this C the exact algorithm keeps, of a window of 1,000 rows, what it keeps in the text.
DATA = IncompleteStreams(STREAMS, recent=60, xi=0.5)
PLAIN = "plain"
STRATEGIES = (PLAIN, *Strategy)
TICK, SPARK_TICK = 50_000, 1_000_000
EVALUATIONS = 50

SPARK_WINDOW, SPARK_LIMIT = 100_000, 10
SPARK_GOALS = {Strategy.EAA: 3e5, Strategy.APPROXIMATE: 5e5}  # rows per second
# Where the text gives sizes: of 1,000 rows, EAA keeps 345 instances, and the approximate one 69.
TEXT_WINDOW, TEXT_LIMIT = 1_000, 10
STATE_GOALS = {Strategy.EAA: 1000 / 345, Strategy.APPROXIMATE: 5.0}


@dataclass(frozen=True)
class Effort:
    rows: int
    windows: tuple[int, ...]
    limits: tuple[int, ...]
    spark_ticks: int
    flink: bool


FULL = Effort(1_000_000, (1_000, 100_000, 1_000_000), (10, 100), 6, flink=True)
QUICK = Effort(100_000, (1_000, 100_000), (10,), 2, flink=False)


# The operators alone


def ranking(window: int, limit: int, strategy: Strategy) -> Ranking:
    """The question; the column `stream` tells which stream a row is of."""
    schema = Schema.of(stream=pa.int64(), id=pa.int64(), value=pa.float64())
    calls = (AggregateCall("score", "SUM", "s.value", pa.float64()),)
    items = (("id", column("s.id", pa.int64())), ("score", column("score", pa.float64())))
    promises = (Promise(1, (1.0,)),) * STREAMS
    return Ranking(
        Scan("s", "s", schema),
        Ranked(
            ("s.id",), calls, items, "score", limit, window, None, promises, "s.stream", strategy
        ),
    )


def operators(window: int, limit: int, strategy: Strategy | str) -> Exec:
    if isinstance(strategy, Strategy):
        return lower(ranking(window, limit, strategy), {})
    return lower(ranking(window, limit, Strategy.EAA).exact, {})


def batches(rows: Arrivals) -> Iterator[tuple[pl.DataFrame, int]]:
    for begin in range(0, len(rows), TICK):
        part = slice(begin, begin + TICK)
        columns = {
            "s.stream": rows.stream[part],
            "s.id": rows.id[part],
            "s.value": rows.value[part],
        }
        at = np.arange(begin, begin + len(columns["s.id"]))
        yield with_validity(pl.DataFrame(columns), at, at + 1), int(at[-1])


@dataclass(frozen=True)
class Kept:
    """What operators keep."""

    rows: float
    bytes: int


def kept(graph: Graph) -> Kept:
    rows = sum(node.state_rows for node in graph.progress)
    for node in graph.progress:
        rows = node.measures.get("ranking_instances", rows)
    return Kept(rows, sum(node.state_bytes for node in graph.progress))


@dataclass(frozen=True)
class Run:
    """Rows per second, what is kept at the end, and which objects were among the first, when."""

    rate: float
    kept: Kept
    answers: pl.DataFrame

    def objects(self, at: int) -> set[int]:
        held = (pl.col(VALID_FROM) <= at) & (pl.col(VALID_TO) > at)
        return set(self.answers.filter(held)["id"])


def run_alone(root: Exec, rows: Arrivals, filling: int) -> Run:
    """The clock starts after the first rows."""
    graph, spent, answers = Graph(root), 0.0, []
    for number, arrival in enumerate(batches(rows)):
        found: list[pl.DataFrame] = []
        seconds = timed(lambda arrival=arrival: found.append(graph.step([arrival])[0][0]))  # noqa: B023
        spent += seconds if number * TICK >= filling else 0.0
        answers += found
    held = kept(graph)
    answers.append(graph.step([(arrival[0].clear(), OPEN_END)])[0][0])
    return Run((len(rows) - filling) / spent, held, pl.concat(answers))


def precision(run: Run, exact: Run, instants: np.ndarray) -> float:
    """The share of the true first objects that was found, on average."""
    pairs = [(run.objects(at), exact.objects(at)) for at in instants.tolist()]
    return float(np.mean([len(own & true) / len(true) for own, true in pairs]))


def alone(effort: Effort, asked: Options) -> Iterator[Figure]:
    """All strategies."""
    for window in effort.windows:
        filling = max(TICK, window)
        rows = DATA.generate(filling + effort.rows, seed=1)
        instants = np.linspace(filling, len(rows) - 1, EVALUATIONS).astype(int)
        for limit in effort.limits:
            runs: dict[Strategy | str, Run] = {}
            for strategy in STRATEGIES:
                case = f"alone, {window:,} rows, k = {limit}, {name_of(strategy)}"
                if asked.only in case:
                    run = run_alone(operators(window, limit, strategy), rows, filling)
                    runs[strategy] = run
                    yield Figure(case, "rate", "M rows/s", run.rate / 1e6)
                    yield Figure(case, "kept", "rows", run.kept.rows)
                    yield Figure(case, "state", "kB", run.kept.bytes / 1e3)
                    if PLAIN in runs:
                        found = precision(run, runs[PLAIN], instants)
                        yield Figure(case, "precision", "", found)
            if (window, limit) == (TEXT_WINDOW, TEXT_LIMIT):
                yield from compared({strategy: run.kept for strategy, run in runs.items()})


def compared(sizes: dict[Strategy | str, Kept]) -> Iterator[Figure]:
    """How much less than SLA the others keep, as far as they were run."""
    case = f"alone, {TEXT_WINDOW:,} rows, k = {TEXT_LIMIT}"
    for strategy, goal in STATE_GOALS.items():
        if {strategy, Strategy.SLA} <= set(sizes):
            own, all_rows = sizes[strategy], sizes[Strategy.SLA]
            metric = f"SLA / {name_of(strategy)}"
            yield Figure(case, f"{metric}, rows", "×", all_rows.rows / own.rows, goal=goal)
            yield Figure(case, f"{metric}, bytes", "×", all_rows.bytes / own.bytes)


def name_of(strategy: Strategy | str) -> str:
    return strategy.name if isinstance(strategy, Strategy) else strategy


# On Spark


@dataclass(frozen=True)
class World:
    """The streams as files, a third of each tick in each; and all rows as CSV, for Flink."""

    folder: Path
    ticks: int

    def write(self) -> None:
        rows = pl.DataFrame(DATA.generate(self.ticks * SPARK_TICK, seed=2).table())
        for stream in range(STREAMS):
            (self.folder / f"s{stream}").mkdir()
        for tick in range(self.ticks):
            part = rows.slice(tick * SPARK_TICK, SPARK_TICK)
            for stream in range(STREAMS):
                own = part.filter(pl.col("stream") == stream).drop("stream")
                own.write_parquet(self.folder / f"s{stream}" / f"{tick:03d}.parquet")

    def write_csv(self, slots: int) -> Path:
        """One file for each slot, in order of time; an instant is a millisecond."""
        folder = self.folder / "csv"
        folder.mkdir()
        streams = [self.folder / f"s{stream}" / "*.parquet" for stream in range(STREAMS)]
        rows = pl.concat([pl.read_parquet(each) for each in streams]).sort("t")
        rows = rows.select("id", "value", ts=pl.from_epoch("t", "ms"))
        for slot in range(slots):
            file = folder / f"{slot}.csv"
            rows.gather_every(slots, slot).write_csv(
                file, include_header=False, datetime_format="%Y-%m-%d %H:%M:%S%.3f"
            )
        return folder

    def query(self, engine: tm.Engine, strategy: Strategy) -> tm.Query:
        for stream in range(STREAMS):
            source = f"parquet(path => '{self.folder / f's{stream}'}', maxFilesPerTrigger => 1)"
            engine.sql(
                f"CREATE STREAM s{stream} (id BIGINT, value DOUBLE BETWEEN 0 AND 1, t BIGINT) "
                f"SOURCE {source} ORDERED BY t AT MOST 1 PER id"
            )
        rows = " UNION ALL ".join(f"s{stream}" for stream in range(STREAMS))
        hint, approximate = f"/*+ RANK({strategy.value}) */", ""
        if strategy is Strategy.APPROXIMATE:
            hint, approximate = "", "APPROXIMATE"
        query = engine.sql(
            f"SELECT {hint} id, SUM(value) AS score FROM ({rows}) WINDOW(RANGE {SPARK_WINDOW}) "
            f"GROUP BY id ORDER BY score DESC LIMIT {SPARK_LIMIT} {approximate}"
        )
        assert query is not None
        return query


def on_spark(world: World, asked: Options) -> Iterator[Figure]:
    cases = {
        strategy: f"Spark, {SPARK_WINDOW:,} rows, k = {SPARK_LIMIT}, {strategy.name}"
        for strategy in SPARK_GOALS
    }
    cases = {strategy: case for strategy, case in cases.items() if asked.only in case}
    if not cases:
        return
    rows = (world.ticks - 1) * SPARK_TICK
    with tm.Engine() as starter:
        # The first query of a session is slow, whatever it asks.
        seconds_of(world.query(tm.Engine(spark=starter.spark), next(iter(cases))), world.ticks)
        for strategy, case in cases.items():
            query = world.query(tm.Engine(spark=starter.spark), strategy)
            rate = rows / seconds_of(query, world.ticks)
            goal = SPARK_GOALS[strategy] / 1e6
            yield Figure(case, "rate", "M rows/s", rate / 1e6, goal=goal)


# In Flink


def in_flink(world: World, asked: Options) -> Iterator[Figure]:
    case = f"Flink, {SPARK_WINDOW:,} rows, k = {SPARK_LIMIT}, 10 answers per window"
    if asked.only not in case:
        return
    try:
        python = flink.interpreter()
    except TidemillError as error:
        print(f"Flink is left out: {error}")
        return
    cores = 2
    request = Request("run", f"{SPARK_WINDOW} {SPARK_LIMIT}", str(world.write_csv(cores)), cores)
    worker = Worker(str(Path(__file__).with_name("_flink_topk.py")), cores, python)
    try:
        worker.ask(request)  # what is compiled once is compiled
        seconds = worker.ask(request).spent.seconds
        yield Figure(case, "rate", "M rows/s", world.ticks * SPARK_TICK / seconds / 1e6)
    except WorkerFailed as failure:
        print(f"Flink failed: {failure}")
    finally:
        worker.close()


def main() -> None:
    asked = options(__doc__ or "")
    effort = QUICK if asked.quick else FULL
    report = Report("top-k", vars(effort) | {"quick": asked.quick, "data": str(DATA)})
    report.figures += alone(effort, asked)
    with tempfile.TemporaryDirectory(prefix="topk-") as folder:
        world = World(Path(folder), effort.spark_ticks)
        world.write()
        report.figures += on_spark(world, asked)
        if effort.flink:
            report.figures += in_flink(world, asked)
    present(report, "The first objects of incomplete streams", asked)


if __name__ == "__main__":
    main()
