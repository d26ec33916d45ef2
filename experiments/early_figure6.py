"""Tran and Lee, Figure 6: settings in which each plan in turn is the best one."""

from __future__ import annotations

from experiments.frame import COLOURS, Page, options  # isort: split

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from experiments.early.comparison import Point, compare, how_measured, regret
from experiments.early.costs import nested_loop_work, printed_equation_20
from experiments.early.measure import Effort
from experiments.early.setting import LARGEST_TABLE, Setting

FULL, QUICK = Effort(ticks=5, tick=1.0), Effort(ticks=2, tick=0.5)

FEW, MANY = 1, 1000

# Both streams bring 10 000 rows a second, on a clock that tells them apart.
SAME = Setting((1e4, 1e4), (1000, 1000), (FEW, FEW), (0.01, 0.01), second=100_000)
TEXT = {
    "few, few": SAME,
    "few, many": replace(SAME, groups=(FEW, MANY)),
    "many, few": replace(SAME, groups=(MANY, FEW)),
    "many, many": replace(SAME, groups=(MANY, MANY)),
}
LONG, SHORT = 5000, 500
OURS = {
    "few, few": replace(SAME, window=(LONG, LONG)),
    "few (long), many": replace(SAME, window=(LONG, SHORT), groups=(FEW, MANY)),
    "many, few (long)": replace(SAME, window=(SHORT, LONG), groups=(MANY, FEW)),
    "many, many": replace(SAME, window=(LONG, LONG), groups=(MANY, MANY)),
}

UNIT = "The text's costs are those of nested loops, with all its constants 1."

GROUPS_ALONE = """Agreed: with few groups in both streams EAP11 is the best plan by far, with many
    in both the late plan is, give or take the noise. Not agreed: with few groups in one stream,
    the text has the plan that aggregates this stream far ahead (its settings are not printed; these
    are chosen so that its formulas put each plan first). For us such a plan is no better than the
    late one, because a stream that is aggregated brings two versions per row where it brought one
    row, and each meets all the rows of the other; see [Figure 4](early_figure4.md). Our estimates
    say so too."""

WINDOWS_TOO = """Each plan is the best one somewhere for us as well: few groups are not enough, the
    window of the stream to be aggregated must also be the longer one. Then its many rows are met by
    those of the other stream as few versions, and its own versions meet few rows. The text's
    formulas choose the same plans here."""

AS_PRINTED = """Costs of EAP10 as shares of the late plan's. As printed, the equation looks up
    groups of the early set in the table of the result, and those of the result in the table of S2.
    It would praise EAP10 where groups are few in S1 and many in S2, and rule it out where they are
    many in both."""


def main() -> None:
    asked = options(__doc__)
    effort = QUICK if asked.quick else FULL
    page = Page("early_figure6", "Figure 6: each plan is the best one somewhere", asked)
    page.words(how_measured(effort, UNIT))
    page.section("Few or many groups in each stream")
    show(page, "early_figure6_groups", points(TEXT, effort))
    page.words(GROUPS_ALONE)
    page.section("The windows differ, too")
    show(page, "early_figure6_windows", points(OURS, effort))
    page.words(WINDOWS_TOO)
    page.section("Equation 20 as printed")
    printed(page)
    page.words(AS_PRINTED)
    page.write()


def points(settings: Mapping[str, Setting], effort: Effort) -> list[Point]:
    return [compare(label, s, effort, nested_loop_work) for label, s in settings.items()]


def show(page: Page, picture: str, found: Sequence[Point]) -> None:
    """Bars for every setting: costs by the text, and measured, as a share of the late plan's."""
    unit = np.ones(3)
    with page.picture(picture, axes=2) as (left, right):
        _bars(left, found, [point.text(unit) for point in found])
        left.set_title("cost functions of the text, late plan = 1", loc="left")
        _bars(right, found, [point.seconds for point in found])
        right.set_title("measured, late plan = 1", loc="left")
    rows = []
    for point in found:
        text, times = point.text(unit), point.seconds
        best = [min(costs, key=costs.__getitem__) for costs in (text, point.ours, times)]
        milliseconds = [f"{times[name] * 1000:.3g}" for name in point.names]
        rows.append([point.label, *milliseconds, *best, regret(point.ours, times)])
    columns = [
        "groups of S1, S2",
        *found[0].names,
        "best by the text",
        "we choose",
        "best measured",
    ]
    page.table([*columns, "ours, times best"], rows)


def printed(page: Page) -> None:
    """What the printed equation would make of the plan that aggregates S1 early."""
    rows = []
    for label, setting in TEXT.items():
        streams = setting.streams
        wrong = printed_equation_20(*streams, LARGEST_TABLE).sum()
        masks = np.array([[True, False], [False, False]])
        right, late = nested_loop_work(streams, masks, LARGEST_TABLE).sum(axis=1)
        rows.append([label, wrong / late, right / late])
    page.table(["groups of S1, S2", "EAP10 as printed", "EAP10 put right"], rows)


def _bars(axes: Any, found: Sequence[Point], costs: Sequence[Mapping[str, float]]) -> None:
    names = found[0].names
    for number, name in enumerate(names):
        heights = [cost[name] / cost["LAP"] for cost in costs]
        places = np.arange(len(found)) + (number - (len(names) - 1) / 2) / (len(names) + 1)
        width = 1 / (len(names) + 1)
        axes.bar(places, heights, width, color=COLOURS[number], label=name)
    axes.set_ylim(0, 1.5)
    axes.set_xticks(range(len(found)), [point.label for point in found], fontsize=8)


if __name__ == "__main__":
    main()
