"""Many queries in one running graph: how fast it ticks, what it holds, what sharing saves.

The queries are those of the mix of PIPES (Table 24.1) over 50 streams, in this process; joins are
trees of joins of two, as in the text. Times are seconds of one core. Sharing off: every query has a
graph of its own; of large numbers a sample is run and stands for all. Then queries of ten shapes,
which differ only in constants, over one stream of 10,000 rows per second.
"""

from __future__ import annotations

from benchmarks._harness import Figure, Report, options, present, timed  # isort: split

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

import pyarrow as pa

from benchmarks._shapes import RATE, SHAPES, Shapes
from experiments.adapting.mix import MINUTE, Mix
from tidemill import Engine, Query
from tidemill.engine.running import RunningGraph
from tidemill.graph.metadata import Metadata

TICK = 2_000
"""Milliseconds of the streams."""
SAMPLE = 50
ADDED = 10
_FEW_SHAPED = 100
"""With no more queries, what one of them takes is not seen."""


class Side:
    """An engine whose graph runs some queries of the mix, tick after tick."""

    def __init__(self, mix: Mix | Shapes, queries: list[str]) -> None:
        self.engine = Engine(runtime="inprocess", optimizer=["order_joins"])
        mix.declare(self.engine)
        self.graph: RunningGraph = self.engine.run(every=None)
        self.rows = 0
        self.add(queries)

    def add(self, queries: list[str], first: int = 0) -> None:
        """Start queries, all with the next tick."""
        with self.graph.together():
            for number, text in enumerate(queries, first):
                self.start(text, f"q{number}")

    def start(self, text: str, name: str) -> None:
        query = self.engine.sql(text)
        assert isinstance(query, Query)
        query.start(self._take, name=name)

    def _take(self, table: pa.Table, tick: int) -> None:
        self.rows += table.num_rows

    def tick(self, tables: dict[str, pa.Table]) -> float:
        """The seconds of a tick with these rows."""
        for name, table in tables.items():
            if table.num_rows:
                self.engine.push(name, table)
        return timed(self.graph.tick)

    @property
    def parts(self) -> int:
        return len(self.graph.operators)

    @property
    def state_bytes(self) -> int:
        return sum(node.state_bytes for node in self.graph.operators.values())


class Clock:
    """The rows of the streams, one tick after the other."""

    def __init__(self, mix: Mix) -> None:
        self._mix = mix
        self._at = 0

    def next(self, length: int = TICK) -> dict[str, pa.Table]:
        begin, self._at = self._at, self._at + length
        return self._mix.tables(begin, self._at)


