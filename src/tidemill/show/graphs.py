"""The running graph: its parts, what they do, and changes of plans that go on."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Literal

from tidemill.algebra.plan import nodes_of
from tidemill.engine.running import RunningGraph
from tidemill.graph.metadata import NodeMetadata
from tidemill.graph.migration import Migration, hand_overs
from tidemill.physical.operator import Exec
from tidemill.show.tables import domain_of
from tidemill.wire.graph import (
    GraphMigration,
    GraphNode,
    GraphReport,
    GraphRoot,
    Measured,
    Measures,
)

_ROLES: dict[str, Literal["source", "hand_over"]] = {
    "SourceExec": "source",
    "FuseExec": "hand_over",
    "ReferencePointExec": "hand_over",
}


def measures_of(nodes: Mapping[int, NodeMetadata], tick: int, at: float) -> Measures:
    """What all parts do, as one list for every measure."""
    columns = {
        name: [getattr(node, name) for node in nodes.values()] for name in Measured.model_fields
    }
    return Measures(tick=tick, at=round(at * 1000), id=list(nodes), **columns)


def graph_of(graph: RunningGraph, nodes: Mapping[int, NodeMetadata], revision: int) -> GraphReport:
    """The whole graph, as it stands between two ticks."""
    tick = graph.ticks
    return GraphReport(
        revision=revision,
        tick=tick,
        nodes=[_node(node, nodes) for node in nodes.values()],
        roots=[
            GraphRoot(query=name, node=graph.metadata.id_of(query.root.running))
            for name, query in graph.running.items()
        ],
        measures=measures_of(nodes, tick, time.time()),
        migrations=migrations_of(graph),
    )


def _node(node: NodeMetadata, nodes: Mapping[int, NodeMetadata]) -> GraphNode:
    operator, _, details = node.label.partition(" ")
    return GraphNode(
        id=node.id,
        operator=operator,
        details=details,
        # What Spark does by itself is no part of the graph.
        inputs=[number for number in node.inputs if number in nodes],
        queries=list(node.queries),
        role=_ROLES.get(operator, "operator"),
        window=node.window,
        granularity=node.granularity,
    )


def migrations_of(graph: RunningGraph) -> list[GraphMigration]:
    """Queries that are on their way to another plan."""
    running = [each for each in graph.migrations.of.values() if each.is_running]
    return [_migration(graph, migration) for migration in running]


def _migration(graph: RunningGraph, migration: Migration) -> GraphMigration:
    left = migration.remaining(graph.operators)
    places = hand_overs(migration.handing_over)
    return GraphMigration(
        query=migration.query,
        split=left.split,
        domain=domain_of(graph.members[migration.query].job.domain),
        time_left=left.time,
        old_rows=left.old_rows,
        old_nodes=_ids(graph, (place.old for place in places)),
        new_nodes=_ids(graph, (place.new for place in places)),
        phase=migration.phase.value,
    )


def _ids(graph: RunningGraph, plans: Iterable[Exec]) -> list[int]:
    running = graph.operators
    return [graph.metadata.id_of(node) for node in nodes_of(*plans) if node in running]
