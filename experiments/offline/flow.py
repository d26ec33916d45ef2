"""Places in memory as a flow through time: which tuples are worth one, and until when.

A place is a unit that flows along the instants at which tuples of a stream arrive. A tuple may lead
one aside, from its arrival to after one of its matches, and gives on the way what it has matched.
The flow that gives most is integral, and is found place by place along the best ways that the
places before have left (successive shortest paths), so that it is the best one for every smaller
number of places, too. States of memory are never enumerated.
"""

from __future__ import annotations

import heapq
from typing import Any, NamedTuple

import numpy as np
from numba import njit

NOWHERE = -1


class Chains(NamedTuple):
    """What keeping tuples gives, the longer the more.

    Tuple j arrives at node `start[j]`, in ascending order. Its steps are those from `offset[j]` to
    before `offset[j + 1]`: kept until step k, it gives `gains[k]` in all and leaves its place to
    tuples that arrive at node `exits[k]` or later. The last node, `nodes`, is the end of time.
    """

    nodes: int
    start: np.ndarray
    offset: np.ndarray
    exits: np.ndarray
    gains: np.ndarray


def best_flow(chains: Chains, slots: int) -> np.ndarray:
    """The step until which each tuple is kept, −1 for never, so that so many places give most.

    Of two tuples, one arrives at instant 0 and gives 3 if kept over instant 1, where the other one
    arrives, and 8 if kept over instant 2; the other gives 2, also at 2.

    >>> tuples = [np.array(part) for part in ([0, 1], [0, 2, 3], [2, 3, 3], [3.0, 8.0, 2.0])]
    >>> best_flow(Chains(3, *tuples), slots=1)
    array([ 1, -1])
    >>> best_flow(Chains(3, *tuples), slots=5)
    array([1, 2])
    """
    first = np.searchsorted(chains.start, np.arange(chains.nodes + 2))
    steps: np.ndarray = _flow(chains, first, slots)
    return steps


class _Net(NamedTuple):
    """The chains with the flow in them, and the price of each node."""

    chains: Chains
    first: Any  # by node, the first tuple that arrives there
    steps: Any  # by tuple, the step until which it is kept
    head: Any  # by node, some tuple that is kept until there; the others follow it
    after: Any
    before: Any
    idle: Any  # by node, places that hold nothing from there to the next one
    price: Any


class _Ways(NamedTuple):
    """The cheapest ways found: their costs, and the last move of each."""

    cost: Any
    origin: Any
    tuple: Any  # that makes the move, or nowhere: the place moves along time
    step: Any  # to which it comes


@njit(cache=True)
def _flow(chains: Any, first: Any, slots: int) -> Any:
    size, tuples = chains.nodes + 1, len(chains.start)
    net = _Net(
        chains,
        first,
        np.full(tuples, NOWHERE),
        np.full(size, NOWHERE),
        np.full(tuples, NOWHERE),
        np.full(tuples, NOWHERE),
        np.zeros(size, np.int64),
        _first_prices(chains, first),
    )
    ways = _Ways(
        np.empty(size), np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
    )
    for _ in range(slots):
        _search(net, ways)
        if net.price[0] <= net.price[chains.nodes]:
            break  # one more place would give nothing
        _follow(net, ways)
    return net.steps


@njit(cache=True)
def _first_prices(chains: Any, first: Any) -> Any:
    """What one place gives at most from a node on, so that no move costs less than nothing."""
    price = np.zeros(chains.nodes + 1)
    for node in range(chains.nodes - 1, -1, -1):
        price[node] = price[node + 1]
        for step in range(chains.offset[first[node]], chains.offset[first[node + 1]]):
            price[node] = max(price[node], price[chains.exits[step]] + chains.gains[step])
    return price


@njit(cache=True)
def _search(net: Any, ways: Any) -> None:
    """Find the cheapest way from the first node to the last, and set prices by the costs."""
    nodes = net.chains.nodes
    ways.cost[:] = np.inf
    ways.cost[0] = 0.0
    ways.origin[0] = NOWHERE
    heap = [(0.0, 0)]
    while heap:
        cost, node = heapq.heappop(heap)
        if node == nodes:
            break
        if cost == ways.cost[node]:
            _leave(net, ways, heap, node)
    for node in range(nodes + 1):
        net.price[node] += min(ways.cost[node], ways.cost[nodes])


@njit(cache=True)
def _leave(net: Any, ways: Any, heap: Any, node: int) -> None:
    """All moves from a node: along time, or by what tuples can do about a place."""
    chains = net.chains
    _move(net, ways, heap, node, node + 1, 0.0, NOWHERE, NOWHERE)
    if node > 0 and net.idle[node - 1] > 0:
        _move(net, ways, heap, node, node - 1, 0.0, NOWHERE, NOWHERE)
    for arriving in range(net.first[node], net.first[node + 1]):
        if net.steps[arriving] == NOWHERE:
            _shift(net, ways, heap, node, arriving, 0.0)
    kept = net.head[node]
    while kept != NOWHERE:
        lost = chains.gains[net.steps[kept]]
        _move(net, ways, heap, node, chains.start[kept], lost, kept, NOWHERE)
        _shift(net, ways, heap, node, kept, lost)
        kept = net.after[kept]


@njit(cache=True)
def _shift(net: Any, ways: Any, heap: Any, node: int, mover: int, lost: float) -> None:
    """Keep a tuple until any of its steps, instead of what it gave so far."""
    chains = net.chains
    for step in range(chains.offset[mover], chains.offset[mover + 1]):
        gained = chains.gains[step]
        _move(net, ways, heap, node, chains.exits[step], lost - gained, mover, step)


@njit(cache=True)
def _move(
    net: Any, ways: Any, heap: Any, node: int, to: int, cost: float, mover: int, step: int
) -> None:
    # Rounding may bring the cost that prices leave a little below nothing.
    total = ways.cost[node] + max(0.0, cost + net.price[node] - net.price[to])
    if total < ways.cost[to]:
        ways.cost[to], ways.origin[to] = total, node
        ways.tuple[to], ways.step[to] = mover, step
        heapq.heappush(heap, (total, to))


@njit(cache=True)
def _follow(net: Any, ways: Any) -> None:
    """Make all moves of the way to the last node."""
    node = net.chains.nodes
    while ways.origin[node] != NOWHERE:
        origin = ways.origin[node]
        if ways.tuple[node] != NOWHERE:
            _keep(net, ways.tuple[node], ways.step[node])
        elif origin < node:
            net.idle[origin] += 1
        else:
            net.idle[node] -= 1
        node = origin


@njit(cache=True)
def _keep(net: Any, kept: int, step: int) -> None:
    """Keep a tuple until another step; lists by node tell who is kept until there."""
    old = net.steps[kept]
    if old != NOWHERE:
        before, after = net.before[kept], net.after[kept]
        if before != NOWHERE:
            net.after[before] = after
        else:
            net.head[net.chains.exits[old]] = after
        if after != NOWHERE:
            net.before[after] = before
    net.steps[kept] = step
    if step != NOWHERE:
        node = net.chains.exits[step]
        after = net.head[node]
        net.before[kept], net.after[kept], net.head[node] = NOWHERE, after, kept
        if after != NOWHERE:
            net.before[after] = kept
