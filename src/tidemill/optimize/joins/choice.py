"""The orders of a join, chosen by what is known about its inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tidemill.algebra.nodes import MultiJoin, entries, input_name
from tidemill.algebra.plan import Plan
from tidemill.algebra.scalar import conjunction
from tidemill.optimize.cost.estimates import Estimator
from tidemill.optimize.joins.probing import best_orders, heuristic_ratio, probing_cost
from tidemill.optimize.joins.windows import JoinWindow

_LONGEST = 1e12  # instants: so that products of many windows stay finite
_LEAST_SHARE = 1e-9


def with_orders(
    join: MultiJoin, estimator: Estimator, wish: Sequence[str] = ()
) -> tuple[MultiJoin, float]:
    """The join with the orders that cost least, or those that the user wants; and the cost."""
    windows = join_windows(join, estimator)
    if wish:
        loops = orders_by_origin(_as_wished(join, windows, wish))
        orders = {name: tuple(window.name for window in loop) for name, loop in loops.items()}
        cost = probing_cost(windows, orders)
    else:
        best, cost = best_orders(windows)
        orders = {order[0]: order for order in best}
    numbers = tuple(tuple(map(int, orders[window.name])) for window in windows)
    return replace(join, orders=numbers), cost


def describe(join: MultiJoin, estimator: Estimator) -> str:
    """What to tell people about the orders of a join."""
    ratio = heuristic_ratio(join_windows(join, estimator))
    found = (
        "more inputs than can be tried in all orders"
        if ratio is None
        else f"the best of all; those of the heuristic cost {ratio:.2f} times as much"
    )
    return f"orders of the join of {', '.join(map(input_name, join.inputs))}: {found}"


def join_windows(join: MultiJoin, estimator: Estimator) -> list[JoinWindow]:
    """What the cost model needs to know about the inputs, by number."""
    return [
        _window(str(number), child, keys, join, estimator)
        for number, (child, keys) in enumerate(zip(join.inputs, join.keys, strict=True))
    ]


def _window(
    name: str, child: Plan, keys: tuple[str, ...], join: MultiJoin, estimator: Estimator
) -> JoinWindow:
    stream = estimator.of(child)
    length = min(max(stream.length, 1.0), _LONGEST)
    if keys:
        values = estimator.distinct(child, *keys)
        return JoinWindow(name, stream.rate, length, values, max(2, round(values)))
    # Without keys all rows are looked at; conditions leave some of them.
    own = set(child.schema.names)
    touching = [part for part in join.conditions if part.columns & own]
    share = estimator.selectivity(conjunction(*touching), *join.inputs)
    return JoinWindow(name, stream.rate, length, 1 / max(share, _LEAST_SHARE))


def orders_by_origin(order: Sequence[JoinWindow]) -> dict[str, tuple[JoinWindow, ...]]:
    """The order for the new rows of each input, given one for all: they go first.

    >>> a, b, c = (JoinWindow(name, 1, 100, 50) for name in "abc")
    >>> [[w.name for w in loops] for loops in orders_by_origin([a, b, c]).values()]
    [['a', 'b', 'c'], ['b', 'a', 'c'], ['c', 'a', 'b']]
    """
    return {
        origin.name: (origin, *(window for window in order if window is not origin))
        for origin in order
    }


def _as_wished(
    join: MultiJoin, windows: Sequence[JoinWindow], wish: Sequence[str]
) -> list[JoinWindow]:
    """The inputs in the order of the wish, by the first of their entries; the others behind."""

    def place(window: JoinWindow) -> int:
        own = entries(join.inputs[int(window.name)])
        return min((wish.index(entry) for entry in own if entry in wish), default=len(wish))

    return sorted(windows, key=place)
