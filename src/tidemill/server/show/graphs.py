"""The running graph: its parts, what they do, and changes of plans that go on."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any

from tidemill.engine.running import RunningGraph
from tidemill.graph.metadata import NodeMetadata
from tidemill.graph.migration import Migration, hand_overs
from tidemill.physical.operator import Exec
from tidemill.runtime.operators import nodes_of
from tidemill.server.show.tables import domain_of

MEASURES = (
    "id", "input_rate", "output_rate", "selectivity", "rows_in", "rows_out", "state_rows",
    "state_bytes", "seconds", "watermark", "window", "granularity",
)  # fmt: skip
"""What is told of every part, in columns."""

_ROLES = {"SourceExec": "source", "FuseExec": "hand_over", "ReferencePointExec": "hand_over"}


def measures_of(nodes: Mapping[int, NodeMetadata], tick: int, at: float) -> dict[str, Any]:
    """What all parts do, as one list for every measure."""
    found: dict[str, Any] = {"tick": tick, "at": round(at * 1000)}
    for name in MEASURES:
        found[name] = [getattr(node, name) for node in nodes.values()]
    return found


def graph_of(
    graph: RunningGraph, nodes: Mapping[int, NodeMetadata], revision: int
) -> dict[str, Any]:
    """The whole graph, as it stands between two ticks."""
    tick = graph.graph.run.ticks
    return {
        "revision": revision,
        "tick": tick,
        "nodes": [_node(node, nodes) for node in nodes.values()],
        "roots": [
            {"query": name, "node": graph.metadata.id_of(query.root.running)}
            for name, query in graph.graph.running.items()
        ],
        "measures": measures_of(nodes, tick, time.time()),
        "migrations": migrations_of(graph),
    }


def _node(node: NodeMetadata, nodes: Mapping[int, NodeMetadata]) -> dict[str, Any]:
    operator, _, details = node.label.partition(" ")
    return {
        "id": node.id,
        "operator": operator,
        "details": details,
        # What Spark does by itself is no part of the graph.
        "inputs": [number for number in node.inputs if number in nodes],
        "queries": node.queries,
        "role": _ROLES.get(operator, "operator"),
        "window": node.window,
        "granularity": node.granularity,
    }


def migrations_of(graph: RunningGraph) -> list[dict[str, Any]]:
    """Queries that are on their way to another plan."""
    running = [each for each in graph.migrations.of.values() if each.is_running]
    return [_migration(graph, migration) for migration in running]


def _migration(graph: RunningGraph, migration: Migration) -> dict[str, Any]:
    left = migration.remaining(graph.graph.run.nodes)
    places = hand_overs(migration.handing_over)
    return {
        "query": migration.query,
        "split": left.split,
        "domain": domain_of(graph.graph.find(migration.query).job.domain),
        "time_left": left.time,
        "old_rows": left.old_rows,
        "old_nodes": _ids(graph, (place.old for place in places)),
        "new_nodes": _ids(graph, (place.new for place in places)),
        "phase": migration.phase.value,
    }


def _ids(graph: RunningGraph, plans: Iterable[Exec]) -> list[int]:
    running = graph.graph.run.nodes
    return [graph.metadata.id_of(node) for node in nodes_of(*plans) if node in running]
