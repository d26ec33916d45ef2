"""Golab and Özsu, Figure 3: joins that are evaluated at intervals, in the best orders for each."""

from __future__ import annotations

from experiments.frame import COLOURS, Page, options  # isort: split

from collections.abc import Mapping, Sequence

from experiments.algorithms import Loops, first_at_top
from experiments.measure import NESTED_LOOP, Measurement, best_of
from experiments.multijoin import LoopWindow, choose_order, origin_cost
from experiments.multijoin.steps import MultiwaySteps, NaiveSteps
from experiments.streams import equal_streams, generate, scaled
from tidemill.optimize.joins.optimum import optimum

ALGORITHMS = ("naive", "lazy", "general")
ESTIMATED = range(1, 51)
MEASURED = (1, 2, 5, 10, 25, 50)
UNITS = 50

Plans = Mapping[str, tuple[Loops, ...]]


def main() -> None:
    asked = options(__doc__)
    page = Page("multijoin_figure3", "Figure 3: the interval between evaluations", asked)
    page.words(
        """Four streams, windows of length 100, 50 values. *Estimated*: rows looked at per unit of
        time by the best plan of each algorithm: naive (one order of loops for all), lazy (new rows
        at the top) and general (any order for each origin). *Seconds*: our operator with nested
        loops in these orders, per unit of time, with more rows and as many more values."""
    )
    equal = _part(page, "3 (a): all streams of rate 1", "3a", equal_streams(4), 10)
    page.words(
        f"""We agree on the estimates: lazy and general are the same, and naive is dearer, most of
        all at short intervals. In seconds, naive takes {equal[1]:.1f} times as long as lazy at an
        interval of 1 and {equal[50]:.1f} times at 50. We do not agree that a longer interval makes
        the lazy join dearer. In the text windows grow with the interval by the rows that have
        expired. Our operator finds the rows that hold together with a new row by binary search and
        looks at no others; and the longer the interval, the more rows share what it spends on an
        evaluation."""
    )
    streams = equal_streams(4, (1, 1, 1, 10))
    fast = _part(page, "3 (b): the fourth stream of rate 10", "3b", streams, 5)
    page.words(
        f"""On the estimates we agree: general is never the dearest, lazy is as good at short
        intervals, and from 15 on the naive join with the fast stream last beats the lazy one,
        because many new rows of the fast stream at the top repeat the loops below many times. In
        seconds, naive takes {fast[1]:.1f} times as long as lazy at an interval of 1 and
        {fast[50]:.2f} times at 50: the same turn, but little is at stake, for where it comes the
        three differ by little more than a tenth, in the model by less. That all grow again with the
        interval we do not see, as above."""
    )
    page.write()


def _part(
    page: Page, title: str, name: str, windows: tuple[LoopWindow, ...], scale: int
) -> dict[int, float]:
    """Draw one half of the figure; by interval, how many times the lazy join the naive takes."""
    page.section(title)
    estimated = {tau: _costs(windows, _plans(windows, tau), tau) for tau in ESTIMATED}
    intervals = sorted({*MEASURED[::2], MEASURED[-1]}) if page.options.quick else MEASURED
    seconds = {tau: _seconds(windows, tau, scale, page.options.quick) for tau in intervals}
    page.table(
        ["interval", *ALGORITHMS, *(f"{each}, seconds" for each in ALGORITHMS)],
        [
            (tau, *(estimated[tau][each] for each in ALGORITHMS), *times.values())
            for tau, times in seconds.items()
        ],
    )
    with page.picture(f"multijoin_figure{name}", axes=2) as (left, right):
        for colour, each in zip(COLOURS, ALGORITHMS, strict=False):
            left.plot(ESTIMATED, [costs[each] for costs in estimated.values()], color=colour)
            values = [times[each] for times in seconds.values()]
            right.plot(list(seconds), values, label=each, color=colour, marker="o")
        left.set_title(f"{name}, estimated: rows per unit of time", loc="left", fontsize=10)
        right.set_title(f"measured: seconds, {scale} times the rows", loc="left", fontsize=10)
        for axes in (left, right):
            axes.set_xlabel("interval between evaluations")
            axes.set_ylim(bottom=0)
    return {tau: times["naive"] / times["lazy"] for tau, times in seconds.items()}


def _plans(windows: Sequence[LoopWindow], tau: float) -> Plans:
    """The best plan of each algorithm: the loops by origin."""
    general = choose_order(windows, tau).orders
    places = {window.name: place for place, window in enumerate(windows)}
    return {
        "naive": (optimum(NaiveSteps(windows, tau)),) * len(windows),
        "lazy": first_at_top(optimum(MultiwaySteps(windows, tau))),
        "general": tuple(tuple(places[name] for name in general[origin]) for origin in places),
    }


def _costs(windows: Sequence[LoopWindow], plans: Plans, tau: float) -> dict[str, float]:
    return {
        name: sum(
            origin_cost(windows[origin].name, [windows[at] for at in order], tau)
            for origin, order in enumerate(orders)
        )
        for name, orders in plans.items()
    }


def _seconds(
    windows: tuple[LoopWindow, ...], tau: int, scale: int, quick: bool
) -> dict[str, float]:
    data = generate(scaled(windows, scale), 100 + UNITS)
    measurement = Measurement(data, round(tau * data.turns), NESTED_LOOP)
    found = best_of(measurement, _plans(windows, tau), 1 if quick else 4)
    return {name: measured.seconds / UNITS for name, measured in found.items()}


if __name__ == "__main__":
    main()
