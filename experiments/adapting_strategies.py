"""Strategies of the resource manager: the text's (PIPES, 23.3.2), and ours beside it."""

from __future__ import annotations

from experiments.frame import COLOURS, Page, options  # isort: split

import time
from collections.abc import Mapping, Sequence
from math import inf

import tidemill as tm
from experiments.adapting.mix import Mix
from tidemill.graph.manager.estimates import GraphEstimates
from tidemill.graph.manager.knobs import Demand, Knob
from tidemill.graph.manager.steering import knobs_of
from tidemill.graph.manager.strategy import STRATEGIES, Estimate, quality

SHARES = (0.9, 0.7, 0.5, 0.35, 0.25, 0.2)
"""Bounds, as shares of what the graph needs at the best sizes."""


def main() -> None:
    chosen = options(__doc__)
    count = 60 if chosen.quick else 400
    page = Page("adapting_strategies", "Strategies of the resource manager", chosen)
    page.words(
        f"""{count} queries of the mix of Table 24.1 over 50 streams, with what the cost model says
        that they need. `uniform` is the strategy of section 23.3.2: all knobs at the same fraction
        of their ranges, granules in four steps, then windows by bisection. `marginal` lowers one
        knob after the other, by a sixteenth of its range, the one first that saves most per query
        that depends on it."""
    )
    estimates, knobs = _graph(count)
    estimate = _estimate(estimates)
    best = estimate({knob.name: knob.high for knob in knobs})
    least = estimate({knob.name: knob.low for knob in knobs})
    rows = [_line(share, knobs, estimate, best) for share in SHARES]
    _show(page, rows, knobs, least.memory / best.memory)
    page.write()


def _graph(count: int) -> tuple[GraphEstimates, list[Knob]]:
    mix = Mix()
    engine = tm.Engine(runtime="inprocess", optimizer=["order_joins"])
    mix.declare(engine)
    graph = engine.run(every=None)
    with graph.together():
        for text in mix.queries(count):
            query = engine.sql(text)
            assert query is not None
            query.start(lambda rows, tick: None)
    estimates = GraphEstimates(engine.statistics.known, work=False)
    estimates.revise(graph.operators)
    return estimates, knobs_of(graph.adaptation)


def _estimate(estimates: GraphEstimates) -> Estimate:
    def estimate(sizes: Mapping[str, int]) -> Demand:
        return Demand(estimates.at(sizes).state_bytes, 0.0)

    return estimate


Row = dict[str, tuple[float, float, float]]
"""By strategy: the quality that is left, the memory that is used, and the seconds it took."""


def _line(share: float, knobs: Sequence[Knob], estimate: Estimate, best: Demand) -> Row:
    bound = Demand(best.memory * share, inf)
    found: Row = {}
    for name, strategy in STRATEGIES.items():
        begin = time.perf_counter()
        sizes = strategy(knobs, estimate, bound)
        seconds = time.perf_counter() - begin
        if sizes is not None:
            used = estimate(sizes).memory / best.memory
            found[name] = (quality(knobs, sizes), used, seconds)
    return found


def _show(page: Page, rows: list[Row], knobs: Sequence[Knob], least: float) -> None:
    page.section("Quality that is left, by bound")
    with page.picture("adapting_strategies") as axes:
        for name, colour in zip(STRATEGIES, COLOURS, strict=False):
            points = [(s, r[name][0]) for s, r in zip(SHARES, rows, strict=True) if name in r]
            axes.plot(*zip(*points, strict=True), marker="o", color=colour, label=name)
        axes.set_xlabel("bound, as a share of what the best sizes need")
        axes.set_ylabel("mean fraction of the ranges")
        axes.set_ylim(0, 1)
        axes.legend()
    names = ["bound", *(f"{what}, {n}" for n in STRATEGIES for what in ("quality", "used", "s"))]
    table = [
        (f"{share:.0%}", *(value for name in STRATEGIES for value in row.get(name, (None,) * 3)))
        for share, row in zip(SHARES, rows, strict=True)
    ]
    page.table(names, table)
    gains = [row["marginal"][0] / row["uniform"][0] for row in rows if len(row) == len(STRATEGIES)]
    page.words(
        f"""There are {len(knobs)} knobs; at the smallest sizes the graph needs {least:.0%}. Quality
        is the mean over all queries and their knobs of the fraction at which a knob stands: 1 at
        the best sizes, 0 at the worst. For the same bound, `marginal` leaves
        {min(gains):.2f} to {max(gains):.2f} times as much of it as `uniform`: memory is spent on
        few joins of joins over fast streams, and to lower all windows for these is a waste. The
        text leaves strategies that know about sharing to future work (23.4); it has no figures to
        compare with. Both take about a second here. `marginal` is fair to the whole, not to each: a
        query over the fastest streams may find its windows at their smallest."""
    )


if __name__ == "__main__":
    main()
