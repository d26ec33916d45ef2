"""Totals of several ways to shed over memory, several times, as tables and pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from experiments.frame import COLOURS, Page
from experiments.star.data import Star
from experiments.star.shedding import Total

Way = Callable[[Star, int], Total]
"""A way to join streams within so much memory."""


class Curves:
    """Totals by way, memory and data."""

    def __init__(
        self, ways: Mapping[str, Way], memory: Sequence[int], stars: Sequence[Star]
    ) -> None:
        self.names, self.memory = list(ways), list(memory)
        self._totals = np.array(
            [[[way(star, m) for star in stars] for m in memory] for way in ways.values()],
            dtype=float,
        )

    def importance(self, name: str, memory: int) -> float:
        """The mean over all data."""
        return float(self._at(name, memory)[:, 0].mean())

    def tuples(self, name: str, memory: int) -> float:
        """The same for the number of results."""
        return float(self._at(name, memory)[:, 1].mean())

    def ranking(self, page: Page, *names: str) -> None:
        """On how much of the data each way gives at least the importance of the next one."""
        rows = [
            [f"{one} ≥ {other}", *(100 * self._wins(one, other, m) for m in self.memory)]
            for one, other in pairwise(names)
        ]
        page.table(["% of the data", *(f"M = {m}" for m in self.memory)], rows)

    def _wins(self, name: str, over: str, memory: int) -> float:
        return float(np.mean(self._at(name, memory)[:, 0] >= self._at(over, memory)[:, 0]))

    def table(self, page: Page) -> None:
        """Means, and in brackets the standard deviation over the data."""
        rows = [
            [m, *(_spread(self._at(name, m)[:, 0]) for name in self.names)] for m in self.memory
        ]
        page.table(["M", *self.names], rows)

    def totals(self, axes: Any) -> None:
        """Importances as lines."""
        self._lines(axes, self._totals[..., 0])
        axes.set_title("total importance", loc="left", fontsize=10)

    def shares(self, axes: Any, whole: str) -> None:
        """Shares of another way as lines, with the deviation as bars."""
        shares = self._totals[..., 0] / self._totals[self.names.index(whole), ..., 0]
        self._lines(axes, shares)
        for values, colour in zip(shares, COLOURS, strict=False):
            mean, spread = values.mean(axis=1), values.std(axis=1)
            axes.vlines(self.memory, mean - spread, mean + spread, color=colour)
        axes.set_title(f"share of {whole}, with its standard deviation", loc="left", fontsize=10)

    def _lines(self, axes: Any, values: np.ndarray) -> None:
        for name, mean, colour in zip(self.names, values.mean(axis=2), COLOURS, strict=False):
            axes.plot(self.memory, mean, color=colour, label=name)
        axes.set_xlabel("memory M, rows")
        axes.set_xticks(self.memory)

    def _at(self, name: str, memory: int) -> np.ndarray:
        found: np.ndarray = self._totals[self.names.index(name), self.memory.index(memory)]
        return found


def _spread(values: np.ndarray) -> str:
    return f"{values.mean():,.0f} ({values.std():,.0f})"
