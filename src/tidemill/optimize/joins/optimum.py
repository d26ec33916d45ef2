"""The cheapest of all orders, found set by set."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from tidemill.optimize.joins.steps import Floats, JoinSteps, Sets

_Ints = npt.NDArray[np.int64]

# Up to here all orders are weighed; twice the time for each stream more.
EXACT_STREAMS = 12


def optimum(steps: JoinSteps) -> tuple[int, ...]:
    """The best order, as places of the windows; of equally good ones, the one nearest to theirs.

    The best order of a set of windows ends with some window, after the best order of the rest.
    All n! orders are weighed in n · 2^n steps.

    >>> from tidemill.optimize.joins.probing import ProbeSteps
    >>> from tidemill.optimize.joins.windows import JoinWindow
    >>> fast, slow = JoinWindow("fast", 10, 100, 50), JoinWindow("slow", 1, 100, 50)
    >>> optimum(ProbeSteps([fast, slow, slow], origin=1))
    (1, 2, 0)
    """
    count = len(steps.windows)
    last = _last_windows(steps.costs(_all_sets(count)), count)
    order: list[int] = []
    rest = 2**count - 1
    while rest:
        order.append(int(last[rest]))
        rest ^= 1 << order[-1]
    return tuple(reversed(order))


def _last_windows(costs: Floats, count: int) -> _Ints:
    """For each set, given as a number with one bit per window: the last of its best order."""
    best = np.zeros(2**count)
    last = np.zeros(2**count, dtype=np.int64)
    # From the last window to the first: of equal costs, the last window is kept at the end.
    places = np.arange(count)[::-1]
    for sets in _by_size(count):
        rest = sets[:, None] ^ (1 << places)
        inside = (sets[:, None] >> places) & 1 == 1
        # Where the window is not in the set, `rest` is no smaller set, yet a number in range.
        choices = np.where(inside, best[rest] + costs[rest, places], np.inf)
        chosen = choices.argmin(axis=1)
        best[sets] = choices[np.arange(len(sets)), chosen]
        last[sets] = places[chosen]
    return last


@cache
def _all_sets(count: int) -> Sets:
    bits = (np.arange(2**count)[:, None] >> np.arange(count)) & 1
    return bits.astype(np.bool_)


@cache
def _by_size(count: int) -> list[_Ints]:
    sets = np.arange(2**count)
    sizes = np.bitwise_count(sets)
    return [sets[sizes == size] for size in range(1, count + 1)]
