"""The running graph, and what it needs."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Response

from tidemill.server.models.graph import Adapted, GraphReport, History, ResourceReport
from tidemill.server.models.requests import Sizes
from tidemill.server.problems import NotFound
from tidemill.server.routes.bodies import Route
from tidemill.server.routes.common import Made, Serving, failures, json, told
from tidemill.server.wire import dumps

router = APIRouter(tags=["graph"], route_class=Route)


@router.get("/graph", summary="The running graph", response_model=GraphReport, responses=failures())
async def graph(service: Serving, made: Made) -> Response:
    """All parts, what they do, and changes of plans that go on."""
    return json(await made.get("graph", lambda: dumps(service.graph_json())))


@router.get(
    "/graph/nodes/{node}/history",
    summary="What a part did in the last minutes",
    response_model=History,
    responses=failures(404),
)
async def history(
    service: Serving, node: Annotated[int, Path(ge=0, le=2**53, description="The id of a part")]
) -> Response:
    """One list for every measure, the oldest first."""

    def work() -> dict[str, Any]:
        with service.lock:
            found = service.history.of(node)
            if not found["at"] and node not in service.nodes:
                raise NotFound(f"the graph has no node {node}", help="GET /api/graph lists them")
            return found

    return await told(work)


@router.post(
    "/graph/sizes",
    summary="Set sizes of windows and granules",
    response_model=Adapted,
    responses=failures(),
)
async def sizes(service: Serving, wanted: Sizes) -> Response:
    """For rows that come from now on, or from an instant on, as far as all queries allow it."""

    def work() -> dict[str, Any]:
        with service.lock:
            changed = service.graph.adapt(wanted.sizes, wanted.at)
        service.changed()
        return {"sizes": changed}

    return await told(work)


@router.get(
    "/resources",
    summary="Memory and processing",
    response_model=ResourceReport,
    responses=failures(),
)
async def resources(service: Serving, made: Made) -> Response:
    """Bounds, estimates and measurements, and what has happened."""
    return json(await made.get("resources", lambda: dumps(service.resources())))
