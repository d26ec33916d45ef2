"""Towne and others, Figures 2 and 3: the memory-state graphs of the worked example."""

from __future__ import annotations

from experiments.frame import Page, options  # isort: split

from experiments.offline.drawing import draw
from experiments.offline.graphs import Arrival, Fact, StarGraphs

R = [Arrival(*row) for row in ((0, 1, 5), (1, 0, 1), (2, 1, 4), (3, 0, 8), (4, 2, 3), (5, 5, 2))]
S = [Arrival(*row) for row in ((0, 1, 1), (1, 3, 5), (2, 3, 2), (3, 8, 6), (4, 3, 4), (5, 5, 3))]
FACTS = [Fact(0, 3), Fact(1, 5), Fact(0, 8), Fact(4, 5), Fact(1, 3, end=5), Fact(5, 8, begin=3)]
MEMORY, LIFE = 4, 4


def main() -> None:
    page = Page("star_figure2", "Figures 2 and 3: memory-state graphs", options(__doc__))
    page.words(
        f"""Which tuples can be in memory after each instant, {MEMORY // 2} of each stream, and the
        largest total importance with which each state can be reached. In colour a best path, with
        what its edges bring: what the tuples that were there before give with what arrives in the
        other stream. Tuples that no row of the relation matches never enter (s0, r4)."""
    )
    graphs = StarGraphs(R, S, FACTS, MEMORY, LIFE)
    page.section("Graphs R and S")
    with page.picture("star_figure2", axes=2) as axes:
        for each, name, graph in zip(axes, ("r", "s"), (graphs.r, graphs.s), strict=True):
            draw(graph, each, name)
            each.set_title(f"graph {name.upper()}", loc="left", fontsize=10)
    page.section("All graphs together")
    page.table(["graph", "importance of the best path", "results"], _rows(graphs))
    page.words(
        """We agree with the text: the optimum is 38 with 11 results, where the exact join has 43
        with 15. Several paths are the best ones, two in graph R and eight in graph S. SA holds what
        meets on arrival, and has one path only. The printed algorithm links its stop vertex to the
        states before the last instant, which would lose what comes at the last one: 35."""
    )
    page.write()


def _rows(graphs: StarGraphs) -> list[tuple[str, float, int]]:
    rows = [
        ("R", graphs.r.best, len(graphs.r.outputs(next(graphs.r.paths())))),
        ("S", graphs.s.best, len(graphs.s.outputs(next(graphs.s.paths())))),
        ("SA", graphs.r.worth(graphs.together), len(graphs.together)),
    ]
    return [*rows, ("together", sum(row[1] for row in rows), sum(row[2] for row in rows))]


if __name__ == "__main__":
    main()
