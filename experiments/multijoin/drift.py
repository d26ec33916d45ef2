"""Whether a running join should be re-ordered, now that its streams behave otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from experiments.multijoin.costs import general_costs, total
from experiments.multijoin.ordering import Choice, choose_order
from experiments.multijoin.windows import LoopWindow

# A stream has drifted if its rate is this many times what the plan was made for, or one such part.
RATE_FACTOR = 1.5
# Re-ordering is worth it if the present order costs this many times the best.
WORTHWHILE = 1.2


@dataclass(frozen=True)
class Drift:
    """The cost of the present orders under new rates, and the best choice for these rates."""

    cost: float
    choice: Choice

    @property
    def ratio(self) -> float:
        """How many times the best choice the present orders cost."""
        return self.cost / self.choice.cost if self.choice.cost else 1.0


def moved(
    planned: Sequence[LoopWindow], now: Sequence[LoopWindow], factor: float = RATE_FACTOR
) -> tuple[str, ...]:
    """The streams whose rates left the band that the plan was made for; a test that costs nothing.

    >>> plan = [LoopWindow("a", 10, 100, 50), LoopWindow("b", 10, 100, 50)]
    >>> moved(plan, [LoopWindow("a", 12, 100, 50), LoopWindow("b", 2, 100, 50)])
    ('b',)
    """
    rates = {window.name: window.rate for window in planned}
    return tuple(
        window.name
        for window in now
        if max(window.rate, rates[window.name]) > factor * min(window.rate, rates[window.name])
    )


def drift(
    orders: Mapping[str, Sequence[str]], now: Sequence[LoopWindow], tau: float | None = None
) -> Drift:
    """Weigh the orders in use, by origin, against the best for the streams as they are now.

    >>> a, b, c = (LoopWindow(name, 1, 100, 50) for name in "abc")
    >>> orders = choose_order([a, b, c]).orders
    >>> found = drift(orders, [LoopWindow("a", 50, 100, 50), b, c])
    >>> found.choice.order, round(found.ratio, 2)
    (('b', 'c', 'a'), 1.28)
    """
    windows = {window.name: window for window in now}
    loops = {origin: [windows[name] for name in order] for origin, order in orders.items()}
    return Drift(total(general_costs(loops, tau)), choose_order(now, tau))


def reorder(
    orders: Mapping[str, Sequence[str]],
    planned: Sequence[LoopWindow],
    now: Sequence[LoopWindow],
    tau: float | None = None,
) -> Choice | None:
    """The choice to change to, if rates moved past the threshold and it is worth the change."""
    if not moved(planned, now):
        return None
    found = drift(orders, now, tau)
    return found.choice if found.ratio > WORTHWHILE else None
