"""Each physical operator alone: rows per second on one core, and bytes of state per live row.

One row comes per unit of time and holds for n units, so n rows are live; they are dealt in turn
to the inputs of an operator that has several. Rows come in order, and after every tick the
watermark is the time of its last row. The window is filled before the clock starts. Goals that
are missed are reported; they do not make the run fail.

Cases share a process, and what an earlier one allocated changes how the C library hands out
memory later: a case alone (`--only`) may come out slower or faster, up to 2.5 times for split.
"""

from __future__ import annotations

from benchmarks._harness import Figure, Report, best_times, options, show, timed, verdict  # isort: split

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import mean

import numpy as np
import polars as pl
import pyarrow as pa
from rich.table import Table
from sqlglot import parse_one

from tidemill.algebra import nodes, sets
from tidemill.algebra.aggregates import AggregateCall, result_type
from tidemill.algebra.plan import Plan
from tidemill.algebra.scalar import Scalar
from tidemill.algebra.schema import Schema
from tidemill.expressions import infer
from tidemill.physical.lowering import lower
from tidemill.physical.operator import Exec
from tidemill.physical.operators.coalesce import CoalesceExec
from tidemill.physical.operators.source import SourceExec
from tidemill.physical.operators.split import SplitExec
from tidemill.runtime.operators import Graph

LIVE = (1_000, 10_000, 100_000)
MOST_GROWTH = 1.5
MILLION = 1_000_000
WARM_UP = 2
NEAR = 9
PAIRS = "all pairs to those in a range, cost per row"
FEWER_PAIRS = 10
"""How many times as much all pairs should cost, of 10,000 live rows, as those in a range."""

Tick = tuple[list[pl.DataFrame], int]
"""Rows for all inputs, and the watermark."""

Keys = Callable[[np.ndarray, int], np.ndarray]
"""The keys of rows, given their times and the number of live rows."""


@dataclass(frozen=True)
class Case:
    """An operator, the rows it gets, and how fast it should be.

    Rows have a BIGINT key `k`, a BIGINT `v` and a DOUBLE `x`; `columns` names those in use.
    `scale` makes ticks smaller, for operators that work row by row.
    """

    name: str
    build: Callable[[list[nodes.Scan], int], Plan]
    goal: float | None = None
    aliases: str = "a"  # of the inputs, one letter each; set operations want them to be the same
    columns: str = "kvx"
    keys: Keys = lambda times, live: _random(times, 1000)
    held: bool = True  # rows come with the validity of the window; else they hold one instant
    scale: int = 1


@dataclass(frozen=True)
class Effort:
    rows: int
    tick: int
    repetitions: int


FULL = Effort(rows=1_000_000, tick=100_000, repetitions=3)
QUICK = Effort(rows=300_000, tick=100_000, repetitions=2)

TYPES = {"k": pa.int64(), "v": pa.int64(), "x": pa.float64()}


# The rows


def _random(times: np.ndarray, domain: int) -> np.ndarray:
    """Numbers below `domain` that look random but follow from the time (splitmix64)."""
    z = times.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((z ^ (z >> np.uint64(31))) % np.uint64(max(domain, 1))).astype(np.int64)


def per_live_row(times: np.ndarray, live: int) -> np.ndarray:
    """As many keys as live rows: most rows find their key in use."""
    return _random(times, live)


