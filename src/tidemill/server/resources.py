"""Memory and processing: bounds, what is estimated, and what was measured."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from math import isfinite

from tidemill.engine.running import RunningGraph
from tidemill.graph.manager.knobs import Demand
from tidemill.graph.manager.steering import knobs_of
from tidemill.graph.metadata import NodeMetadata
from tidemill.wire.graph import KnobEntry, Needed, NeededHistory, ResourceBounds

MOST = 600
"""So many looks are kept."""

DISTANCE = 1.0
"""Seconds between two of them."""


class Resources:
    """What the graph needs, now and in the last minutes."""

    def __init__(self) -> None:
        self._looks: deque[tuple[int, Needed]] = deque(maxlen=MOST)
        self._spent = 0.0
        self._at: float | None = None
        self.now = Needed(memory=0, estimated_memory=None, cpu=0.0, estimated_cpu=None)

    def look(self, graph: RunningGraph, nodes: Mapping[int, NodeMetadata], at: float) -> None:
        """Take note of what is needed, unless that was done just now."""
        if self._at is not None and at - self._at < DISTANCE:
            return
        spent = sum(node.seconds for node in nodes.values())
        # Parts that are gone take their seconds with them.
        cpu = 0.0 if self._at is None else max(0.0, spent - self._spent) / (at - self._at)
        self._spent, self._at = spent, at
        memory = sum(node.state_bytes for node in nodes.values())
        estimated = _estimated(graph)
        self.now = Needed(
            memory=memory,
            estimated_memory=estimated.memory,
            cpu=cpu,
            estimated_cpu=estimated.cpu,
        )
        self._looks.append((round(at * 1000), self.now))

    def history(self) -> NeededHistory:
        """The last looks, as one list for every measure."""
        columns = {
            name: [getattr(now, name) for _, now in self._looks] for name in Needed.model_fields
        }
        return NeededHistory(at=[at for at, _ in self._looks], **columns)


def _estimated(graph: RunningGraph) -> ResourceBounds:
    return _of(None if graph.manager is None else graph.manager.demand)


def bounds_of(graph: RunningGraph) -> ResourceBounds:
    """The bounds of memory (bytes) and processing (cores); None where there is none."""
    return _of(None if graph.manager is None else graph.manager.bound)


def _of(found: Demand | None) -> ResourceBounds:
    if found is None:
        return ResourceBounds(memory=None, cpu=None)
    return ResourceBounds(memory=_finite(found.memory), cpu=_finite(found.cpu))


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None


def knobs(graph: RunningGraph) -> list[KnobEntry]:
    """The sizes that may be changed, within which bounds, and for which queries."""
    users: dict[str, list[str]] = {}
    for name in graph.running:
        for knob in graph.adaptation.histories(name):
            users.setdefault(knob, []).append(name)
    sizes = graph.adaptation.sizes
    return [
        KnobEntry(
            name=knob.name,
            kind=knob.name.partition(" ")[0],
            size=sizes[knob.name],
            lower=min(knob.low, knob.high),
            upper=max(knob.low, knob.high),
            queries=users.get(knob.name, []),
        )
        for knob in knobs_of(graph.adaptation)
        if knob.name in sizes
    ]
