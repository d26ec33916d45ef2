"""A good order without looking at all: small intermediate results first, fast streams moved up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np

from tidemill.optimize.joins.steps import JoinSteps, Sets

Order = tuple[int, ...]
# The beginning of an order, after what it costs.
_Begun = tuple[float, Order]
# How many of the slow streams are placed, and which of the fast ones, one bit for each.
_State = tuple[int, int]

# Sizes that differ by less are equal: they come from the same numbers, rounded in different ways.
_EQUAL = 1 + 1e-9
# Of the beginnings that are equally good so far, how many are followed: for n equal streams there
# are 2^n sets.
_FOLLOWED = 32
# Fast streams that are moved; each doubles the number of sets to look at.
_MOVED = 5


def heuristic_order(steps: JoinSteps) -> Order:
    """The heuristic with its augmentation: small joins first, then fast streams moved."""
    return fast_moved(steps, small_first(steps))


def small_first(steps: JoinSteps) -> Order:
    """Begin with the pair whose join is smallest, then add what keeps the join smallest.

    Equally small joins are told apart by cost: always the two orders of the first pair.
    """
    count = len(steps.windows)
    beginnings: list[_Begun] = [(0.0, (place,)) for place in range(count)]
    for _ in range(count - 1):
        beginnings = _grown(steps, beginnings)
    return beginnings[0][1]


def _grown(steps: JoinSteps, beginnings: Sequence[_Begun]) -> list[_Begun]:
    """The smallest joins that one more window gives, each by its cheapest order, cheapest first."""
    count = len(steps.windows)
    above = _sets([order for _, order in beginnings], steps)
    added = np.argwhere(~above)
    sizes = steps.sizes(above[added[:, 0]] | np.eye(count, dtype=np.bool_)[added[:, 1]])
    costs = steps.costs(above)
    grown: dict[frozenset[int], _Begun] = {}
    for start, place in added[sizes <= sizes.min() * _EQUAL].tolist():
        cost, order = beginnings[start]
        longer = (cost + float(costs[start, place]), (*order, place))
        windows = frozenset(longer[1])
        grown[windows] = min(grown.get(windows, longer), longer)
    return sorted(grown.values())[:_FOLLOWED]


def fast_moved(steps: JoinSteps, order: Order) -> Order:
    """Put the fast streams at their best places, the others keeping their order.

    With f fast streams among n, these are about n^f orders. They run through few sets only, some
    of the fast streams and the first of the slow ones, so that all are weighed at once.
    """
    fast = _fast(steps)
    slow = tuple(place for place in order if place not in fast)
    states = [(taken, some) for taken in range(len(slow) + 1) for some in range(2 ** len(fast))]
    costs = steps.costs(_sets([slow[:taken] + _those(fast, some) for taken, some in states], steps))
    best: dict[_State, _Begun] = {states[0]: (0.0, ())}
    for state, row in zip(states, costs.tolist(), strict=True):
        cost, begun = best[state]
        for place, reached in _nexts(state, slow, fast):
            longer = (cost + row[place], (*begun, place))
            best[reached] = min(best.get(reached, longer), longer)
    return best[states[-1]][1]


def _nexts(state: _State, slow: Order, fast: Order) -> Iterator[tuple[int, _State]]:
    """The windows that may come next: the first slow one not yet taken, and any fast one."""
    taken, some = state
    if taken < len(slow):
        yield slow[taken], (taken + 1, some)
    for bit, place in enumerate(fast):
        if not some >> bit & 1:
            yield place, (taken, some | 1 << bit)


def _those(fast: Order, some: int) -> Order:
    return tuple(place for bit, place in enumerate(fast) if some >> bit & 1)


def _fast(steps: JoinSteps) -> Order:
    """The streams that are faster than the mean, at most the fastest few."""
    rates = [window.rate for window in steps.windows]
    fastest = sorted(range(len(rates)), key=lambda place: -rates[place])[:_MOVED]
    return tuple(sorted(place for place in fastest if rates[place] * len(rates) > sum(rates)))


def _sets(orders: Sequence[Order], steps: JoinSteps) -> Sets:
    sets = np.zeros((len(orders), len(steps.windows)), dtype=np.bool_)
    rows = np.repeat(np.arange(len(orders)), [len(order) for order in orders])
    sets[rows, list(chain.from_iterable(orders))] = True
    return sets
