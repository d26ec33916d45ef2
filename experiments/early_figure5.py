"""Tran and Lee, Figure 5: all eight plans of a three-way join."""

from __future__ import annotations

from experiments.frame import Page, options  # isort: split

from dataclasses import replace

from experiments.early.comparison import compare, show
from experiments.early.measure import Effort
from experiments.early.setting import FIGURE_5

FULL, QUICK = Effort(ticks=3, tick=4.0), Effort(ticks=2, tick=2.0)

WINDOWS = (100, 200, 300, 400, 500)
GROUPS = (1, 5, 20, 50, 100)
RATES = (100, 200, 300, 400)
SELECTIVITIES = (0.01, 0.1, 0.5)


def main() -> None:
    asked = options(__doc__)
    effort, every = (QUICK, 4) if asked.quick else (FULL, 1)
    page = Page("early_figure5", "Figure 5: early aggregation below a three-way join", asked)
    page.section("Window size")
    points = [compare(str(w), FIGURE_5.first(window=w), effort) for w in WINDOWS[::every]]
    show(page, "early_figure5_window", "w1", points)
    page.section("Number of groups")
    points = [compare(str(g), FIGURE_5.first(groups=g), effort) for g in GROUPS[::every]]
    show(page, "early_figure5_groups", "g1", points)
    page.section("Stream rate")
    points = [compare(str(r), FIGURE_5.first(rate=r), effort) for r in RATES[::every]]
    show(page, "early_figure5_rate", "rate of S1", points)
    page.section("Join selectivity")
    settings = {s: replace(FIGURE_5, selectivity=(s, s, s)) for s in SELECTIVITIES[::every]}
    points = [compare(str(s), setting, effort) for s, setting in settings.items()]
    show(page, "early_figure5_selectivity", "selectivity", points, xscale="log", yscale="log")
    page.write()


if __name__ == "__main__":
    main()
