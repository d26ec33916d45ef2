"""Figures 14.9 to 14.11: what keeps the ends of rows, and where a join puts them in order."""

from __future__ import annotations

from experiments.frame import COLOURS, Page, options, timed  # isort: split

import gc
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa

from experiments.signs.areas import FifoJoin, InputQueueJoin, QueuedJoin
from experiments.signs.flow import Element
from tidemill import Engine
from tidemill.physical.mechanisms.calendar import Calendar, Entries

WINDOW = 5_000  # milliseconds
GAP = 10
TICKS = 20

Arrivals = list[tuple[int, Element]]
"""The side and the row, in the order of their starts."""


def main() -> None:
    asked = options(__doc__)
    rows, repetitions = (5_000, 1) if asked.quick else (100_000, 3)
    page = Page("signs_queues", "Figures 14.9 to 14.11: the structures of a join", asked)
    page.words(
        f"""A join of two streams with a hash table, {rows:,} rows each, one in {GAP} milliseconds
        on average (exponential gaps), windows of {WINDOW // 1000} seconds. The row-by-row join is
        Algorithm 6 in plain Python; *columnar* is our own, in {TICKS} ticks. Rows are pushed as
        fast as possible; seconds of one core, of {repetitions} runs the one in the middle. All
        ways gave the same results."""
    )
    selective = arrivals(rows, 1_000)
    _areas(page, selective, repetitions)
    _calendars(page, rows, repetitions)
    sizes = [
        _placement(page, 10, "selective", selective, repetitions),
        _placement(page, 11, "expansive", arrivals(rows, 100), repetitions),
    ]
    few, many = sizes
    page.words(
        f"""We agree: at the input the queue has as many elements for both joins
        ({few["input"].size:.2f} and {many["input"].size:.2f} on average), at the output half as
        many for the selective one ({few["output"].size:.2f}) and five times as many for the other
        ({many["output"].size:.2f}). The text has 1, and 0.5 and 5: half of ours, as if the streams
        took turns; ours come in the order of their time, so that several rows of one stream often
        come in a row. The run times follow: at the output a selective join takes
        {few["output"].seconds / few["input"].seconds:.2f} times as long as at the input, an
        expansive one {many["output"].seconds / many["input"].seconds:.2f} times. Our columnar join
        has no such queue: a tick is sorted once, and what comes out may be in any order, as long
        as it is not before the watermark."""
    )
    page.write()


def arrivals(rows: int, values: int) -> Arrivals:
    """Two streams of random values, the rows of both in the order of their time."""
    random = Random(values)
    found: Arrivals = []
    for side in (0, 1):
        at = 0.0
        for _ in range(rows):
            at += random.expovariate(1 / GAP)
            found.append((side, ((random.randrange(values),), int(at), int(at) + WINDOW)))
    return sorted(found, key=lambda arrival: arrival[1][1])


@dataclass(frozen=True)
class Run:
    """A join over all arrivals: seconds, results, the mean size of its queue."""

    seconds: float
    results: Counter[Element]
    size: float


def run(kind: type[QueuedJoin], given: Arrivals, repetitions: int) -> Run:
    results, sizes = _pushed(kind, given)
    gc.disable()
    seconds = median(timed(lambda: _pushed(kind, given, watched=False)) for _ in range(repetitions))
    gc.enable()
    return Run(seconds, Counter(results), sum(sizes) / len(sizes))


def _pushed(
    kind: type[QueuedJoin], given: Arrivals, watched: bool = True
) -> tuple[list[Element], list[int]]:
    join = kind(_value, _value, lambda left, _: left)
    results: list[Element] = []
    join.to(results.append)
    sides, sizes = (join.left, join.right), []
    for side, element in given:
        sides[side](element)
        if watched:
            sizes.append(join.queued)
    join.close()
    return results, sizes


def _value(row: Any) -> Any:
    return row[0]


