"""What the optimizer's choices are worth: each beside all others in the same run.

- Orders of a four-way join, with the parameters of Tables 5 to 7 of Golab and Özsu, ten times the
  rows and values: the chosen orders against the best of all 24 global ones.
- Aggregation below a two-way join at the default setting of Figure 4 of Tran and Lee, at 100
  thousand rows per second and stream, in milliseconds: the chosen plan against the other three.
- The eight auction queries with the optimizer and without, and how long planning takes.

Times are CPU seconds of one core, in process. Goals that are missed are reported; they do not make
the run fail.
"""

from __future__ import annotations

from benchmarks._harness import Figure, Report, options, present, timed  # isort: split

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations
from statistics import median

import numpy as np
import pyarrow as pa

import tidemill as tm
from tidemill.nexmark.generate import generate
from tidemill.nexmark.queries import QUERIES
from tidemill.optimize import optimize
from tidemill.runtime.spark import session

ORDER_GOAL, EARLY_GOAL, LATE_GOAL, PLANNING_GOAL = 1.1, 1.15, 5.0, 100.0


@dataclass(frozen=True)
class Effort:
    rows: int  # of the fastest stream of a join
    repetitions: int
    slow_rows: int  # per stream, for aggregation plans that make every pair
    fast_rows: int
    bids: int


FULL = Effort(1_000_000, 2, 100_000, 1_000_000, 200_000)
QUICK = Effort(20_000, 1, 4_000, 40_000, 5_000)


def run(query: tm.Query) -> float:
    """The seconds of a run; its results are made and let go."""
    return timed(lambda: sum(1 for _ in query.ticks()))


def query_of(engine: tm.Engine, sql: str) -> tm.Query:
    query = engine.sql(sql)
    assert query is not None
    return query


# Orders of joins


@dataclass(frozen=True)
class Stream:
    """A stream of a table: rate, length of its window in units of time, distinct values."""

    rate: int
    window: int
    distinct: int


TABLES = {
    "Table 5": (Stream(10, 100, 500), Stream(1, 100, 50), Stream(1, 200, 40), Stream(3, 100, 5)),
    "Table 6": (Stream(100, 100, 200), Stream(1, 100, 200), Stream(1, 100, 20), Stream(3, 100, 2)),
    "Table 7": (Stream(11, 100, 200), Stream(10, 100, 100), Stream(1, 100, 65), Stream(1, 100, 20)),
}
SCALE = 10  # times the rows in a window, and the distinct values
TICKS = 20


def joined(streams: Sequence[Stream], rows: int) -> tuple[tm.Engine, str]:
    """An engine with the streams, of which it is told, and their join.

    Ten instants are a unit of time; in a scaled window are `SCALE` times the rows.
    """
    random = np.random.default_rng(1)
    engine = tm.Engine(runtime="inprocess")
    units = rows / SCALE / max(stream.rate for stream in streams)
    instants = int(units * 10)
    for number, stream in enumerate(streams):
        count = int(units * stream.rate * SCALE)
        at = np.sort(random.integers(0, instants, count))
        values = random.integers(0, stream.distinct * SCALE, count)
        table = pa.table({"at": at, "k": values, "v": np.arange(count)})
        cuts = np.searchsorted(at, np.linspace(0, instants, TICKS + 1))
        ticks = [table.slice(low, high - low) for low, high in pairwise(cuts)]
        engine.stream(f"s{number}", ticks, time="at")
        distinct = {"k": stream.distinct * SCALE}
        engine.hint(f"s{number}", rate=count / instants, distinct=distinct)
    names = [f"s{number}" for number in range(len(streams))]
    sources = ", ".join(
        f"{name} WINDOW(RANGE {stream.window * 10})"
        for name, stream in zip(names, streams, strict=True)
    )
    columns = ", ".join(f"{name}.v AS {name}v" for name in names)
    equal = " AND ".join(f"s0.k = {name}.k" for name in names[1:])
    return engine, f"SELECT {columns} FROM {sources} WHERE {equal}"


def orders(effort: Effort, only: str) -> list[Figure]:
    figures = []
    for title, streams in TABLES.items():
        if only not in title:
            continue
        engine, sql = joined(streams, effort.rows)
        chosen, plans = query_of(engine, sql), {}
        for order in permutations([f"s{number}" for number in range(len(streams))]):
            hint = f"/*+ ORDER({', '.join(order)}) */"
            plans[" ".join(order)] = query_of(engine, sql.replace("SELECT", f"SELECT {hint}", 1))
        spent, times = compared(chosen, plans, effort.repetitions)
        best, worst = min(times, key=lambda o: times[o]), max(times, key=lambda o: times[o])
        name = f"{title}, orders of the join"
        figures += [
            Figure(
                name, "chosen / best of all", "", spent / times[best], goal=ORDER_GOAL, less=True
            ),
            Figure(name, f"worst ({worst}) / best ({best})", "", times[worst] / times[best]),
            Figure(name, "chosen", "s", spent),
        ]
    return figures


def compared(
    chosen: tm.Query, plans: Mapping[str, tm.Query], repetitions: int
) -> tuple[float, dict[str, float]]:
    """The times of the chosen plan and of all others; if it is one of them, it is run as such."""
    same = [name for name, query in plans.items() if query.job.plan == chosen.job.plan]
    times = best_of({**plans, **({} if same else {"chosen": chosen})}, repetitions)
    return (times[same[0]] if same else times.pop("chosen")), times


