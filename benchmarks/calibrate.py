"""What single steps of the operators cost on this machine: the constants of the cost model.

Every kind of operator runs on streams that differ in how many rows are live and how many values
they have. The constants are those that explain the seconds and bytes of all runs best, and the
last column says how far off they are for the run they explain worst. Besides, every kind of
operator has ticks of one row, which cost what a tick costs in any case. What is printed below the
table replaces `MEASURED` in `optimize/cost/constants.py`.
"""

from __future__ import annotations

from benchmarks._harness import Figure, Report, best_times, options, show, timed  # isort: split

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations, product
from statistics import mean, median

import numpy as np
import polars as pl
import pyarrow as pa
from rich.table import Table
from sqlglot import parse_one

from tidemill.algebra import nodes, sets
from tidemill.algebra.aggregates import AggregateCall
from tidemill.algebra.plan import Plan
from tidemill.algebra.scalar import Scalar
from tidemill.algebra.schema import Schema
from tidemill.optimize.cost.constants import Steps
from tidemill.optimize.cost.estimates import Estimator
from tidemill.optimize.cost.state import State, state_of, width
from tidemill.optimize.cost.usage import CostModel
from tidemill.optimize.statistics import Statistics, StreamStatistics
from tidemill.physical.lowering import lower
from tidemill.physical.operator import Exec
from tidemill.physical.operators.coalesce import CoalesceExec
from tidemill.physical.operators.source import SourceExec
from tidemill.runtime.operators import Graph

TICK = 50_000
WARM_UP = 2
SHORT_TICKS = 100
COLUMNS = Schema.of(k=pa.int64(), v=pa.int64())

Feed = list[list[tuple[pl.DataFrame, int]]]
"""For every tick the rows of each input and its watermark."""


# The streams


@dataclass(frozen=True)
class Stream:
    """One row comes per instant, to all inputs in turn, holds for `live` and has one of `values`
    keys."""

    live: int
    values: int

    def feed(self, aliases: str, ticks: int) -> Feed:
        return [
            [
                (self._rows(number, side, aliases), (number + 1) * TICK)
                for side in range(len(aliases))
            ]
            for number in range(ticks)
        ]

    def _rows(self, number: int, side: int, aliases: str) -> pl.DataFrame:
        rng = np.random.default_rng([number, side])
        first, step = number * TICK + side, len(aliases)
        times = np.arange(first, (number + 1) * TICK, step, dtype=np.int64)
        keys, values = (rng.integers(0, top, len(times)) for top in (self.values, 1000))
        validity = {"valid_from": times, "valid_to": times + self.live}
        return pl.DataFrame({f"{aliases[side]}.k": keys, f"{aliases[side]}.v": values, **validity})

    def known(self, aliases: str) -> Statistics:
        distinct = {"k": float(self.values), "v": 1000.0}
        facts = StreamStatistics(1 / len(aliases), self.live, distinct=distinct)
        return Statistics({f"s{side}": facts for side in range(len(aliases))})

    def scans(self, aliases: str) -> list[nodes.Scan]:
        kind = nodes.SourceKind.STREAM if self.live == 1 else nodes.SourceKind.INTERVALS
        return [nodes.Scan(f"s{n}", alias, COLUMNS, kind) for n, alias in enumerate(aliases)]


HELD = tuple(Stream(*each) for each in product((5_000, 50_000), (100, 20_000, 500_000)))
INSTANTS = (Stream(1, 10), Stream(1, 1000))
GROUPS = (*HELD, Stream(1, 100), Stream(1, 20_000))
FEW = (Stream(200, 1_000), Stream(2_000, 1_000), Stream(2_000, 50_000))
MATCHED = (Stream(5_000, 1_000), Stream(5_000, 10_000), Stream(50_000, 20_000))
PARTNERS = (*MATCHED, Stream(50_000, 500_000))  # with few values, an anti-join explodes


# The operators

Build = Callable[[list[nodes.Scan]], Plan]


@dataclass(frozen=True)
class Case:
    """A kind of operator, and plans that run one. `besides` is a kind whose steps it takes, too."""

    kind: str
    builds: Sequence[Build]
    streams: Sequence[Stream] = HELD
    aliases: str = "a"
    ticks: int = 6
    besides: str | None = None


def condition(text: str) -> Scalar:
    return Scalar(parse_one(text, read="spark"), pa.bool_())


def passing(values: int) -> Build:
    return lambda scans: nodes.Filter(scans[0], condition(f"`a.v` < {values}"))


def computed(scans: list[nodes.Scan]) -> Plan:
    scaled = Scalar(parse_one("`a.v` * 3 + `a.k`", read="spark"), pa.int64())
    return nodes.Project(scans[0], (("n", scaled),))


