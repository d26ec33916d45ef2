"""Haghani and others: what the text leaves open, and the whole curve of precision against share."""

from __future__ import annotations

from experiments.frame import COLOURS, Page, options  # isort: split

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from experiments.ranking.compare import Reading
from experiments.ranking.evaluate import Question
from experiments.ranking.literal import Tried
from experiments.ranking.printed import BY_LIMIT, BY_STREAMS, Printed

WINDOW = 1000
# Table 1 has the first of Table 2, too.
POINTS = {(3, k): row for k, row in BY_LIMIT.items()} | {
    (streams, 10): row for streams, row in BY_STREAMS.items() if streams != 3
}
PARTS = {"W rows": 1.0, "W/2 rows": 0.5}
RECENT = (5, 10, 20, 40, 60, 100, 167, 250, 500, 1000)
SEEDS = range(2)
CONFIDENCES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0, 1.5)
CURVES = (
    Reading("W rows, C = 60", 1.0, 60),
    Reading("W/2 rows, C = 167", 0.5, 167),
    Reading("W rows, C = 30, blind", 1.0, 30, blind=True),
)


class Fit(NamedTuple):
    """A reading, and how far it is from all six points of the text, on average."""

    reading: Reading
    counted: str
    exact: float
    approximate: float
    precision: float


def main() -> None:
    asked = options(__doc__)
    seeds = range(1) if asked.quick else SEEDS
    page = Page("topk_setting", "Tables 1 and 2: what the text leaves open", asked)
    page.words(
        f"""The text does not give C, the number of objects of each stream that may recur, nor what
        it counts in a window. All sizes of its Tables 1 to 4 are at most W/2, and two of them are
        exactly that. So two things are tried for all C: that a window has W rows, or half as many;
        and that instances are counted, as the text says, or objects. Runs of the algorithms as they
        are defined (`ranking/literal.py`), row by row, {len(seeds)} sets of data each."""
    )
    page.section("Distance from the six points of Tables 1 and 2")
    _fits(page, seeds, RECENT[1::3] if asked.quick else RECENT)
    page.section("Precision against share")
    _curves(page, seeds, CONFIDENCES[::3] if asked.quick else CONFIDENCES)
    page.write()


def _question(streams: int, limit: int) -> Question:
    return Question(streams, WINDOW, limit)


def _fits(page: Page, seeds: Sequence[int], recent: Sequence[int]) -> None:
    fits = []
    for name, part in PARTS.items():
        for each in recent:
            reading = Reading(name, part, each)
            runs = [
                (row, *(reading.tried(_question(*at), each, seeds) for each in (None, 1.0)))
                for at, row in POINTS.items()
            ]
            fits += [_fit(reading, counted, runs) for counted in ("instances", "objects")]
    fits.sort(key=lambda fit: fit.exact)
    columns = ["a window has", "counted", "C", "exact sizes, off by %"]
    columns += ["approximate sizes, times the text's", "precision, above the text's"]
    rows = [[fit.reading.name, fit.counted, fit.reading.recent, *fit[2:]] for fit in fits[:12]]
    page.table(columns, rows)
    literal = next(fit for fit in fits if fit.reading.rows == 1 and fit.counted == "instances")
    page.words(
        f"""The nearest of {len(fits)} readings, found after the fact: a guess that fits, not a
        finding. With half as many rows in a window all six exact sizes are met well, if C is at
        least a third of the window; more makes no difference. That would explain, too, why no size
        in the text is above W/2. Taken at its word (W rows, instances), the text is met best with
        C = {literal.reading.recent}, off by {literal.exact:.0f} %; C = 60 gives its exact size for
        k = 10, but no other one. Whatever is read, the approximate algorithm as it is defined keeps
        about twice what the text prints, and finds more of the truth."""
    )


def _fit(reading: Reading, counted: str, runs: Sequence[tuple[Printed, Tried, Tried]]) -> Fit:
    exact = [getattr(found, counted) / row.exact - 1 for row, found, _ in runs]
    own = [getattr(found, counted) / row.approximate for row, _, found in runs]
    precision = [found.precision - row.precision for row, _, found in runs]
    off = 100 * float(np.mean(np.abs(exact)))
    return Fit(reading, counted, off, float(np.mean(own)), float(np.mean(precision)))


def skyband(count: int, limit: int) -> float:
    """How many of so many scores fewer than `limit` later ones exceed, on average.

    >>> round(skyband(1000, 10), 1), skyband(5, 5)
    (55.6, 5.0)
    """
    return float(np.minimum(1, limit / np.arange(1, count + 1)).sum())


def _curves(page: Page, seeds: Sequence[int], confidences: Sequence[float]) -> None:
    rows: list[list[object]] = []
    for number, reading in enumerate(CURVES, 1):
        with page.picture(f"topk_setting{number}") as axes:
            for (k, row), colour in zip(BY_LIMIT.items(), COLOURS, strict=False):
                exact = reading.tried(_question(3, k), None, seeds).instances
                runs = [reading.tried(_question(3, k), each, seeds) for each in confidences]
                points = [(run.instances / exact, run.precision) for run in runs]
                _curve(axes, k, row, points, colour)
                text = f"{row.approximate / row.exact:.2f}: {row.precision}"
                cells = [f"{share:.2f}: {precision:.2f}" for share, precision in points]
                rows.append([reading.name, k, text, *cells])
            axes.set_title(f"precision over share: {reading.name}", loc="left", fontsize=10)
            axes.set_xlabel("share of what the exact algorithm keeps")
    page.table(["", "k", "the text", *(f"confidence {each:g}" for each in confidences)], rows)
    kept = ", ".join(f"{row.approximate:.0f}" for row in BY_LIMIT.values())
    least = ", ".join(f"{skyband(WINDOW, k):.0f}" for k in BY_LIMIT)
    page.words(
        f"""Share and precision, by the part of what is likely that counts (`confidence`; 1
        is the text's definition, and ours unless it is told otherwise). The text's
        generator can be read in two ways: that an object which recurs is one that the
        stream has not had, or, *blind*, any of another stream, and a new one comes after
        all if the stream has had it. Read blindly, with C = 30, the share and the precision
        of the text are reached together for all four k, with a confidence of 0.4 (and of
        less); with its definition precision is higher, and more is kept. But then the exact
        algorithm keeps more than the text prints. Read in the other way, they are reached
        for k = 100 only, with a confidence of about 0.1. For the four k the text keeps
        {kept} instances. Of W scores that never change, {least} are not exceeded by k later
        ones: it keeps about as much as if it expected nothing of what is still to come,
        which its definition does not do. The precision that can be had for a share depends
        on how soon after each other the rows of an object come, and how many objects are
        ever complete."""
    )


def _curve(
    axes: Any, k: int, row: Printed, points: Sequence[tuple[float, float]], colour: str
) -> None:
    axes.plot(*zip(*points, strict=True), "o-", color=colour, label=f"k = {k}")
    text = (row.approximate / row.exact, row.precision)
    axes.plot(*text, "*", color=colour, markersize=14, label=f"the text, k = {k}")


if __name__ == "__main__":
    main()
