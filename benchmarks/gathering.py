"""What gathering statistics costs, as a share of queries in process, and a sketch alone.

The clock counts inside and outside of gathering in the same run, so that the ratio tells the
difference and not the weather. The goal is less than three percent.
"""

from __future__ import annotations

from benchmarks._harness import Figure, Report, options, present, timed  # isort: split

import time
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
import polars as pl
import pyarrow as pa

import tidemill as tm
from tidemill.runtime.operator_progress import OperatorProgress
from tidemill.runtime.statistics.sketch import RecentDistinct, Sketch
from tidemill.runtime.statistics.sources import SourceSample, SourceStatistics

GOAL = 3.0
ITEMS, BIDDERS = 1_000, 10_000_000
QUERIES = {
    "filter": "SELECT item, price FROM bid WHERE price < 500",
    "count": "SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 1000) GROUP BY item",
    "five columns": "SELECT item, bidder, price, MAX(name) AS name, SUM(extra) AS extra "
    "FROM bid WINDOW(RANGE 1000) GROUP BY item, bidder, price",
    "join": "SELECT b.bidder, a.price FROM bid b WINDOW(RANGE 1000) "
    "JOIN ask a WINDOW(RANGE 1000) ON a.item = b.item",
}


def stream(rows: int, tick: int, seed: int) -> list[pa.Table]:
    """Random rows, in ticks of a size, ten rows per instant."""
    random = np.random.default_rng(seed)
    whole = pl.DataFrame(
        {
            "item": random.integers(0, ITEMS, rows),
            "bidder": random.integers(0, BIDDERS, rows),
            "price": random.integers(0, 1_000, rows),
            "extra": random.random(rows),
            "at": np.arange(rows) // 10,
        }
    )
    whole = whole.with_columns(name="bidder " + pl.col("bidder").cast(pl.String))
    return [part.to_arrow() for part in whole.iter_slices(tick)]


def shares(query: tm.Query, repeat: int) -> tuple[float, float]:
    """The seconds of a query without gathering, and those of gathering: those of the best run."""
    runs = []
    for _ in range(repeat):
        inside = 0.0

        def counted(action: Callable[..., Any]) -> Callable[..., Any]:
            def call(*arguments: Any, **options: Any) -> Any:
                nonlocal inside
                # Of this thread only: those of DuckDB may still be busy with a filter.
                begin = time.thread_time()
                found = action(*arguments, **options)
                inside += time.thread_time() - begin
                return found

            return call

        with (
            patch.object(SourceSample, "of", staticmethod(counted(SourceSample.of))),
            patch.object(SourceStatistics, "take", counted(SourceStatistics.take)),
            patch.object(OperatorProgress, "count_in", counted(OperatorProgress.count_in)),
        ):
            whole = timed(lambda: sum(1 for _ in query.ticks()))
        runs.append((whole - inside, inside))
    return min(runs, key=sum)


def sketch_cost(values: pl.Series, tick: int) -> float:
    """Nanoseconds per row."""

    def run() -> None:
        column = RecentDistinct()
        for part in values.to_frame().iter_slices(tick):
            sketch = Sketch()
            sketch.add(part.to_series())
            column.merge(sketch, part.height)
        assert column.estimate > 0

    return min(timed(run) for _ in range(3)) / len(values) * 1e9


def overheads(rows: int, ticks: tuple[int, ...], repeat: int, only: str) -> list[Figure]:
    figures = []
    for tick in ticks:
        engine = tm.Engine(runtime="inprocess")
        engine.stream("bid", stream(rows, tick, 1), time="at")
        engine.stream("ask", stream(rows, tick, 2), time="at")
        for name, sql in QUERIES.items():
            query = engine.sql(sql)
            if only in name and query is not None:
                without, inside = shares(query, repeat)
                case = f"{name}, ticks of {tick:,} rows"
                share = inside / without * 100
                figures.append(Figure(case, "gathering", "%", share, goal=GOAL, less=True))
                figures.append(Figure(case, "all else", "ns/row", without / rows * 1e9))
    return figures


def sketches(rows: int) -> list[Figure]:
    random = np.random.default_rng(3)
    columns: dict[str, Callable[[], pl.Series]] = {
        "integers, 1,000 values": lambda: pl.Series(random.integers(0, 1_000, rows)),
        "integers, all different": lambda: pl.Series(random.permutation(rows)),
        "texts, 100,000 values": lambda: (
            "key " + pl.Series(random.integers(0, 100_000, rows)).cast(pl.String)
        ),
    }
    return [
        Figure(f"sketch of {name}, ticks of {tick:,}", "cost", "ns/row", sketch_cost(make(), tick))
        for name, make in columns.items()
        for tick in (1_000, 100_000)
    ]


def main() -> None:
    asked = options(__doc__ or "")
    rows, repeat = (200_000, 3) if asked.quick else (1_000_000, 5)
    report = Report("gathering", {"rows": rows})
    report.figures += overheads(rows, (10_000, 200_000), repeat, asked.only)
    report.figures += sketches(rows)
    present(report, "What gathering statistics costs", asked)


if __name__ == "__main__":
    main()
