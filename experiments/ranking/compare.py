"""Both algorithms on the same data, and tables that set them beside what the text prints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from experiments.frame import Page
from experiments.ranking.evaluate import Measured, Question, evaluate, rows_needed
from experiments.ranking.incomplete import Arrivals, IncompleteStreams
from experiments.ranking.literal import Tried, tried
from experiments.ranking.printed import Printed
from tidemill.algebra.ranking import Strategy

Data = Callable[[int], Arrivals]
"""Makes so many rows."""

HEADS = ("kept exactly", "kept approximately", "share", "precision", "error")


def synthetic(streams: int, recent: int, xi: float, seed: int = 1, blind: bool = False) -> Data:
    """Rows as the text generates them."""
    made = IncompleteStreams(streams, recent, xi, blind=blind)
    return lambda rows: made.generate(rows, seed)


@dataclass(frozen=True)
class Pair:
    """What the exact and the approximate algorithm make of the same rows."""

    exact: Measured
    approximate: Measured

    @staticmethod
    def of(data: Data, question: Question) -> Pair:
        """Run both. The exact one must be exact."""
        rows = data(rows_needed(question.window))
        exact = evaluate(rows, question, Strategy.EAA)
        if exact.precision != 1:
            raise AssertionError(f"EAA is not exact: {exact} for {question}")
        return Pair(exact, evaluate(rows, question, Strategy.APPROXIMATE))

    @property
    def share(self) -> float:
        """How much the approximate one keeps of what the exact one keeps."""
        return self.approximate.size / self.exact.size

    @property
    def cells(self) -> list[object]:
        """For `HEADS`."""
        own = self.approximate
        return [self.exact.size, own.size, self.share, own.precision, own.error]


def cells_of(printed: Printed) -> list[object]:
    """What the text has, for `HEADS`."""
    exact, own, precision, error = printed
    return [exact, own, own / exact, precision, error]


@dataclass(frozen=True)
class Reading:
    """A way to read what the text leaves open: rows per unit of a window, C, and what recurs."""

    name: str
    rows: float
    recent: int
    blind: bool = False

    @cache  # noqa: B019 (tables share a row, and readings are few)
    def pair(self, question: Question, xi: float = 0.5) -> Pair:
        """Both algorithms, if the question is read so."""
        window = round(self.rows * question.window)
        data = synthetic(question.streams, self.recent, xi, blind=self.blind)
        return Pair.of(data, replace(question, window=window))

    def tried(
        self, question: Question, confidence: float | None, seeds: Sequence[int], xi: float = 0.5
    ) -> Tried:
        """The algorithm as it is defined, in the mean over several sets of data."""
        question = replace(question, window=round(self.rows * question.window))
        data = [synthetic(question.streams, self.recent, xi, seed, self.blind) for seed in seeds]
        rows = rows_needed(question.window)
        runs = [tried(make(rows), question, confidence) for make in data]
        return Tried(*np.mean(runs, axis=0).tolist())


def beside(
    page: Page,
    head: str,
    printed: Mapping[int, Printed],
    measured: Mapping[str, Sequence[Pair]],
    picture: str,
) -> None:
    """A table of the text, each row followed by what was measured; and a picture of both."""
    rows: list[list[object]] = []
    for at, (value, row) in enumerate(printed.items()):
        rows.append([value, "the text", *cells_of(row)])
        rows += [[value, name, *pairs[at].cells] for name, pairs in measured.items()]
    page.table([head, "", *HEADS], rows)
    _draw(page, head, rows, picture)


def _draw(page: Page, head: str, rows: Sequence[Sequence[Any]], picture: str) -> None:
    """Sizes and precision, by what was varied: the text's with dashes."""
    with page.picture(picture, axes=2) as (sizes, precision):
        for name in dict.fromkeys(row[1] for row in rows):
            own = [row for row in rows if row[1] == name]
            at, style = [row[0] for row in own], "o--" if name == "the text" else "o-"
            exact = sizes.plot(at, [row[2] for row in own], style, label=f"exact, {name}")
            colour = exact[0].get_color()
            approximate = [row[3] for row in own]
            sizes.plot(at, approximate, style.replace("o", "^"), color=colour, label=None)
            precision.plot(at, [row[5] for row in own], style, color=colour, label=name)
        sizes.set_title("instances kept: exactly (●), approximately (▲)", loc="left", fontsize=10)
        precision.set_title("precision", loc="left", fontsize=10)
        for axes in (sizes, precision):
            axes.set_xlabel(head)
            axes.legend(fontsize=8)
