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
        # New rows of an origin have the matches of its whole window, by the share that is new.
        fresh = 1 / _array(window.length(self.tau) for window in self.windows)
        repeated = _sums_of_others(_grown(sets, self.windows, rows) * fresh)
        costs = repeated * _scans(self.windows, rows)
        if any(window.buckets is None for window in self.windows):
            others = fresh * (1 - np.eye(len(self.windows)))
            matches = (_grown_by_two(sets, self.windows, rows) * others).sum(axis=2)
            costs += matches * _by_value(self.windows)
        return costs

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
        scans = _scans(self.windows, rows)
        if self.tau is None:
            scans[self.origin] = 1
        begun = sets.any(axis=1, keepdims=True)
        costs = np.where(begun, _sizes(sets, self.windows, rows), 0.0) * scans
        costs += _grown(sets, self.windows, rows) * _by_value(self.windows) * begun
        return costs * self.windows[self.origin].evaluations(self.tau)

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


def origin_sizes(sets: Sets, windows: Sequence[JoinWindow], origin: int) -> Floats:
    """The matches of one new row of the origin, which is in no need of its window."""
    rows = _array(window.rows() for window in windows)
    rows[origin] = 1.0
    return _sizes(sets, windows, rows)[:, 0]


def sizes_with(sets: Sets, windows: Sequence[JoinWindow], origin: int) -> Floats:
    """For each set and each window more: the matches of one new row of the origin."""
    rows = _array(window.rows() for window in windows)
    rows[origin] = 1.0
    distinct = _array(window.distinct for window in windows)
    product, fewest = _product(sets, rows / distinct), _fewest(sets, distinct)
    return product * (rows / distinct) * np.minimum(fewest, distinct)


def _array(values: Iterable[float]) -> Floats:
    return np.fromiter(values, dtype=np.float64)


def _product(sets: Sets, factors: Floats) -> Floats:
    return np.asarray(np.where(sets, factors, 1.0).prod(axis=1, keepdims=True))


def _fewest(sets: Sets, distinct: Floats) -> Floats:
    return np.asarray(np.where(sets, distinct, np.inf).min(axis=1, keepdims=True))


def _sizes(sets: Sets, windows: Sequence[JoinWindow], rows: Floats) -> Floats:
    distinct = _array(window.distinct for window in windows)
    return _product(sets, rows / distinct) * _fewest(sets, distinct)


def _grown(sets: Sets, windows: Sequence[JoinWindow], rows: Floats) -> Floats:
    """For each set and window, the size of the join of both."""
    distinct = _array(window.distinct for window in windows)
    factors = np.where(sets, 1.0, rows / distinct)
    return _product(sets, rows / distinct) * factors * np.minimum(_fewest(sets, distinct), distinct)


def _grown_by_two(sets: Sets, windows: Sequence[JoinWindow], rows: Floats) -> Floats:
    """For each set, window and other window, the size of the join of all."""
    distinct = _array(window.distinct for window in windows)
    factors = np.where(sets, 1.0, rows / distinct)
    fewest = np.minimum(_fewest(sets, distinct), distinct)[:, :, None]
    both = factors[:, :, None] * factors[:, None, :]
    sizes: Floats = (
        np.minimum(fewest, distinct) * both * _product(sets, rows / distinct)[:, :, None]
    )
    return sizes


def _scans(windows: Sequence[JoinWindow], rows: Floats) -> Floats:
    return _array(window.scanned(count) for window, count in zip(windows, rows, strict=True))


def _by_value(windows: Sequence[JoinWindow]) -> Floats:
    """1 for windows in which only matches are looked at, after they were found."""
    return _array(window.buckets is None for window in windows)


def _sums_of_others(values: Floats) -> Floats:
    # Not the sum less the value: of a value that outweighs all others, nothing would be left.
    sums = np.zeros_like(values)
    sums[:, 1:] = np.cumsum(values, axis=1)[:, :-1]
    sums[:, :-1] += np.cumsum(values[:, ::-1], axis=1)[:, -2::-1]
    return sums
