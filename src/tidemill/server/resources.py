"""Memory and processing: bounds, what is estimated, and what was measured."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from math import isfinite
from typing import Any

from tidemill.engine.running import RunningGraph
from tidemill.graph.manager.steering import knobs_of
from tidemill.graph.metadata import NodeMetadata

MOST = 600
"""So many looks are kept."""

DISTANCE = 1.0
"""Seconds between two of them."""

Now = dict[str, float | None]


class Resources:
    """What the graph needs, now and in the last minutes."""

    def __init__(self) -> None:
        self._looks: deque[tuple[int, Now]] = deque(maxlen=MOST)
        self._spent = 0.0
        self._at: float | None = None
        self.now: Now = {
            "memory": 0,
            "estimated_memory": None,
            "cpu": 0.0,
            "estimated_cpu": None,
        }

    def look(self, graph: RunningGraph, nodes: Mapping[int, NodeMetadata], at: float) -> None:
        """Take note of what is needed, unless that was done just now."""
        if self._at is not None and at - self._at < DISTANCE:
            return
        spent = sum(node.seconds for node in nodes.values())
        # Parts that are gone take their seconds with them.
        cpu = 0.0 if self._at is None else max(0.0, spent - self._spent) / (at - self._at)
        self._spent, self._at = spent, at
        memory = sum(node.state_bytes for node in nodes.values())
        self.now = {"memory": memory, "cpu": cpu, **_estimated(graph)}
        self._looks.append((round(at * 1000), self.now))

    def history(self) -> dict[str, list[Any]]:
        """The last looks, as one list for every measure."""
        names = ("memory", "estimated_memory", "cpu", "estimated_cpu")
        return {
            "at": [at for at, _ in self._looks],
            **{name: [now[name] for _, now in self._looks] for name in names},
        }


def _estimated(graph: RunningGraph) -> Now:
    if graph.manager is None:
        return {"estimated_memory": None, "estimated_cpu": None}
    demand = graph.manager.demand
    return {"estimated_memory": _finite(demand.memory), "estimated_cpu": _finite(demand.cpu)}


def bounds_of(graph: RunningGraph) -> Now:
    """The bounds of memory (bytes) and processing (cores); None where there is none."""
    if graph.manager is None:
        return {"memory": None, "cpu": None}
    bound = graph.manager.bound
    return {"memory": _finite(bound.memory), "cpu": _finite(bound.cpu)}


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None


def knobs(graph: RunningGraph) -> list[dict[str, Any]]:
    """The sizes that may be changed, within which bounds, and for which queries."""
    users: dict[str, list[str]] = {}
    for name in graph.graph.running:
        for knob in graph.adaptation.histories(name):
            users.setdefault(knob, []).append(name)
    sizes = graph.adaptation.sizes
    return [
        {
            "name": knob.name,
            "kind": knob.name.partition(" ")[0],
            "size": sizes[knob.name],
            "lower": min(knob.low, knob.high),
            "upper": max(knob.low, knob.high),
            "queries": users.get(knob.name, []),
        }
        for knob in knobs_of(graph.adaptation)
        if knob.name in sizes
    ]
