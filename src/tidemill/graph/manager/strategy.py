"""Which sizes windows and granules should have, so that a graph stays within its bounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from math import sqrt

from tidemill.graph.manager.knobs import Demand, Knob

Settings = Mapping[str, int]
"""Sizes by the names of knobs."""

Estimate = Callable[[Settings], Demand]
"""What the graph needs at some sizes. Calls that differ in few knobs are cheap."""

Strategy = Callable[[Sequence[Knob], Estimate, Demand], Settings | None]
"""The sizes to set for a bound; None if not even the smallest windows fit."""

STEPS = 4
"""The p of the paper: the number of steps in which granules are made coarser."""

PRECISION = 1 / 256
"""Of the fraction at which windows are set."""

NOTCHES = 16
"""The number of steps in which a single knob goes from its best to its worst size."""


def uniform(knobs: Sequence[Knob], estimate: Estimate, bound: Demand) -> Settings | None:
    """All knobs at the same fraction of their ranges (PIPES, 23.3.2).

    First all of them go down in coarse steps until the bound is kept: that fixes the granules.
    Then bisection finds the largest fraction for the windows.

    >>> knobs = [Knob("a", 600, 1800), Knob("b", 60, 300)]
    >>> uniform(knobs, lambda s: Demand(s["a"] + 2 * s["b"], 0), Demand(1900, 1))
    {'a': 1439, 'b': 228}
    """
    fraction = rough_fraction(knobs, estimate, bound)
    if fraction is None:
        return None
    granules = {knob.name: knob.at(fraction) for knob in knobs if knob.is_granule}
    windows = [knob for knob in knobs if not knob.is_granule]

    def at(share: float) -> Settings:
        return granules | {knob.name: knob.at(share) for knob in windows}

    best = largest(lambda share: estimate(at(share)).within(bound), fraction)
    return at(best)


def rough_fraction(
    knobs: Sequence[Knob], estimate: Estimate, bound: Demand, steps: int = STEPS
) -> float | None:
    """The first of the fractions 1, (p-1)/p, …, 0 that keeps the bound."""
    for step in range(steps + 1):
        fraction = (steps - step) / steps
        if estimate({knob.name: knob.at(fraction) for knob in knobs}).within(bound):
            return fraction
    return None


def largest(fits: Callable[[float], bool], low: float, steps: int = STEPS) -> float:
    """By bisection, the largest fraction that fits; `low` does, a step more does not."""
    high = min(1.0, low + 1 / steps)
    if low == high or fits(high):
        return high
    while high - low > PRECISION:
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def marginal(knobs: Sequence[Knob], estimate: Estimate, bound: Demand) -> Settings | None:
    """Each knob on its own, those first that save most for what they take away.

    A notch of a knob takes quality from all queries that depend on it, and saves what every
    operator above it needs less. The notch with most savings for what it takes comes first. So
    windows that feed joins of joins, or that few queries share, go before cheap ones that many
    need. A notch counts more the lower a knob stands, so that knobs that are alike go together.

    >>> knobs = [Knob("dear", 0, 160), Knob("cheap", 0, 160)]
    >>> marginal(knobs, lambda s: Demand(9 * s["dear"] + s["cheap"], 0), Demand(700, 1))
    {'dear': 60, 'cheap': 160}
    """
    settings = {knob.name: knob.high for knob in knobs}
    if not estimate({knob.name: knob.low for knob in knobs}).within(bound):
        return None
    return _Descent(knobs, estimate, bound, settings).run()


class _Descent:
    """Lowers one knob after the other. Savings are looked at again before they are taken: what
    one knob saves becomes less when others have been lowered."""

    def __init__(
        self, knobs: Sequence[Knob], estimate: Estimate, bound: Demand, settings: dict[str, int]
    ) -> None:
        self._knobs = knobs
        self._estimate = estimate
        self._bound = bound
        self._settings = settings
        self._notch = dict.fromkeys(settings, NOTCHES)

    def run(self) -> Settings:
        need = self._estimate(self._settings).over(self._bound)
        heap = [(-self._gain(number, need), number) for number in range(len(self._knobs))]
        heapify(heap)
        while need > 1 and heap:
            _, number = heappop(heap)
            if self._notch[self._knobs[number].name] == 0:
                continue
            gain = self._gain(number, need)
            if heap and gain < -heap[0][0]:
                heappush(heap, (-gain, number))
                continue
            need = self._lower(number)
            if need > 1:
                heappush(heap, (-gain, number))
            else:
                self._refine(number)
        return self._settings

    def _gain(self, number: int, need: float) -> float:
        """What one notch less saves per quality that queries lose; lower notches lose more."""
        knob = self._knobs[number]
        notch = self._notch[knob.name]
        lower = self._settings | {knob.name: self._at(knob, notch - 1)}
        taken = max(knob.weight, 1) * (sqrt(notch) - sqrt(max(notch - 1, 0)))
        saved = need - self._estimate(lower).over(self._bound)
        return saved / taken if taken else 0.0

    def _lower(self, number: int) -> float:
        knob = self._knobs[number]
        self._notch[knob.name] -= 1
        self._settings[knob.name] = self._at(knob, self._notch[knob.name])
        return self._estimate(self._settings).over(self._bound)

    def _refine(self, number: int) -> None:
        """Give back what the last notch took too much."""
        knob = self._knobs[number]
        low = self._notch[knob.name] / NOTCHES

        def fits(fraction: float) -> bool:
            return self._estimate(self._settings | {knob.name: knob.at(fraction)}).within(
                self._bound
            )

        self._settings[knob.name] = knob.at(largest(fits, low, NOTCHES))

    def _at(self, knob: Knob, notch: int) -> int:
        return knob.at(max(notch, 0) / NOTCHES)


STRATEGIES: dict[str, Strategy] = {"uniform": uniform, "marginal": marginal}
"""The strategies, by their names."""


def quality(knobs: Sequence[Knob], settings: Settings) -> float:
    """The mean fraction at which queries find their knobs: 1 is the best, 0 the worst.

    >>> quality([Knob("a", 0, 100, weight=3), Knob("b", 0, 100)], {"a": 100, "b": 0})
    0.75
    """
    weights = sum(knob.weight for knob in knobs)
    got = sum(knob.weight * knob.fraction(settings[knob.name]) for knob in knobs)
    return got / weights if weights else 1.0
