"""Orders for our own join: new rows of an input first, partners found by hash.

The text counts comparisons. Here, looking up the partners of a combination costs something even if
there are none, and an index of hashes shows no others; so what counts is how many combinations are
looked up, and how many are found. Each origin has the order that is best for its own rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tidemill.optimize.cost.constants import MEASURED
from tidemill.optimize.joins.heuristic import Order, heuristic_order
from tidemill.optimize.joins.optimum import EXACT_STREAMS, optimum
from tidemill.optimize.joins.steps import Floats, Sets, origin_sizes, sizes_with
from tidemill.optimize.joins.windows import JoinWindow

_JOIN = MEASURED["join"]


@dataclass(frozen=True)
class ProbeSteps:
    """New rows of one origin at the top, then the other inputs in any order."""

    windows: Sequence[JoinWindow]
    origin: int

    def costs(self, sets: Sets) -> Floats:
        """As of all steps; without the origin at the top, they are out of the question."""
        costs = np.full(sets.shape, np.inf)
        costs[~sets.any(axis=1), self.origin] = 0.0
        begun = sets[:, self.origin]
        costs[begun] = self._probes(sets[begun]) * self.windows[self.origin].rate
        return costs

    def _probes(self, sets: Sets) -> Floats:
        before = self.sizes(sets)[:, None]
        rows = np.array([window.rows() for window in self.windows])
        scanned = np.array([window.buckets == 1 for window in self.windows])
        found = np.where(scanned, before * rows, sizes_with(sets, self.windows, self.origin))
        return np.asarray(before * _JOIN.arrive + found * _JOIN.compare)

    def sizes(self, sets: Sets) -> Floats:
        """The combinations of one new row with the other inputs of each set."""
        return origin_sizes(sets, self.windows, self.origin)


def best_orders(windows: Sequence[JoinWindow]) -> tuple[list[tuple[str, ...]], float]:
    """The order for each origin, and what all of them cost: nanoseconds per unit of time.

    >>> a, b = JoinWindow("a", 10, 100, 500, 500), JoinWindow("b", 1, 100, 50, 50)
    >>> best_orders([JoinWindow("c", 1, 200, 40, 40), b, a])[0]
    [('c', 'b', 'a'), ('b', 'a', 'c'), ('a', 'b', 'c')]
    """
    steps = [ProbeSteps(windows, place) for place in range(len(windows))]
    find = optimum if len(windows) <= EXACT_STREAMS else heuristic_order
    orders = [find(each) for each in steps]
    return [_names(windows, order) for order in orders], _total(steps, orders)


def heuristic_ratio(windows: Sequence[JoinWindow]) -> float | None:
    """How many times the optimum the orders of the heuristic cost; None: too many to tell."""
    if len(windows) > EXACT_STREAMS:
        return None
    steps = [ProbeSteps(windows, place) for place in range(len(windows))]
    _, least = best_orders(windows)
    quick = _total(steps, [heuristic_order(each) for each in steps])
    return quick / least if least else 1.0


def probing_cost(windows: Sequence[JoinWindow], orders: Mapping[str, Sequence[str]]) -> float:
    """What given orders cost, by origin and the names of the windows."""
    places = {window.name: place for place, window in enumerate(windows)}
    steps = [ProbeSteps(windows, place) for place in range(len(windows))]
    return _total(steps, [tuple(places[n] for n in orders[w.name]) for w in windows])


def _total(steps: Sequence[ProbeSteps], orders: Sequence[Order]) -> float:
    return sum(_cost(each, order) for each, order in zip(steps, orders, strict=True))


def _cost(steps: ProbeSteps, order: Order) -> float:
    above = np.zeros((len(order), len(order)), dtype=np.bool_)
    for depth, place in enumerate(order[:-1]):
        above[depth + 1 :, place] = True
    return float(steps.costs(above)[range(len(order)), list(order)].sum())


def _names(windows: Sequence[JoinWindow], order: Order) -> tuple[str, ...]:
    return tuple(windows[place].name for place in order)