def best_of(plans: Mapping[str, tm.Query], repetitions: int) -> dict[str, float]:
    """The shortest time of each; they take turns, so that what disturbs one disturbs all alike."""
    run(next(iter(plans.values())))  # the first run of all finds nothing ready
    runs = [{name: run(query) for name, query in plans.items()} for _ in range(repetitions)]
    return {name: min(each[name] for each in runs) for name in plans}


# Aggregation below joins

RATE = 100  # rows per millisecond and stream
WINDOW = 50  # milliseconds: 5,000 rows
VALUES, GROUPS = 10, 150
PLANS = {"late": "LATE", "early left": "EARLY(a)", "early right": "EARLY(b)", "both": "EARLY(a, b)"}
SLOW = ("late", "early left")


def aggregated(rows: int) -> tuple[tm.Engine, str]:
    """An engine with two streams, of which it is told, and the aggregate of their join."""
    random = np.random.default_rng(2)
    engine = tm.Engine(runtime="inprocess")
    for name, groups in (("a", GROUPS), ("b", 1)):
        table = pa.table(
            {
                "at": np.arange(rows) // RATE,
                "k": random.integers(0, VALUES, rows),
                "g": random.integers(0, groups, rows),
                "v": random.integers(0, 1000, rows),
            }
        )
        size = rows // TICKS
        engine.stream(name, [table.slice(n * size, size) for n in range(TICKS)], time="at")
        engine.hint(name, rate=RATE, distinct={"k": VALUES, "g": groups})
    window = f"WINDOW(RANGE {WINDOW})"
    return engine, (
        "SELECT a.g, b.g AS h, SUM(a.v) AS x, SUM(b.v) AS y "
        f"FROM a {window}, b {window} WHERE a.k = b.k GROUP BY a.g, b.g"
    )


def aggregations(effort: Effort) -> list[Figure]:
    """All plans by CPU time per row: the slow ones are run over fewer rows."""
    sizes = {plan: effort.slow_rows if plan in SLOW else effort.fast_rows for plan in PLANS}
    plans = {plan: _aggregation(sizes[plan], f"/*+ {hint} */") for plan, hint in PLANS.items()}
    plan = _aggregation(1000, "").job.plan
    (chosen,) = (name for name, query in plans.items() if query.job.plan == plan)
    spent = best_of(plans, effort.repetitions)
    times = {name: each / (2 * sizes[name]) * 1e6 for name, each in spent.items()}
    best = min(times, key=lambda name: times[name])
    title, ratio = "Figure 4, aggregation below the join", times[chosen] / times[best]
    return [
        Figure(title, f"chosen ({chosen}) / best ({best})", "", ratio, goal=EARLY_GOAL, less=True),
        Figure(title, "late / chosen", "", times["late"] / times[chosen], goal=LATE_GOAL),
        *(Figure(title, name, "µs/row", each) for name, each in times.items()),
    ]


def _aggregation(rows: int, hint: str) -> tm.Query:
    engine, sql = aggregated(rows)
    return query_of(engine, sql.replace("SELECT", f"SELECT {hint}", 1))


# The auction queries, and planning


def auction(effort: Effort) -> list[Figure]:
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        generate(session.acquire(), folder, effort.bids)
        session.release()
        for query in QUERIES.values():
            if not query.name.startswith("q"):
                continue  # other questions, which compare systems
            plans = {
                name: query.on(tm.Engine(runtime="inprocess", optimizer=on), folder)
                for name, on in (("off", False), ("on", True))
            }
            times = best_of(plans, max(2, effort.repetitions))
            ratio = times["off"] / times["on"]
            figures.append(Figure(f"auction {query.name}", "optimizer off / on", "", ratio))
    return figures


def planning() -> list[Figure]:
    """Ten streams on one attribute, and in a chain of nine."""
    engine = tm.Engine(runtime="inprocess")
    names = [f"s{number}" for number in range(10)]
    for name in names:
        engine.stream(name, [{"k": 1, "j": 2, "v": 3, "at": 1}], time="at")
    sources = ", ".join(f"{name} WINDOW(RANGE {5 + at})" for at, name in enumerate(names))
    common = " AND ".join(f"s0.k = {name}.k" for name in names[1:])
    chain = " AND ".join(f"s{at}.k = s{at + 1}.j" for at in range(9))
    figures = []
    for title, condition in (("one attribute", common), ("a chain of attributes", chain)):
        query = query_of(engine, f"SELECT s0.v FROM {sources} WHERE {condition}")
        plan = query.planned.plan
        spent = median(timed(lambda: optimize(plan)) for _ in range(9)) * 1000  # noqa: B023
        name = f"planning, ten streams, {title}"
        figures.append(Figure(name, "time", "ms", spent, goal=PLANNING_GOAL, less=True))
    return figures


def main() -> None:
    asked = options(__doc__ or "")
    effort = QUICK if asked.quick else FULL
    report = Report("optimizer", vars(effort) | {"quick": asked.quick})
    report.figures += planning()
    report.figures += orders(effort, asked.only)
    if asked.only in "Figure 4, aggregation":
        report.figures += aggregations(effort)
    if asked.only in "auction":
        report.figures += auction(effort)
    present(report, "What the optimizer's choices are worth", asked)


if __name__ == "__main__":
    main()
