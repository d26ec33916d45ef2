"""Places of nodes: rows flow from the top to the bottom."""

from __future__ import annotations

from dataclasses import replace

from tidemill.compose.model import Composed

WIDTH, HEIGHT = 220, 120
"""How far nodes are apart."""


def laid_out(composed: Composed) -> Composed:
    """The plan with a place for every node: below its inputs, and between them.

    >>> from tidemill.compose.model import Node
    >>> a, b, c = Node("a", "scan"), Node("b", "scan"), Node("c", "join", {}, ("a", "b"))
    >>> [(node.x, node.y) for node in laid_out(Composed("logical", (a, b, c))).nodes]
    [(0, 0), (220, 0), (110.0, 120)]
    """
    places: dict[str, tuple[float, int]] = {}
    taken: dict[int, float] = {}
    for node in composed.nodes:  # inputs come before the nodes that read them
        inputs = [places[id] for id in node.inputs if id in places]
        depth = max((row + 1 for _, row in inputs), default=0)
        free = taken.get(depth, 0)
        wanted = sum(x for x, _ in inputs) / len(inputs) if inputs else free
        places[node.id] = (max(free, wanted), depth)
        taken[depth] = places[node.id][0] + WIDTH
    nodes = (
        replace(node, x=places[node.id][0], y=places[node.id][1] * HEIGHT)
        for node in composed.nodes
    )
    return replace(composed, nodes=tuple(nodes))
