"""The running graph, and what it needs."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path

from tidemill.server.problems import NotFound
from tidemill.server.routes.common import Routes, Serving
from tidemill.server.service import Service
from tidemill.wire.graph import Adapted, GraphReport, NewSizes, NodeHistory, ResourceReport

routes = Routes("graph")

Node = Annotated[int, Path(ge=0, le=2**53, description="The id of a part")]


@routes.shared("/graph", "The running graph")
def graph(service: Service) -> GraphReport:
    """All parts, what they do, and changes of plans that go on."""
    return service.report()


@routes.answer("GET", "/graph/nodes/{node}/history", "What a part did in the last minutes", 404)
def history(service: Serving, node: Node) -> NodeHistory:
    """One list for every measure, the oldest first."""
    with service.lock:
        found = service.history.of(node)
        if not found.at and node not in service.nodes:
            raise NotFound(f"the graph has no node {node}", help="GET /api/graph lists them")
        return found


@routes.answer("POST", "/graph/sizes", "Set sizes of windows and granules")
def sizes(service: Serving, wanted: NewSizes) -> Adapted:
    """For rows that come from now on, or from an instant on, as far as all queries allow it."""
    with service.lock:
        changed = service.graph.adapt(wanted.sizes, wanted.at)
    service.changed()
    return Adapted(sizes={knob: list(each) for knob, each in changed.items()})


@routes.shared("/resources", "Memory and processing")
def resources(service: Service) -> ResourceReport:
    """Bounds, estimates and measurements, and what has happened."""
    return service.resources()