def grouped(function: str, argument: str | None = "a.v") -> Build:
    call = AggregateCall("r", function, argument, pa.int64())
    return lambda scans: nodes.Aggregate(tumbling(scans[0]), ("a.k",), (call,))


def tumbling(scan: nodes.Scan) -> Plan:
    """A stream of instants in windows that put out little, and cost next to nothing themselves."""
    return nodes.TimeWindow(scan, 5000, 5000) if scan.kind is nodes.SourceKind.STREAM else scan


def matched(kind: type[nodes.Conditional], text: str = "`a.k` = `b.k`") -> Build:
    return lambda scans: kind(scans[0], scans[1], condition(text))


def last_rows(rows: int, *partition_by: str) -> Build:
    return lambda scans: nodes.CountWindow(scans[0], rows, 1, partition_by)


CASES = [
    Case("filter", [passing(100), passing(900)], INSTANTS),
    Case("project", [computed], INSTANTS),
    Case("time window", [lambda scans: nodes.TimeWindow(scans[0], 1000)], INSTANTS),
    Case("count window", [last_rows(1000), last_rows(50, "a.k")], INSTANTS),
    Case("granularity", [lambda scans: nodes.Granularity(scans[0], 100)]),
    Case("split", [lambda s: nodes.Rstream(s[0])], [Stream(5, 10), Stream(50, 10)], ticks=3),
    Case("changes", [lambda scans: nodes.Istream(scans[0])]),
    Case("union", [lambda scans: sets.Union(*scans)], aliases="aa"),
    Case("distinct", [lambda scans: nodes.Distinct(scans[0])]),
    Case("coalesce", [lambda scans: CoalesceExec(SourceExec(scans[0]))], FEW, ticks=2),
    Case("aggregate", [grouped("COUNT", None)], GROUPS),
    Case("total", [grouped("SUM")], GROUPS, besides="aggregate"),
    Case("extreme", [grouped("MAX")], GROUPS, besides="aggregate"),
    Case("top-k", [lambda s: nodes.TopK(s[0], (nodes.SortKey("a.v"),), 10)]),
    Case(
        "join",
        [matched(nodes.Join), matched(nodes.Join, "`a.k` = `b.k` AND `a.v` < `b.v` / 10")],
        MATCHED,
        aliases="ab",
    ),
    Case("semi-join", [matched(nodes.SemiJoin)], PARTNERS, aliases="ab"),
    Case("anti-join", [matched(nodes.AntiJoin)], PARTNERS, aliases="ab"),
    Case("difference", [lambda scans: sets.Difference(*scans)], aliases="aa"),
]


# Measuring


@dataclass(frozen=True)
class Run:
    """What an operator did in its measured ticks, and what it kept."""

    counts: dict[str, float]  # how often each step was made
    seconds: float
    state: State
    state_bytes: float


def run(case: Case, build: Build, stream: Stream, repetitions: int) -> Run:
    plan = build(stream.scans(case.aliases))
    warm = WARM_UP + stream.live // TICK
    feed = stream.feed(case.aliases, warm + case.ticks)
    root = plan if isinstance(plan, Exec) else lower(plan, {})
    measured = [ticks(root, feed) for _ in range(repetitions)]
    arrived = sum(rows.height for sides in feed[warm:] for rows, _ in sides)
    emitted, state_bytes = sum(measured[0][1][warm:]), mean(measured[0][2][warm:])
    estimator = Estimator(stream.known(case.aliases))
    model, instants = CostModel(estimator), TICK * case.ticks
    keys, pairs = model.new_keys(plan) * instants, model.compared(plan) * instants
    counts = {"arrive": arrived, "key": keys, "compare": pairs, "emit": emitted}
    seconds = sum(best_times([each[0][warm:] for each in measured]))
    return Run(counts, seconds, kept(plan, estimator), state_bytes)


def ticks(root: Exec, feed: Feed) -> tuple[list[float], list[int], list[int]]:
    """Seconds, rows put out and bytes of state of every tick."""
    graph = Graph(root)
    order = [int(leaf.scan.source[1:]) for leaf in graph.leaves if isinstance(leaf, SourceExec)]
    seconds, rows, state = [], [], []
    for sides in feed:
        arrivals = [sides[at] for at in order]
        results: list[tuple[pl.DataFrame, int]] = []
        seconds.append(timed(lambda a=arrivals, r=results: r.extend(graph.step(a))))
        rows.append(results[0][0].height)
        state.append(sum(progress.state_bytes for progress in graph.progress))
    return seconds, rows, state


def tick_cost(case: Case) -> float:
    """Nanoseconds of a tick that brings a single row to every input."""
    stream = case.streams[0]
    plan = case.builds[0](stream.scans(case.aliases))
    feed = stream.feed(case.aliases, WARM_UP + SHORT_TICKS)
    single = [[(rows[:1], mark) for rows, mark in sides] for sides in feed]
    seconds, _, _ = ticks(plan if isinstance(plan, Exec) else lower(plan, {}), single)
    return median(seconds[-SHORT_TICKS:]) * 1e9


