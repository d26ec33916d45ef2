"""In which order the windows of an m-way join are looped through."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from experiments.multijoin.costs import general_costs, origin_cost, total
from experiments.multijoin.steps import MultiwaySteps, OriginSteps
from experiments.multijoin.windows import LoopWindow, check
from tidemill.optimize.joins.choice import orders_by_origin
from tidemill.optimize.joins.heuristic import Order, heuristic_order
from tidemill.optimize.joins.optimum import EXACT_STREAMS, optimum
from tidemill.optimize.joins.steps import JoinSteps

# Costs that differ by less are equal.
_EQUAL = 1 + 1e-9

Names = tuple[str, ...]


@dataclass(frozen=True)
class Choice:
    """The orders chosen, by the names of the windows, and what they cost.

    `order` is the global one, which leaves new rows at the top; `orders` are the loops for the new
    rows of each stream. `heuristic` is the cost of what the heuristic found, `optimum` the least
    cost of all orders, if there were not too many.
    """

    order: Names
    orders: Mapping[str, Names]
    cost: float
    heuristic: float
    optimum: float | None

    @property
    def ratio(self) -> float | None:
        """How many times the optimum the heuristic costs."""
        if self.optimum is None:
            return None
        return self.heuristic / self.optimum if self.optimum else 1.0


def choose_order(windows: Sequence[LoopWindow], tau: float | None = None) -> Choice:
    """The best orders found for a join that is evaluated with every row, or every `tau`.

    If it is evaluated with every row, the new row is at the top. With an interval, its new rows
    are many, and for each origin they stand where they cost least (the general lazy join).

    >>> a, b = LoopWindow("a", 10, 100, 500), LoopWindow("b", 1, 100, 50)
    >>> choice = choose_order([LoopWindow("d", 3, 100, 5), LoopWindow("c", 1, 200, 40), b, a])
    >>> choice.order, choice.orders["d"], choice.cost, choice.ratio
    (('a', 'b', 'c', 'd'), ('d', 'a', 'b', 'c'), 16000.0, 1.0)
    """
    check(windows, tau)
    exact = len(windows) <= EXACT_STREAMS
    find = optimum if exact else heuristic_order
    orders = _orders(windows, tau, find)
    cost = total(general_costs(orders, tau))
    quick = total(general_costs(_orders(windows, tau, heuristic_order), tau)) if exact else cost
    return Choice(
        order=_names(_arranged(MultiwaySteps(windows, tau), find)),
        orders={origin: _names(order) for origin, order in orders.items()},
        cost=cost,
        heuristic=quick,
        optimum=cost if exact else None,
    )


def _orders(
    windows: Sequence[LoopWindow], tau: float | None, find: Callable[[JoinSteps], Order]
) -> dict[str, tuple[LoopWindow, ...]]:
    if tau is None:
        return orders_by_origin(_arranged(MultiwaySteps(windows), find))
    loops = [_arranged(OriginSteps(windows, at, tau), find) for at in range(len(windows))]
    return {
        origin.name: _new_rows_first(origin, order, tau)
        for origin, order in zip(windows, loops, strict=True)
    }


def _new_rows_first(
    origin: LoopWindow, order: tuple[LoopWindow, ...], tau: float
) -> tuple[LoopWindow, ...]:
    """With new rows at the top, if that costs the same: as the second loop, they often do.

    The model does not count the loop at the top, but it is not for nothing.
    """
    first = orders_by_origin(order)[origin.name]
    costs = [origin_cost(origin.name, each, tau) for each in (first, order)]
    return first if costs[0] <= costs[1] * _EQUAL else order


def _arranged(steps: JoinSteps, find: Callable[[JoinSteps], Order]) -> tuple[LoopWindow, ...]:
    return tuple(steps.windows[place] for place in find(steps))


def _names(windows: Sequence[LoopWindow]) -> Names:
    return tuple(window.name for window in windows)