def figures(mix: Mix, count: int, ticks: int) -> Iterator[Figure]:
    """All that is measured with so many queries."""
    case = f"{count:,} queries"
    texts = mix.queries(count)
    shared, clock = Side(mix, texts), Clock(mix)
    first = clock.next(MINUTE)
    shared.tick(first)
    yield Figure(case, "memory of the process", "MB", _memory())
    alone = [Side(mix, [text]) for text in texts[:: max(1, count // SAMPLE)][:SAMPLE]]
    for side in alone:
        side.tick(first)
    spent, apart, rows = [], [], 0
    for _ in range(ticks):
        tables = clock.next()
        rows += sum(table.num_rows for table in tables.values())
        spent.append(shared.tick(tables))
        apart.append(sum(side.tick(tables) for side in alone) / len(alone) * count)
    tick, off = median(spent), median(apart)
    yield Figure(case, "ticks", "per second", 1 / tick)
    covered = TICK / 1_000
    yield Figure(case, "tick / time that it covers", "", tick / covered, goal=1.0, less=True)
    yield Figure(case, "ticks, sharing off", "per second", 1 / off)
    yield Figure(case, "time of a tick, sharing off / on", "times", off / tick)
    yield Figure(case, "rows read", "per second", rows / sum(spent))
    yield from _sizes(case, shared, alone, count)
    del alone
    yield from changed(case, shared, mix, count)
    yield marginal(case, mix, texts[:SAMPLE], ticks, off / count)
    yield metadata(case, shared, clock, ticks)


def _sizes(case: str, shared: Side, alone: list[Side], count: int) -> Iterator[Figure]:
    parts = sum(side.parts for side in alone) / len(alone) * count
    state = sum(side.state_bytes for side in alone) / len(alone) * count
    yield Figure(case, "parts", "", shared.parts)
    yield Figure(case, "parts, sharing off", "", parts)
    yield Figure(case, "state of the parts, together", "MB", shared.state_bytes / 1e6)
    yield Figure(case, "state of the parts, together, sharing off", "MB", state / 1e6)


def changed(case: str, side: Side, mix: Mix, count: int) -> Iterator[Figure]:
    """What it takes to add and to remove some queries."""
    new = mix.queries(ADDED, first=count)

    def add() -> None:
        for number, text in enumerate(new):
            side.start(text, f"new{number}")

    def remove() -> None:
        for number in range(ADDED):
            side.graph.queries[f"new{number}"].stop()

    yield Figure(case, f"adding {ADDED} queries", "s", timed(add), goal=1.0, less=True)
    yield Figure(case, f"removing {ADDED} queries", "s", timed(remove), goal=1.0, less=True)


def marginal(case: str, mix: Mix, texts: list[str], ticks: int, alone: float) -> Figure:
    """What one more query like a running one costs, as a share of what it costs alone.

    Measured with some of the queries, once and twice side by side, as one more among thousands
    would not be seen.
    """
    once, twice, clock = Side(mix, texts), Side(mix, texts + texts), Clock(mix)
    more = []
    for length in [MINUTE, *[TICK] * (2 * ticks)]:
        tables = clock.next(length)
        more.append(-once.tick(tables) + twice.tick(tables))
    share = max(0.0, median(more[1:])) / len(texts) / alone
    return Figure(case, "one more like a running one, of it alone", "", share, goal=0.1, less=True)


def metadata(case: str, side: Side, clock: Clock, ticks: int) -> Figure:
    """What a subscriber to all facts about all parts costs, as a share of the ticks."""
    stop = side.graph.subscribe(lambda parts: None)
    with _counted(Metadata, "_since") as inside:
        spent = sum(side.tick(clock.next()) for _ in range(ticks))
    stop()
    share = inside[0] / (spent - inside[0]) * 100
    return Figure(case, "collecting metadata with every tick", "%", share, goal=3.0, less=True)


def shaped(count: int, ticks: int, added: int, ten: list[float]) -> Iterator[Figure]:
    """What is measured with so many queries of ten shapes; `ten` keeps the time of ten of them."""
    case, shapes, before = f"{count:,} of ten shapes", Shapes(), _memory()
    side = Side(shapes, shapes.queries(count))
    each = (_memory() - before) * 1_000 / count
    spent = [side.tick(shapes.tables(second)) for second in range(ticks + 1)][1:]
    tick = median(spent)
    yield Figure(case, "tick of 1 s", "s", tick, goal=1.0, less=True)
    yield Figure(case, "rows read", "per second", RATE / tick)
    yield Figure(case, "parts", "", side.parts)
    if count == len(SHAPES):
        ten.append(tick)
    if count > _FEW_SHAPED:
        yield Figure(case, "memory per query", "kB", each, goal=2.0, less=True)
        times = tick / ten[0]
        yield Figure(case, "a row, of its cost with ten", "times", times, goal=5.0, less=True)
        more = shapes.queries(added, first=count)
        adding = timed(lambda: side.add(more, first=count)) * 1_000 / added
        yield Figure(case, "adding 1,000 queries", "s", adding, goal=1.0, less=True)


@contextmanager
def _counted(owner: type, name: str) -> Iterator[list[float]]:
    """The seconds spent in a method."""
    total, action = [0.0], getattr(owner, name)

    def call(*arguments: Any) -> Any:
        begin = time.process_time()
        result = action(*arguments)
        total[0] += time.process_time() - begin
        return result

    with patch.object(owner, name, call):
        yield total


def _memory() -> float:
    """The memory of this process, in MB."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


def main() -> None:
    asked = options(__doc__ or "")
    counts, ticks = ((1, 10, 100), 5) if asked.quick else ((1, 10, 100, 1_000, 5_000), 5)
    report = Report("graph", {"streams": 50, "tick": TICK, "sample": SAMPLE})
    mix = Mix(bounds=False)
    for count in counts:
        if asked.only in f"{count:,} queries":
            report.figures += figures(mix, count, ticks)
            gc.collect()
    ten: list[float] = []
    for count in (1, 10, 100, 500) if asked.quick else (1, 10, 100, 5_000, 100_000):
        if asked.only in f"{count:,} of ten shapes" or (asked.only in "ten shapes" and count == 10):
            report.figures += shaped(count, ticks, 100 if asked.quick else 1_000, ten)
            gc.collect()
    present(report, "Queries in one graph", asked)


if __name__ == "__main__":
    main()
