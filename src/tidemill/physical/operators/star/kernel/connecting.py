"""What edges connect: a forest in which every node points towards the root of its component."""

from __future__ import annotations

import numpy as np

from tidemill.physical.mechanisms.arrays import Ints
from tidemill.physical.mechanisms.compiled import compiled_for, part

_INTS = np.zeros(0, np.int64)


@part
def _root(parents: Ints, node: int) -> int:
    """The root above a node; the way there is halved for later calls."""
    while parents[node] != node:
        parents[node] = parents[parents[node]]
        node = parents[node]
    return node


@compiled_for(_INTS, _INTS, _INTS)
def connect(parents: Ints, ones: Ints, others: Ints) -> None:
    """Let all nodes of a component point at its smallest node; at first, each points at itself."""
    for edge in range(len(ones)):
        one, other = _root(parents, ones[edge]), _root(parents, others[edge])
        parents[max(one, other)] = min(one, other)
    for node in range(len(parents)):
        # A parent is never larger than its child, so it points at the root already.
        parents[node] = parents[parents[node]]
