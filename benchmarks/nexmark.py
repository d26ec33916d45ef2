"""The auction benchmark against its goals: Tidemill on Spark, Spark's own API, and Flink.

With 12.1 million events (10 million bids) it takes a long time; `--quick` takes less than a minute
and leaves out Flink and the comparison of answers. Flink takes part if `make bench-peers` was run.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from _harness import Figure, Options, Report, options, show, verdict
from rich.console import Console
from rich.table import Table

from tidemill import Engine, TidemillError
from tidemill.nexmark.bench import flink
from tidemill.nexmark.bench.measure import Outcome
from tidemill.nexmark.bench.run import Bench, Plan
from tidemill.nexmark.bench.table import phases_table, ratio, systems_table
from tidemill.nexmark.queries import QUERIES

EVENTS, QUICK_EVENTS = 12_100_000, 121_000
QUICK_QUERIES = ("q1", "counts", "sellers")
EVENTS_PER_SECOND = 1_000_000
TIMES_SPARK = {"q1": 0.8, "q2": 0.8, "q3": 8, "sellers": 8, "counts": 20}
TIMES_FLINK = 3
MEMORY = 6.0


def plan(asked: Options, folder: Path) -> Plan:
    names = [n for n in (QUICK_QUERIES if asked.quick else QUERIES) if asked.only in n]
    return Plan(
        events=QUICK_EVENTS if asked.quick else EVENTS,
        queries=[QUERIES[name] for name in names],
        peers=("spark",) if asked.quick or not flink_is_there() else ("spark", "flink"),
        folder=folder,
        compare=not asked.quick,
        fewest_ticks=2 if asked.quick else 4,
    )


def flink_is_there() -> bool:
    try:
        return bool(flink.interpreter())
    except TidemillError:
        return False


def figures(outcomes: Sequence[Outcome]) -> Iterator[Figure]:
    """Every outcome as numbers with their goals; what one fragment cannot answer has none."""
    for outcome in outcomes:
        if outcome.system == "tidemill":
            goal = EVENTS_PER_SECOND if QUERIES[outcome.query].one_fragment else None
            speed = outcome.events_per_second
            yield Figure(outcome.query, "speed", "events/s", speed, goal=goal)
            gigabytes = outcome.spent.memory / 2**30
            yield Figure(outcome.query, "memory", "GiB", gigabytes, goal=MEMORY, less=True)
        elif (times := ratio(outcome, outcomes)) is not None:
            goals = {"spark": TIMES_SPARK.get(outcome.query), "floor": None}
            goal = goals.get(outcome.system, TIMES_FLINK)
            yield Figure(outcome.query, f"times {outcome.system}", "×", times, goal=goal)


def goals_table(report: Report) -> Table:
    table = Table(title="Goals", title_justify="left")
    table.add_column("query")
    table.add_column("figure")
    table.add_column("value", justify="right")
    table.add_column("goal", justify="right")
    for figure in report.figures:
        if figure.goal is not None:
            value = f"{figure.value:,.2f}" if figure.value < 1000 else f"{figure.value:,.0f}"
            goal = f"{'<' if figure.less else '≥'} {figure.goal:,g} {figure.unit}"
            table.add_row(figure.case, figure.metric, verdict(value, figure.met), goal)
    return table


def main() -> None:
    asked = options(__doc__ or "")
    notes = Console(stderr=True)
    with (
        tempfile.TemporaryDirectory(prefix="tidemill-bench-") as folder,
        Engine() as engine,
        notes.status("starting Spark") as status,
    ):
        chosen = plan(asked, Path(folder))
        outcomes = list(Bench(engine.spark, chosen, status.update).run())
    settings = {"events": chosen.size.events, "ticks": chosen.files, "peers": list(chosen.peers)}
    report = Report("auction benchmark", settings, list(figures(outcomes)))
    for table in (systems_table(outcomes), phases_table(outcomes), goals_table(report)):
        show(table)
    print(report.summary())
    if asked.json is not None:
        report.write(asked.json)


if __name__ == "__main__":
    main()
