"""What each loop adds to the cost of an order, in the three kinds of joins of the text.

For the multi-way join too, it depends on which windows are above, not on their order: there the new
rows of every origin, above or below, are matched with the windows above.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from experiments.multijoin.windows import LoopWindow
from tidemill.optimize.joins.steps import (
    Floats,
    Sets,
    array,
    fewest_values,
    join_sizes,
    products,
)


@dataclass(frozen=True)
class MultiwaySteps:
    """The multi-way join: new rows of every origin at the top, then one order for all."""

    windows: Sequence[LoopWindow]
    tau: float | None = None

    def costs(self, sets: Sets) -> Floats:
        """As of all steps: for each set above and each window, the cost of its loop."""
        rows = array(window.rows(self.tau) for window in self.windows)
        # New rows of an origin have the matches of its whole window, by the share that is new.
        fresh = 1 / array(window.length(self.tau) for window in self.windows)
        repeated = _sums_of_others(_grown(sets, self.windows, rows) * fresh)
        costs = repeated * _scans(self.windows, rows)
        if any(window.buckets is None for window in self.windows):
            others = fresh * (1 - np.eye(len(self.windows)))
            matches = (_grown_by_two(sets, self.windows, rows) * others).sum(axis=2)
            costs += matches * _by_value(self.windows)
        return costs

    def sizes(self, sets: Sets) -> Floats:
        """The size of the join of the whole windows of each set."""
        return join_sizes(sets, self.windows, array(w.rows(self.tau) for w in self.windows))[:, 0]


@dataclass(frozen=True)
class OriginSteps:
    """New rows of one origin, joined by loops in any order, wherever the new rows are."""

    windows: Sequence[LoopWindow]
    origin: int
    tau: float | None = None

    def costs(self, sets: Sets) -> Floats:
        """As of all steps; the loop at the top costs nothing."""
        rows = self._rows()
        scans = _scans(self.windows, rows)
        if self.tau is None:
            scans[self.origin] = 1
        begun = sets.any(axis=1, keepdims=True)
        costs = np.where(begun, join_sizes(sets, self.windows, rows), 0.0) * scans
        costs += _grown(sets, self.windows, rows) * _by_value(self.windows) * begun
        return costs * self.windows[self.origin].evaluations(self.tau)

    def sizes(self, sets: Sets) -> Floats:
        """The size of the join of each set, with the new rows alone of the origin."""
        return join_sizes(sets, self.windows, self._rows())[:, 0]

    def _rows(self) -> Floats:
        rows = array(window.rows(self.tau) for window in self.windows)
        rows[self.origin] = self.windows[self.origin].fresh(self.tau)
        return rows


@dataclass(frozen=True)
class NaiveSteps:
    """The naive join: the same loops for every origin."""

    windows: Sequence[LoopWindow]
    tau: float | None = None

    def costs(self, sets: Sets) -> Floats:
        """As of all steps: the sum over the origins."""
        places = range(len(self.windows))
        parts = [OriginSteps(self.windows, place, self.tau).costs(sets) for place in places]
        return np.asarray(np.sum(parts, axis=0))

    def sizes(self, sets: Sets) -> Floats:
        """The size of the join of the whole windows of each set."""
        return MultiwaySteps(self.windows, self.tau).sizes(sets)


def _grown(sets: Sets, windows: Sequence[LoopWindow], rows: Floats) -> Floats:
    """For each set and window, the size of the join of both."""
    distinct = array(window.distinct for window in windows)
    factors = np.where(sets, 1.0, rows / distinct)
    return (
        products(sets, rows / distinct)
        * factors
        * np.minimum(fewest_values(sets, distinct), distinct)
    )


def _grown_by_two(sets: Sets, windows: Sequence[LoopWindow], rows: Floats) -> Floats:
    """For each set, window and other window, the size of the join of all."""
    distinct = array(window.distinct for window in windows)
    factors = np.where(sets, 1.0, rows / distinct)
    fewest = np.minimum(fewest_values(sets, distinct), distinct)[:, :, None]
    both = factors[:, :, None] * factors[:, None, :]
    sizes: Floats = (
        np.minimum(fewest, distinct) * both * products(sets, rows / distinct)[:, :, None]
    )
    return sizes


def _scans(windows: Sequence[LoopWindow], rows: Floats) -> Floats:
    return array(window.scanned(count) for window, count in zip(windows, rows, strict=True))


def _by_value(windows: Sequence[LoopWindow]) -> Floats:
    """1 for windows in which only matches are looked at, after they were found."""
    return array(window.buckets is None for window in windows)


def _sums_of_others(values: Floats) -> Floats:
    # Not the sum less the value: of a value that outweighs all others, nothing would be left.
    sums = np.zeros_like(values)
    sums[:, 1:] = np.cumsum(values, axis=1)[:, :-1]
    sums[:, :-1] += np.cumsum(values[:, ::-1], axis=1)[:, -2::-1]
    return sums