def kept(plan: Plan, estimator: Estimator) -> State:
    if isinstance(plan, CoalesceExec):  # physical only: it keeps the rows that hold
        scan = plan.child.scan
        return State(estimator.live_rows(scan), width(scan.schema))
    return state_of(plan, estimator)


# Fitting


def calibrated(case: Case, found: dict[str, Steps], repetitions: int) -> tuple[Steps, float]:
    """The steps of a kind, and the ratio by which they miss the run they explain worst."""
    done = [run(case, *each, repetitions) for each in product(case.builds, case.streams)]
    base = found.get(case.besides or "", Steps())
    nanoseconds = [each.seconds * 1e9 for each in done]
    costs = fitted(
        [each.counts for each in done], [spent(base, each) for each in done], nanoseconds
    )
    tick = max(tick_cost(case) - base.tick, 0.0)
    steps = replace(Steps(**costs), **sizes(done, base), tick=tick)
    explained = [spent(base, each) + spent(steps, each) for each in done]
    ratios = [model / real for model, real in zip(explained, nanoseconds, strict=True)]
    return steps, max(max(ratio, 1 / ratio) for ratio in ratios)


def spent(steps: Steps, run: Run) -> float:
    """Nanoseconds by the model."""
    return sum(asdict(steps)[name] * count for name, count in run.counts.items())


def sizes(done: list[Run], base: Steps) -> dict[str, float]:
    """Bytes per row and per key that are not those of their columns."""
    counts = [{"row_bytes": each.state.rows, "key_bytes": each.state.keys} for each in done]
    explained = [
        each.state.rows * (each.state.row_width + base.row_bytes)
        + each.state.keys * (each.state.key_width + base.key_bytes)
        for each in done
    ]
    return fitted(counts, explained, [max(each.state_bytes, 1.0) for each in done])


def fitted(
    counts: list[dict[str, float]], explained: list[float], totals: list[float]
) -> dict[str, float]:
    """What each step costs, not less than nothing, so that the relative errors are smallest.

    `explained` is the part of the totals that other steps have cost.
    """
    names = [name for name in counts[0] if any(each[name] for each in counts)]
    table = np.array([[each[name] for name in names] for each in counts]) / np.c_[totals]
    missing = 1 - np.array(explained) / np.array(totals)
    best, least = {}, np.inf
    for size in range(1, len(names) + 1):
        for chosen in map(list, combinations(range(len(names)), size)):
            costs, *_ = np.linalg.lstsq(table[:, chosen], missing, rcond=None)
            error = np.square(table[:, chosen] @ costs - missing).sum()
            if (costs >= 0).all() and error < least:
                least = error
                best = {names[at]: float(cost) for at, cost in zip(chosen, costs, strict=True)}
    return best


# Reporting

UNITS = {
    "arrive": "ns/row",
    "key": "ns/key",
    "compare": "ns/pair",
    "emit": "ns/row",
    "row_bytes": "B",
    "key_bytes": "B",
    "tick": "ns/tick",
}


def table(found: dict[str, Steps], off: dict[str, float]) -> Table:
    result = Table(title="Steps of operators")
    result.add_column("kind")
    for name, unit in UNITS.items():
        result.add_column(f"{name}, {unit}", justify="right")
    result.add_column("at most off by", justify="right")
    for kind, steps in found.items():
        values = (f"{value:.0f}" for value in asdict(steps).values())
        result.add_row(kind, *values, f"{off[kind]:.2f}×")
    return result


def literal(found: dict[str, Steps]) -> str:
    """The constants as they stand in the module."""
    lines = ["MEASURED: Constants = {"]
    for kind, steps in found.items():
        values = {name: round(value) for name, value in asdict(steps).items()}
        inside = ", ".join(f"{name}={value}" for name, value in values.items() if value)
        lines.append(f'    "{kind}": Steps({inside}),')
    return "\n".join([*lines, "}"])


def main() -> None:
    chosen = options(__doc__ or "")
    repetitions = 1 if chosen.quick else 3
    report = Report("Steps of operators", {"tick": TICK, "repetitions": repetitions})
    found: dict[str, Steps] = {}
    off: dict[str, float] = {}
    for case in CASES:
        if chosen.only not in case.kind and chosen.only != (case.besides or ""):
            continue
        found[case.kind], off[case.kind] = calibrated(case, found, repetitions)
        for name, value in asdict(found[case.kind]).items():
            report.figures.append(Figure(case.kind, name, UNITS[name], round(value, 2)))
        report.figures.append(Figure(case.kind, "worst run", "ratio", round(off[case.kind], 2)))
    show(table(found, off))
    print(literal(found))
    if chosen.json:
        report.write(chosen.json)


if __name__ == "__main__":
    main()
