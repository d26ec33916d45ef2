"""Haghani and others, Figure 4: the size of the dominance set over data size and interval size."""

from __future__ import annotations

from experiments.frame import COLOURS, Page, options  # isort: split

from collections.abc import Sequence
from typing import Any

import numpy as np

from experiments.ranking.lemma import dominance_sizes, expected_size

SIZES = (10, 50, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000)
INTERVALS = (0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)
SIZE, INTERVAL = SIZES[-1], 0.1
REPETITIONS = 100

Point = tuple[int, float]

AGREEMENT = """We agree with the text: the skyline is logarithmic in the number of objects, the
    dominance set of intervals grows linearly with it, and linearly with the interval. The bound of
    Lemma 1, nε, is the slope; above it are only the few that are in the skyline anyway. The
    expectation can be given exactly, which the text does not do: nε + Σ (1 − εᵐ)/m for m up to n.
    What was drawn lies around it, by no more than about two standard errors. Which n the text took
    for its second picture, and which ε for its first, it does not say."""


def main() -> None:
    asked = options(__doc__)
    repetitions = 10 if asked.quick else REPETITIONS
    page = Page("topk_figure4", "Figure 4: the size of the dominance set", asked)
    page.words(
        f"""Objects have a score, uniform between 0 and 1, which may still grow by the interval ε,
        but not above 1; they come one after another. An object is dominated if a later one has
        already more than it can reach (k = 1). With ε = 0 that is the skyline. Means of
        {repetitions} repetitions, in brackets the standard error; *expected*: exactly."""
    )
    page.section("Figure 4")
    by_size = [(size, INTERVAL) for size in SIZES]
    skyline = [(size, 0.0) for size in SIZES]
    by_interval = [(SIZE, interval) for interval in INTERVALS]
    drawn = {
        point: dominance_sizes(*point, repetitions, seed)
        for seed, point in enumerate(dict.fromkeys((*by_size, *skyline, *by_interval)))
    }
    _tables(page, drawn)
    with page.picture("topk_figure4", axes=2) as (first, second):
        _draw(first, SIZES, drawn, by_size, f"interval dominance, ε = {INTERVAL}", COLOURS[0])
        _draw(first, SIZES, drawn, skyline, "skyline (ε = 0)", COLOURS[1])
        first.set_xlabel("objects n")
        _draw(
            second, INTERVALS, drawn, by_interval, f"interval dominance, n = {SIZE:,}", COLOURS[0]
        )
        second.axhline(
            expected_size(SIZE, 0), color=COLOURS[1], linestyle="--", label="skyline (ε = 0)"
        )
        second.set_xlabel("interval ε")
    page.words(AGREEMENT)
    page.write()


def _tables(page: Page, drawn: dict[Point, np.ndarray]) -> None:
    shown = ["skyline", "expected", f"dominance set, ε = {INTERVAL}", "expected", "nε"]
    rows = [
        [size, *_cells(drawn, (size, 0.0)), *_cells(drawn, (size, INTERVAL)), size * INTERVAL]
        for size in SIZES
    ]
    page.table(["objects n", *shown], rows)
    shown = [f"dominance set, n = {SIZE:,}", "expected", "nε"]
    rows = [[each, *_cells(drawn, (SIZE, each)), SIZE * each] for each in INTERVALS]
    page.table(["interval ε", *shown], rows)


def _cells(drawn: dict[Point, np.ndarray], point: Point) -> tuple[str, float]:
    sizes = drawn[point]
    error = sizes.std(ddof=1) / np.sqrt(len(sizes))
    return f"{sizes.mean():.1f} ({error:.1f})", expected_size(*point)


def _draw(
    axes: Any,
    at: Sequence[float],
    drawn: dict[Point, np.ndarray],
    points: Sequence[Point],
    label: str,
    colour: str,
) -> None:
    """What was drawn as dots, what is expected as a line."""
    axes.plot(at, [drawn[point].mean() for point in points], "o", color=colour, label=label)
    axes.plot(at, [expected_size(*point) for point in points], color=colour, label="expected")
    axes.set_title("size of the dominance set", loc="left", fontsize=10)


if __name__ == "__main__":
    main()