def columnar(given: Arrivals) -> float:
    """Seconds that our operators need for the same join."""
    engine = Engine(runtime="inprocess")
    for side, name in enumerate("ab"):
        rows = [(row[0], start) for at, (row, start, _) in given if at == side]
        table = pa.table({"v": [v for v, _ in rows], "at": [at for _, at in rows]})
        step = -(-len(table) // TICKS)
        engine.stream(name, [table[at : at + step] for at in range(0, len(table), step)], time="at")
    window = f"WINDOW(RANGE {WINDOW})"
    query = engine.sql(f"SELECT a.v FROM a {window}, b {window} WHERE a.v = b.v")
    return timed(query.collect)


def _areas(page: Page, given: Arrivals, repetitions: int) -> None:
    page.section("Figure 14.9: what keeps the ends")
    heap, fifo = (run(kind, given, repetitions) for kind in (QueuedJoin, FifoJoin))
    _check(heap, fifo)
    rows = [
        ("priority queue", heap.seconds, len(given) / heap.seconds),
        ("list", fifo.seconds, len(given) / fifo.seconds),
    ]
    ours = median(columnar(given) for _ in range(repetitions))
    page.table(
        ["ends are kept in a", "seconds", "rows per second"],
        [*rows, ("(columnar)", ours, len(given) / ours)],
    )
    with page.picture("signs_figure9") as axes:
        names = ["priority queue", "list"]
        axes.bar(names, [each[2] / 1000 for each in rows], 0.5, color=COLOURS[:2])
        axes.set_ylabel("thousands of rows per second")
    page.words(
        f"""Agreed: where rows end in the order in which they come, as with one window over a
        stream, a list does what the queue does, {heap.seconds / fifo.seconds:.2f} times as fast
        for the whole join."""
    )


def _calendars(page: Page, rows: int, repetitions: int) -> None:
    page.section("Ours: the calendar of ends")
    starts = np.arange(2 * rows, dtype=np.int64) * GAP
    lengths = np.random.default_rng(1).integers(1, 2 * WINDOW, len(starts))
    patterns = {
        "one window": starts + WINDOW,
        "two windows": starts + WINDOW * (1 + np.arange(len(starts)) // 1000 % 2),
        "any order": starts + lengths,
    }
    found = {
        name: median(timed(lambda ends=ends: _kept(starts, ends)) for _ in range(repetitions))
        for name, ends in patterns.items()
    }
    page.table(
        ["ends", "nanoseconds per row"],
        [(name, 1e9 * seconds / len(starts)) for name, seconds in found.items()],
    )
    page.words(
        f"""Our aggregates and counts of copies keep ends in one structure that finds the pattern by
        itself (`physical/mechanisms/calendar.py`): what comes in order is appended to a queue,
        what does not starts another one, and small ones are merged. Ends in any order cost
        {found["any order"] / found["one window"]:.1f} times as much as ends in order, most of
        it for sorting each tick; nobody has to choose."""
    )


def _kept(starts: Any, ends: Any, step: int = 1000) -> None:
    calendar = Calendar()
    for first in range(0, len(starts), step):
        part = ends[first : first + step]
        calendar.push(Entries(part, np.zeros(len(part), dtype=np.int64), {}))
        calendar.pop(int(starts[min(first + step, len(starts) - 1)]))


def _placement(
    page: Page, figure: int, kind: str, given: Arrivals, repetitions: int
) -> dict[str, Run]:
    page.section(f"Figure 14.{figure}: the queue of a join, {kind}")
    runs = {
        "input": run(InputQueueJoin, given, repetitions),
        "output": run(QueuedJoin, given, repetitions),
    }
    _check(*runs.values())
    results = runs["input"].results.total()
    page.table(
        ["queue at the", "its mean size", "seconds", "rows per second", "results per second"],
        [
            (name, each.size, each.seconds, len(given) / each.seconds, results / each.seconds)
            for name, each in runs.items()
        ],
    )
    with page.picture(f"signs_figure{figure}", axes=2) as (sizes, rates):
        _bars(sizes, list(runs), [each.size for each in runs.values()], "mean size of the queue")
        per_second = [results / each.seconds / 1000 for each in runs.values()]
        _bars(rates, list(runs), per_second, "thousands of results per second")
    share = results / len(given)
    page.words(f"{results:,} results, {share:.2f} for every row that comes.")
    return runs


def _bars(axes: Any, names: Sequence[str], heights: Sequence[float], label: str) -> None:
    axes.bar(names, heights, 0.5, color=COLOURS[:2])
    axes.set_ylabel(label)


def _check(*runs: Run) -> None:
    if any(each.results != runs[0].results for each in runs):
        raise SystemExit("error: the results differ")


if __name__ == "__main__":
    main()