def one_partner(times: np.ndarray, live: int) -> np.ndarray:
    """Half of the live rows are on the other side: on average one of them has the same key."""
    return _random(times, live // 2)


def some_keys(times: np.ndarray, live: int) -> np.ndarray:
    return _random(times, 10_000)


def many_groups(times: np.ndarray, live: int) -> np.ndarray:
    return _random(times, 100_000)


def near_one(times: np.ndarray, live: int) -> np.ndarray:
    """On average one of the live rows on the other side has a key at most NEAR away."""
    return _random(times, live * (2 * NEAR + 1) // 2)


def in_turn(times: np.ndarray, live: int) -> np.ndarray:
    """A key comes back when its last row ends."""
    return times % live


def batch(case: Case, times: np.ndarray, alias: str, live: int) -> pl.DataFrame:
    """The rows that come at these times."""
    values = {
        "k": case.keys(times, live),
        "v": _random(times + 1, 100_000) - 50_000,
        "x": _random(times + 2, MILLION) / 128.0 - 3000.0,
    }
    payload = {f"{alias}.{name}": values[name] for name in case.columns}
    return pl.DataFrame(
        {**payload, "valid_from": times, "valid_to": times + (live if case.held else 1)}
    )


def ticks(case: Case, effort: Effort, live: int) -> list[Tick]:
    """The ticks of a run; the first ones fill the window."""
    tick = effort.tick // case.scale
    lengths = [max(live, tick)] + [tick] * (WARM_UP - 1 + effort.rows // effort.tick)
    begin, result = 0, []
    for length in lengths:
        times = np.arange(begin, begin + length, dtype=np.int64)
        sides = [
            batch(case, times[side :: len(case.aliases)], alias, live)
            for side, alias in enumerate(case.aliases)
        ]
        begin += length
        result.append((sides, begin - 1))
    return result


# The operators


def scans(case: Case) -> list[nodes.Scan]:
    """The inputs of an operator."""
    schema = Schema.of(**{column: TYPES[column] for column in case.columns})
    return [nodes.Scan(f"s{at}", alias, schema) for at, alias in enumerate(case.aliases)]


def scalar(text: str, plan: Plan) -> Scalar:
    node = parse_one(text, read="spark")
    return Scalar(node, infer(node, plan.schema, {}))


def project(inputs: list[nodes.Scan], live: int) -> Plan:
    items = {"n": "`a.v` * 3 + `a.k`", "y": "`a.x` * 0.5D + 1.0D", "k": "`a.k`"}
    return nodes.Project(
        inputs[0], tuple((name, scalar(text, inputs[0])) for name, text in items.items())
    )


def filtered(inputs: list[nodes.Scan], live: int) -> Plan:
    return nodes.Filter(inputs[0], scalar("`a.v` > 0 AND `a.x` < 4000.0D", inputs[0]))


def calls(*wanted: str, distinct: bool = False) -> tuple[AggregateCall, ...]:
    """`calls("SUM v")` is SUM over the column v."""
    result = []
    for number, text in enumerate(wanted):
        function, _, column = text.partition(" ")
        argument = TYPES.get(column)
        name = f"a.{column}" if column else None
        typed = result_type(function, argument)
        result.append(AggregateCall(f"r{number}", function, name, typed, distinct))
    return tuple(result)


def grouped(*wanted: str, distinct: bool = False) -> Callable[[list[nodes.Scan], int], Plan]:
    return lambda inputs, live: nodes.Aggregate(
        inputs[0], ("a.k",), calls(*wanted, distinct=distinct)
    )


def near(text: str) -> Callable[[list[nodes.Scan], int], Plan]:
    """A join with rows whose key is near."""
    condition = Scalar(parse_one(text.replace("NEAR", str(NEAR)), read="spark"), pa.bool_())
    return lambda inputs, live: nodes.Join(inputs[0], inputs[1], condition)


SAME_KEY = Scalar(parse_one("`a.k` = `b.k`", read="spark"), pa.bool_())


def topk(inputs: list[nodes.Scan], live: int) -> Plan:
    return nodes.TopK(inputs[0], (nodes.SortKey("a.v", descending=True),), 10)


def distinct(inputs: list[nodes.Scan], live: int) -> Plan:
    return nodes.Distinct(inputs[0])


def difference(inputs: list[nodes.Scan], live: int) -> Plan:
    return sets.Difference(*inputs)


CASES = [
    Case("filter", filtered, 20 * MILLION, held=False),
    Case("map", project, 20 * MILLION, held=False),
    Case(
        "equi-join",
        lambda inputs, live: nodes.Join(inputs[0], inputs[1], SAME_KEY),
        1.5 * MILLION,
        aliases="ab",
        columns="kx",
        keys=one_partner,
    ),
    Case(
        "band join",
        near("`a.k` BETWEEN `b.k` - NEAR AND `b.k` + NEAR"),
        aliases="ab",
        columns="kx",
        keys=near_one,
    ),
    Case("grouped COUNT", grouped("COUNT"), 2 * MILLION, columns="kv"),
    Case("grouped SUM", grouped("SUM v"), 2 * MILLION, columns="kv"),
    Case("grouped AVG", grouped("AVG v"), 2 * MILLION, columns="kv"),
    Case(
        "grouped COUNT, 100k groups", grouped("COUNT"), 2 * MILLION, columns="kv", keys=many_groups
    ),
    Case("grouped SUM, 100k groups", grouped("SUM v"), 2 * MILLION, columns="kv", keys=many_groups),
    Case("grouped MIN", grouped("MIN v"), MILLION, columns="kv"),
    Case("grouped MAX", grouped("MAX x"), MILLION, columns="kx"),
    Case("grouped MAX, 100k groups", grouped("MAX x"), MILLION, columns="kx", keys=many_groups),
    # The same stream under every window; and one whose keys are as many as its live rows.
    Case("distinct", distinct, 1.5 * MILLION, columns="k", keys=some_keys),
    Case("distinct, a key per live row", distinct, 1.5 * MILLION, columns="k", keys=per_live_row),
    Case("difference", difference, 1.5 * MILLION, aliases="aa", columns="k", keys=some_keys),
    Case(
        "difference, a key per live row",
        difference,
        1.5 * MILLION,
        aliases="aa",
        columns="k",
        keys=one_partner,
    ),
    Case("time window", lambda inputs, live: nodes.TimeWindow(inputs[0], live), held=False),
    Case("count window", lambda inputs, live: nodes.CountWindow(inputs[0], live, 1), held=False),
    Case(
        "partitioned window",
        lambda inputs, live: nodes.CountWindow(inputs[0], live // 1000, 1, ("a.k",)),
        held=False,
    ),
    Case("granularity", lambda inputs, live: nodes.Granularity(inputs[0], 100)),
    Case("union", lambda inputs, live: sets.Union(*inputs), aliases="aa"),
    Case(
        "semi-join",
        lambda inputs, live: nodes.SemiJoin(inputs[0], inputs[1], SAME_KEY),
        aliases="ab",
        columns="kx",
        keys=one_partner,
    ),
    Case(
        "anti-join",
        lambda inputs, live: nodes.AntiJoin(inputs[0], inputs[1], SAME_KEY),
        aliases="ab",
        columns="kx",
        keys=one_partner,
    ),
    Case("distinct, two columns", distinct, columns="kx"),
    Case("istream", lambda inputs, live: nodes.Istream(inputs[0])),
    Case("dstream", lambda inputs, live: nodes.Dstream(inputs[0])),
    Case("split", lambda inputs, live: SplitExec(SourceExec(inputs[0]), live // 4)),
    Case(
        "coalesce",
        lambda inputs, live: CoalesceExec(SourceExec(inputs[0]), 4 * live),
        columns="k",
        keys=in_turn,
    ),
    Case(
        "COUNT without groups", lambda inputs, live: nodes.Aggregate(inputs[0], (), calls("COUNT"))
    ),
    Case(
        "MAX without groups",
        lambda inputs, live: nodes.Aggregate(inputs[0], (), calls("MAX x")),
        columns="x",
    ),
    Case("grouped COUNT, SUM, AVG, MIN, MAX", grouped("COUNT", "SUM v", "AVG v", "MIN v", "MAX v")),
    Case("grouped SUM of DOUBLE", grouped("SUM x"), columns="kx"),
    Case("grouped COUNT DISTINCT", grouped("COUNT v", distinct=True), columns="kv"),
    Case("grouped VAR_SAMP", grouped("VAR_SAMP x"), columns="kx", scale=10),
    Case("top-k", topk),
]


def physical(case: Case, live: int) -> Exec:
    plan = case.build(scans(case), live)
    return plan if isinstance(plan, Exec) else lower(plan, {})


# Measuring


@dataclass(frozen=True)
class Run:
    """One run of an operator: seconds and bytes of state, tick by tick."""

    seconds: list[float]
    state: list[int]


def run(root: Exec, feed: list[Tick]) -> Run:
    graph = Graph(root)
    sources = sorted(graph.leaves, key=lambda leaf: leaf.scan.source)
    order = [sources.index(leaf) for leaf in graph.leaves]
    seconds, state = [], []
    for sides, watermark in feed:
        arrivals = [(sides[position], watermark) for position in order]
        seconds.append(timed(lambda arrivals=arrivals: graph.step(arrivals)))
        state.append(sum(progress.state_bytes for progress in graph.progress))
    return Run(seconds[WARM_UP:], state[WARM_UP:])


def figures(case: Case, effort: Effort) -> Iterator[Figure]:
    feeds = {live: ticks(case, effort, live) for live in LIVE}
    roots = {live: physical(case, live) for live in LIVE}
    # All sizes in turn, so that what disturbs the machine disturbs them alike. What works row by
    # row runs long enough to need one repetition less.
    repetitions = effort.repetitions - (case.scale > 1)
    runs = [{live: run(roots[live], feeds[live]) for live in LIVE} for _ in range(repetitions)]
    rates = []
    for live in LIVE:
        seconds = sum(best_times([each[live].seconds for each in runs]))
        rows = sum(side.height for sides, _ in feeds[live][WARM_UP:] for side in sides)
        rates.append(rows / seconds)
        state = mean(runs[0][live].state) / live
        yield Figure(case.name, "rate", "rows/s", round(rates[-1]), live, case.goal)
        yield Figure(case.name, "state", "bytes/live row", round(state, 1), live)
    growth = round(rates[0] / rates[-1], 3)
    name = f"growth of the cost per row, {LIVE[0]:,} to {LIVE[-1]:,} live rows"
    yield Figure(case.name, name, "ratio", growth, None, MOST_GROWTH, less=True)


def band_figures(effort: Effort) -> Iterator[Figure]:
    """The same pairs found by ranges, and among all that hold together."""
    texts = (
        "`a.k` BETWEEN `b.k` - NEAR AND `b.k` + NEAR",
        "NOT (`a.k` < `b.k` - NEAR OR `a.k` > `b.k` + NEAR)",  # nobody sees a range in it
    )
    live, spent = LIVE[1], []
    for text in texts:
        case = Case("band join", near(text), aliases="ab", columns="kx", keys=near_one, scale=50)
        feed, root = ticks(case, effort, live), physical(case, live)
        runs = [run(root, feed).seconds for _ in range(effort.repetitions)]
        spent.append(sum(best_times(runs)))
    yield Figure("band join", PAIRS, "ratio", round(spent[1] / spent[0], 1), live, FEWER_PAIRS)


def table(report: Report) -> Table:
    result = Table(title=f"{report.title}: {report.summary()}")
    result.add_column("operator")
    heads = [f"{live // 1000}k live" for live in LIVE]
    for head in [
        *(f"{h}, M rows/s" for h in heads),
        "goal",
        "growth",
        *(f"{h}, B/row" for h in heads),
    ]:
        result.add_column(head, justify="right")
    for name in dict.fromkeys(figure.case for figure in report.figures):
        own = [figure for figure in report.figures if figure.case == name]
        rates = [figure for figure in own if figure.metric == "rate"]
        states = [figure for figure in own if figure.metric == "state"]
        growth = next(figure for figure in own if figure.metric.startswith("growth"))
        goal = rates[0].goal
        result.add_row(
            name,
            *(verdict(f"{figure.value / MILLION:.2f}", figure.met) for figure in rates),
            "" if goal is None else f"{goal / MILLION:g}",
            verdict(f"{growth.value:.2f}", growth.met),
            *(f"{figure.value:,.0f}" for figure in states),
        )
    return result


def main() -> None:
    chosen = options(__doc__ or "")
    effort = QUICK if chosen.quick else FULL
    settings = {"rows": effort.rows, "tick": effort.tick, "repetitions": effort.repetitions}
    report = Report("Operators on one core", {**settings, "quick": chosen.quick})
    for case in CASES:
        if chosen.only in case.name:
            report.figures.extend(figures(case, effort))
    if chosen.only in "band join":
        report.figures.extend(band_figures(effort))
    show(table(report))
    for figure in report.figures:
        if figure.metric == PAIRS:
            show(f"{figure.case}: {PAIRS}: {verdict(f'{figure.value:g}', figure.met)}")
    if chosen.json:
        report.write(chosen.json)


if __name__ == "__main__":
    main()
