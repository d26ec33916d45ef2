"""The cheapest of the 2^m plans: by trying all where they are few, else greedily."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tidemill.optimize.early.plans import Costs, Mask, Masks, all_masks

# Up to 1024 plans are priced at once in a few milliseconds.
EXHAUSTIVE_INPUTS = 10


@dataclass(frozen=True)
class EarlyChoice:
    """A plan, what it costs, what the late plan costs, and all plans priced, cheapest first."""

    mask: Mask
    cost: float
    late: float
    ranking: tuple[tuple[Mask, float], ...]


def choose(costs: Callable[[Masks], Costs], allowed: Sequence[bool]) -> EarlyChoice:
    """The cheapest plan among those that aggregate early only where it is allowed.

    Plans of equal cost: the one with the smaller number, so the late plan before all others.

    >>> choose(lambda masks: 5 - masks[:, 0] + 2.0 * masks[:, 1], [True, True]).mask
    (True, False)
    """
    if sum(allowed) > EXHAUSTIVE_INPUTS:
        return choose_greedily(costs, allowed)
    masks = all_masks(allowed)
    return _cheapest(masks, costs(masks))


def choose_greedily(costs: Callable[[Masks], Costs], allowed: Sequence[bool]) -> EarlyChoice:
    """The heuristic of the text's conclusion, in quadratically many steps.

    From the late plan, the early aggregate that saves most is added while one saves anything:
    while what it saves in the joins is more than what keeping its set costs.
    """
    masks = _greedy_masks(costs, allowed)
    return _cheapest(masks, costs(masks))


def _greedy_masks(costs: Callable[[Masks], Costs], allowed: Sequence[bool]) -> Masks:
    """The late plan and every plan on the way from it to the greedy one."""
    path = [np.zeros(len(allowed), dtype=np.bool_)]
    best = float(costs(path[0][None])[0])
    while len(steps := _one_more(path[-1], allowed)):
        prices = costs(steps)
        if prices.min() >= best:
            break
        best = float(prices.min())
        path.append(steps[prices.argmin()])
    return np.array(path)


def _one_more(mask: Masks, allowed: Sequence[bool]) -> Masks:
    free = np.flatnonzero(np.asarray(allowed) & ~mask)
    steps = np.repeat(mask[None], len(free), axis=0)
    steps[np.arange(len(free)), free] = True
    return steps


def _cheapest(masks: Masks, costs: Costs) -> EarlyChoice:
    order = np.argsort(costs, kind="stable")
    rows, prices = masks[order].tolist(), costs[order].tolist()
    ranking = tuple((tuple(row), price) for row, price in zip(rows, prices, strict=True))
    return EarlyChoice(*ranking[0], float(costs[0]), ranking)
