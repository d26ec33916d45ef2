"""Towne and others, Figure 5: what filtering with the relation saves the offline algorithm."""

from __future__ import annotations

from experiments.frame import COLOURS, Page, options, timed  # isort: split

from typing import NamedTuple

from experiments.offline.graphs import MemoryGraph
from experiments.star.data import Setting, Star, generate
from experiments.star.shedding import optimal

MEMORY, LIFE = 10, 10
SIZES = (25, 50, 100, 150, 250, 500)
RUNS = 3


class Point(NamedTuple):
    """Sizes of the relation and the graphs, the share of rows that passes, and seconds."""

    facts: int
    passing: float
    filtered_states: int
    states: int
    filtered: float
    unfiltered: float
    ours: float


def main() -> None:
    asked = options(__doc__)
    rows, runs = (500, 1) if asked.quick else (5000, RUNS)
    page = Page("star_figure5", "Figure 5: filtering before the join", asked)
    page.words(
        f"""Seconds of one core for the optimum of {rows:,} rows of each stream, memory of {MEMORY}
        rows, lives of {LIFE}, mean of {runs}. *Graphs*: the algorithm of the text, written in
        Python, which works through all memory states, with and without the filter that keeps out
        rows that the relation does not match. *Ours*: `best_join`, the same optimum as a flow."""
    )
    optimal(generate(Setting(rows=20), seed=0), MEMORY, LIFE)  # compile
    page.section("Figure 5")
    points = [_mean([_measure(rows, facts, seed) for seed in range(runs)]) for facts in SIZES]
    _table(page, points)
    _picture(page, points)
    page.words(
        """We agree with the text: the filter pays, and the more the smaller the relation is, since
        it lets fewer rows pass. Fewer rows in memory are far fewer combinations of rows, so that a
        relation that half of the rows match saves much more than half of the time; one that all
        rows match saves nothing. (How many rows pass for how large a relation depends on the
        number of values, which the text does not give.) A flow needs no filter of its own: rows
        that meet nothing are not in it. Its time grows with the number of results, not with the
        combinations of rows that memory can hold: at 250 rows it is hundreds of times faster."""
    )
    page.write()


def _measure(rows: int, facts: int, seed: int) -> Point:
    star = generate(Setting(rows, facts), seed)
    found = [_graphs(star, prefilter) for prefilter in (True, False)]
    filtered, unfiltered = (timed(lambda graphs=graphs: _best(graphs)) for graphs in found)
    ours = timed(lambda: optimal(star, MEMORY, LIFE))
    passing = sum(len(each) for graph in found[0] for each in graph.newcomers.values())
    sizes = [sum(len(layer) for graph in graphs for layer in graph.layers) for graphs in found]
    return Point(facts, passing / (2 * rows), *sizes, filtered, unfiltered, ours)


def _graphs(star: Star, prefilter: bool) -> tuple[MemoryGraph, MemoryGraph]:
    r, s, facts = star.r.arrivals(), star.s.arrivals(), star.facts()
    swapped = [fact.swapped() for fact in facts]
    return (
        MemoryGraph(r, s, facts, MEMORY // 2, LIFE, prefilter=prefilter),
        MemoryGraph(s, r, swapped, MEMORY // 2, LIFE, prefilter=prefilter),
    )


def _best(graphs: tuple[MemoryGraph, MemoryGraph]) -> float:
    return sum(graph.best for graph in graphs)


def _mean(points: list[Point]) -> Point:
    facts, passing, *rest = (sum(parts) / len(points) for parts in zip(*points, strict=True))
    return Point(round(facts), passing, round(rest[0]), round(rest[1]), *rest[2:])


def _table(page: Page, points: list[Point]) -> None:
    page.table(
        [
            "rows of the relation",
            "rows that pass, %",
            "states, filtered",
            "states, not filtered",
            "graphs, filtered",
            "graphs, not filtered",
            "times",
            "ours",
        ],
        [
            [
                point.facts,
                100 * point.passing,
                point.filtered_states,
                point.states,
                point.filtered,
                point.unfiltered,
                point.unfiltered / point.filtered,
                point.ours,
            ]
            for point in points
        ],
    )


def _picture(page: Page, points: list[Point]) -> None:
    sizes = [point.facts for point in points]
    with page.picture("star_figure5", axes=2) as both:
        for axes in both:
            axes.plot(
                sizes,
                [p.unfiltered for p in points],
                "o-",
                color=COLOURS[1],
                label="graphs, not filtered",
            )
            axes.plot(
                sizes,
                [p.filtered for p in points],
                "o-",
                color=COLOURS[0],
                label="graphs, filtered",
            )
            axes.plot(sizes, [p.ours for p in points], "o-", color=COLOURS[2], label="ours (flow)")
            axes.set_xlabel("rows of the relation")
        both[0].set_title("seconds", loc="left", fontsize=10)
        both[1].set_title("the same, on logarithmic axes", loc="left", fontsize=10)
        both[1].set_xscale("log")
        both[1].set_xticks(sizes, [str(size) for size in sizes])
        both[1].minorticks_off()
        both[1].set_yscale("log")


if __name__ == "__main__":
    main()
