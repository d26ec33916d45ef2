"""Plans at some points of a parameter: what the text's formulas say, what ours say, what we saw."""

from __future__ import annotations

from experiments.frame import COLOURS, Page, same_ranking  # isort: split

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from experiments.early.costs import Work, hash_work
from experiments.early.measure import Effort, Measured, measure
from experiments.early.setting import LARGEST_TABLE, Setting
from tidemill.optimize.cost.usage import NANOSECOND
from tidemill.optimize.early.plan_costs import PlanRows, plan_rows
from tidemill.optimize.early.plans import Costs, all_masks, plan_name

# As many as a join of three inputs has plans.
_PALETTE = (*COLOURS, "#999999")

# Plans whose times differ by less than that are taken to be equally fast.
NOISE = 1.15


@dataclass(frozen=True)
class Point:
    """One setting: by plan, the text's coefficients, our estimates, and what was measured.

    Times are seconds of one core per second of the stream.
    """

    label: str
    setting: Setting
    names: list[str]
    work: Work
    rows: PlanRows
    measured: list[Measured]

    @property
    def seconds(self) -> dict[str, float]:
        return dict(zip(self.names, (m.seconds for m in self.measured), strict=True))

    @property
    def ours(self) -> dict[str, float]:
        costs = self.rows.cost() * self.setting.second * NANOSECOND
        return dict(zip(self.names, costs.tolist(), strict=True))

    def text(self, tuning: Costs) -> dict[str, float]:
        return dict(zip(self.names, (self.work @ tuning).tolist(), strict=True))


def compare(label: str, setting: Setting, effort: Effort, work: Any = hash_work) -> Point:
    """All plans of a setting."""
    masks = all_masks([True] * len(setting))
    return Point(
        label,
        setting,
        [plan_name(mask) for mask in masks],
        work(setting.streams, masks, LARGEST_TABLE),
        plan_rows(setting.sides, masks, tick=effort.tick * setting.second),
        [measure(setting, tuple(mask), effort) for mask in masks.tolist()],
    )


def fitted(points: Sequence[Point]) -> Costs:
    """The text's P, U and U_g such that its costs come closest to the measured times, relatively.

    The text tunes its constants so, anew for each set of experiments. None is below 0: of all
    sets of constants that may be positive, the best one whose solution is.
    """
    measured = np.array([m.seconds for point in points for m in point.measured])
    work = np.concatenate([point.work for point in points]) / measured[:, None]
    best, least = np.zeros(3), np.inf
    for some in (s for size in (1, 2, 3) for s in combinations(range(3), size)):
        found = np.linalg.lstsq(work[:, some], np.ones(len(work)), rcond=None)[0]
        error = float(np.square(work[:, some] @ found - 1).sum())
        if (found >= 0).all() and error < least:
            best, least = np.zeros(3), error
            best[list(some)] = found
    return best


def agreement(estimated: Mapping[str, float], measured: Mapping[str, float]) -> float:
    """The share of pairs of plans, of clearly different times, that are in the estimated order."""
    pairs = [(a, b) for a in measured for b in measured if measured[a] > NOISE * measured[b]]
    return float(np.mean([estimated[a] > estimated[b] for a, b in pairs])) if pairs else 1.0


def regret(estimated: Mapping[str, float], measured: Mapping[str, float]) -> float:
    """How many times the best time the plan takes that the estimates choose."""
    return measured[min(estimated, key=estimated.__getitem__)] / min(measured.values())


FITTED = """The constants of the text's cost functions are fitted to the times anew for each
    picture, as the text does it."""


def how_measured(effort: Effort, text: str = FITTED) -> str:
    """What every page says first; `text` is about the constants of the text's cost functions."""
    return f"""Times are seconds of one core per second of the stream, with full windows, on the
        in-process runtime; of {effort.ticks} ticks, each {effort.tick:g} s of the stream, the
        middle one counts. The machine did other work meanwhile, so times are good to a fifth or so.
        {text} Those of our estimates are the optimizer's, the same everywhere and for all that it
        decides; they were measured on single operators, and not on these plans."""


def growth(points: Sequence[Point], plan: str) -> str:
    """How many times the first time the last one is."""
    return f"{points[-1].seconds[plan] / points[0].seconds[plan]:.1f}-fold"


def slower(points: Sequence[Point], plan: str) -> str:
    """At how many points a plan is slower than the late one."""
    count = sum(point.seconds[plan] > point.seconds["LAP"] for point in points)
    return f"{count} of {len(points)} points"


def ratio(point: Point, slow: str, fast: str) -> float:
    """How many times faster one plan is than another."""
    return round(point.seconds[slow] / point.seconds[fast], 1)


def show(page: Page, picture: str, variable: str, points: Sequence[Point], **scale: str) -> None:
    """A picture of all three, and a table: times, and who chooses what."""
    tuning = fitted(points)
    text_costs = [point.text(tuning) for point in points]
    with page.picture(picture, axes=2) as (left, right):
        _lines(left, points, text_costs)
        left.set_title("cost functions of the text, fitted", loc="left")
        _lines(right, points, [point.seconds for point in points], "o")
        _lines(right, points, [point.ours for point in points], "-", label=False)
        right.set_title("measured (points) and estimated by us (lines)", loc="left")
        for axes in (left, right):
            axes.set(xlabel=variable, ylabel="seconds per second", **scale)
            if "yscale" not in scale:
                axes.set_ylim(bottom=0)
    rows = []
    for point, text in zip(points, text_costs, strict=True):
        times = [f"{point.seconds[name] * 1000:.3g}" for name in point.names]
        best, by_text, by_us = (
            min(c, key=c.__getitem__) for c in (point.seconds, text, point.ours)
        )
        lost = [regret(costs, point.seconds) for costs in (text, point.ours)]
        rows.append([point.label, *times, best, by_text, lost[0], by_us, lost[1]])
    columns = [variable, *points[0].names, "best", "text chooses", "times best", "we choose"]
    page.table([*columns, "times best"], rows)
    page.words(_summary(points, text_costs))


def _summary(points: Sequence[Point], text: Sequence[Mapping[str, float]]) -> str:
    ours = [point.ours for point in points]
    measured = [point.seconds for point in points]
    shares = [np.mean(list(map(agreement, e, measured))) for e in (text, ours)]
    ranks = [np.mean(list(map(same_ranking, e, measured))) for e in (text, ours)]
    rows = [
        (m.rows, float(estimate) * point.setting.second)
        for point in points
        for m, estimate in zip(point.measured, point.rows.late, strict=True)
    ]
    error = np.median([abs(estimate / max(seen, 1) - 1) for seen, estimate in rows])
    return f"""Times in milliseconds per second of the stream. Of the pairs of plans whose times
        differ by more than {NOISE - 1:.0%}, the text's functions order {shares[0]:.0%} as measured,
        our estimates {shares[1]:.0%} (rank correlations {ranks[0]:.2f} and {ranks[1]:.2f}). Rows
        into the late aggregate: our estimates are off by {error:.1%} at the median."""


def _lines(
    axes: Any,
    points: Sequence[Point],
    costs: Sequence[Mapping[str, float]],
    style: str = "-",
    label: bool = True,
) -> None:
    places = [float(point.label) for point in points]
    for number, name in enumerate(points[0].names):
        shown = {"color": _PALETTE[number], "label": name if label else None}
        axes.plot(places, [cost[name] for cost in costs], style, markersize=4, **shown)
