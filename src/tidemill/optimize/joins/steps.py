"""What each loop adds to the cost of an order, for many orders at once.

A loop is repeated for every match of the loops above it, and how many there are depends on which
windows these are, not on their order. So the cost of an order is a sum over its windows of
`step(windows above, window)`: for the multi-way join too, where the new rows of every origin, above
or below, are matched with the windows above. This is what lets `optimum` find the best of all n!
orders by looking at the 2^n sets of windows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from tidemill.optimize.joins.windows import JoinWindow

Floats = npt.NDArray[np.float64]
# Rows are sets of windows: whether each window is in it.
Sets = npt.NDArray[np.bool_]


class Steps(Protocol):
    """A kind of join over given windows."""

    @property
    def windows(self) -> Sequence[JoinWindow]:
        """The windows; orders and sets name them by their places."""
        ...

    def costs(self, sets: Sets) -> Floats:
        """For each set of windows above and each window: the cost of its loop."""
        ...

    def sizes(self, sets: Sets) -> Floats:
        """The size of the join of each set, which the heuristic makes small."""
        ...


@dataclass(frozen=True)
class MultiwaySteps:
    """The multi-way join: new rows of every origin at the top, then one order for all."""

    windows: Sequence[JoinWindow]
    tau: float | None = None

    def costs(self, sets: Sets) -> Floats:
        """As of all steps: for each set above and each window, the cost of its loop."""
        rows = _array(window.rows(self.tau) for window in self.windows)
        distinct = _array(window.distinct for window in self.windows)
        product, fewest = _product(sets, rows / distinct), _fewest(sets, distinct)
        # Matches of the new rows of each origin with the set: those of the set and the origin's
        # whole window, by the share of the window that is new per unit of time.
        grown = np.where(sets, product, product * (rows / distinct)) * np.minimum(fewest, distinct)
        matches = grown / _array(window.length(self.tau) for window in self.windows)
        return _sums_of_others(matches) * _scans(self.windows, rows)

    def sizes(self, sets: Sets) -> Floats:
        """The size of the join of the whole windows of each set."""
        return _sizes(sets, self.windows, _array(w.rows(self.tau) for w in self.windows))[:, 0]


@dataclass(frozen=True)
class OriginSteps:
    """New rows of one origin, joined by loops in any order, wherever the new rows are."""

    windows: Sequence[JoinWindow]
    origin: int
    tau: float | None = None

    def costs(self, sets: Sets) -> Floats:
        """As of all steps; the loop at the top costs nothing."""
        rows = self._rows()
        sizes = _sizes(sets, self.windows, rows)
        matches = np.where(sets.any(axis=1, keepdims=True), sizes, 0.0)
        scans = _scans(self.windows, rows)
        if self.tau is None:
            scans[self.origin] = rows[self.origin]
        return matches * scans * self.windows[self.origin].evaluations(self.tau)

    def sizes(self, sets: Sets) -> Floats:
        """The size of the join of each set, with the new rows alone of the origin."""
        return _sizes(sets, self.windows, self._rows())[:, 0]

    def _rows(self) -> Floats:
        rows = _array(window.rows(self.tau) for window in self.windows)
        rows[self.origin] = self.windows[self.origin].fresh(self.tau)
        return rows


@dataclass(frozen=True)
class NaiveSteps:
    """The naive join: the same loops for every origin."""

    windows: Sequence[JoinWindow]
    tau: float | None = None

    def costs(self, sets: Sets) -> Floats:
        """As of all steps: the sum over the origins."""
        places = range(len(self.windows))
        parts = [OriginSteps(self.windows, place, self.tau).costs(sets) for place in places]
        return np.asarray(np.sum(parts, axis=0))

    def sizes(self, sets: Sets) -> Floats:
        """The size of the join of the whole windows of each set."""
        return MultiwaySteps(self.windows, self.tau).sizes(sets)


def _array(values: Iterable[float]) -> Floats:
    return np.fromiter(values, dtype=np.float64)


def _product(sets: Sets, factors: Floats) -> Floats:
    return np.asarray(np.where(sets, factors, 1.0).prod(axis=1, keepdims=True))


def _fewest(sets: Sets, distinct: Floats) -> Floats:
    return np.asarray(np.where(sets, distinct, np.inf).min(axis=1, keepdims=True))


def _sizes(sets: Sets, windows: Sequence[JoinWindow], rows: Floats) -> Floats:
    distinct = _array(window.distinct for window in windows)
    return _product(sets, rows / distinct) * _fewest(sets, distinct)


def _scans(windows: Sequence[JoinWindow], rows: Floats) -> Floats:
    return rows / _array(window.parts for window in windows)


def _sums_of_others(values: Floats) -> Floats:
    # Not the sum less the value: of a value that outweighs all others, nothing would be left.
    before = np.zeros_like(values)
    before[:, 1:] = np.cumsum(values, axis=1)[:, :-1]
    after = np.zeros_like(values)
    after[:, :-1] = np.cumsum(values[:, ::-1], axis=1)[:, -2::-1]
    return before + after
