"""The running graph."""

from __future__ import annotations

from fastapi import APIRouter, Response

from tidemill.server.models.graph import GraphReport
from tidemill.server.routes.common import Made, Serving, failures, json
from tidemill.server.wire import dumps

router = APIRouter(tags=["graph"])


@router.get("/graph", summary="The running graph", response_model=GraphReport, responses=failures())
async def graph(service: Serving, made: Made) -> Response:
    """All parts, what they do, and changes of plans that go on."""
    return json(await made.get("graph", lambda: dumps(service.graph_json())))
