"""What each loop adds to the cost of an order, for many orders at once.

A loop is repeated for every match of the loops above it, and how many there are depends on which
windows these are, not on their order. So the cost of an order is a sum over its windows of
`step(windows above, window)`. This is what lets `optimum` find the best of all n! orders by looking
at the 2^n sets of windows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from tidemill.optimize.joins.windows import JoinWindow

Floats = npt.NDArray[np.float64]
# Rows are sets of windows: whether each window is in it.
Sets = npt.NDArray[np.bool_]


class JoinSteps(Protocol):
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


def origin_sizes(sets: Sets, windows: Sequence[JoinWindow], origin: int) -> Floats:
    """The matches of one new row of the origin, which is in no need of its window."""
    rows = array(window.rows() for window in windows)
    rows[origin] = 1.0
    return join_sizes(sets, windows, rows)[:, 0]


def sizes_with(sets: Sets, windows: Sequence[JoinWindow], origin: int) -> Floats:
    """For each set and each window more: the matches of one new row of the origin."""
    rows = array(window.rows() for window in windows)
    rows[origin] = 1.0
    distinct = array(window.distinct for window in windows)
    product, fewest = products(sets, rows / distinct), fewest_values(sets, distinct)
    return product * (rows / distinct) * np.minimum(fewest, distinct)


def array(values: Iterable[float]) -> Floats:
    """Numbers, one per window."""
    return np.fromiter(values, dtype=np.float64)


def products(sets: Sets, factors: Floats) -> Floats:
    """For each set, the product of the factors of its windows."""
    return np.asarray(np.where(sets, factors, 1.0).prod(axis=1, keepdims=True))


def fewest_values(sets: Sets, distinct: Floats) -> Floats:
    """For each set, the fewest distinct values of its windows."""
    return np.asarray(np.where(sets, distinct, np.inf).min(axis=1, keepdims=True))


def join_sizes(sets: Sets, windows: Sequence[JoinWindow], rows: Floats) -> Floats:
    """For each set, the size of the join of a given number of rows from each of its windows."""
    distinct = array(window.distinct for window in windows)
    return products(sets, rows / distinct) * fewest_values(sets, distinct)
