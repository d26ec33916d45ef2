"""Tran and Lee, Figure 4: all plans of a two-way join, as one parameter after the other varies."""

from __future__ import annotations

from experiments.frame import Page, options  # isort: split

from dataclasses import replace

from experiments.early.comparison import compare, show
from experiments.early.measure import Effort
from experiments.early.setting import FIGURE_4

FULL, QUICK = Effort(ticks=4, tick=5.0), Effort(ticks=2, tick=2.0)

WINDOWS = (1000, 2000, 3000, 4000, 5000)
GROUPS = tuple(3**power for power in range(1, 10))
RATES = (100, 300, 500, 700, 900)
SELECTIVITIES = (0.0005, 0.005, 0.05, 0.5)


def main() -> None:
    asked = options(__doc__)
    effort, every = (QUICK, 4) if asked.quick else (FULL, 1)
    page = Page("early_figure4", "Figure 4: early aggregation below a two-way join", asked)
    page.section("Window size")
    points = [compare(str(w), FIGURE_4.first(window=w), effort) for w in WINDOWS[::every]]
    show(page, "early_figure4_window", "w1", points)
    page.section("Number of groups")
    points = [compare(str(g), FIGURE_4.first(groups=g), effort) for g in GROUPS[::every]]
    show(page, "early_figure4_groups", "g1", points, xscale="log")
    page.section("Stream rate")
    fixed = replace(FIGURE_4, rate=(300, 500))
    points = [compare(str(r), fixed.first(rate=r), effort) for r in RATES[::every]]
    show(page, "early_figure4_rate", "rate of S1", points)
    page.section("Join selectivity")
    settings = {s: replace(FIGURE_4, selectivity=(s, s)) for s in SELECTIVITIES[::every]}
    points = [compare(str(s), setting, effort) for s, setting in settings.items()]
    show(page, "early_figure4_selectivity", "selectivity", points, xscale="log", yscale="log")
    page.write()


if __name__ == "__main__":
    main()
