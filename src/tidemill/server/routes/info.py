"""The server itself, and its catalog."""

from __future__ import annotations

import time
from dataclasses import asdict

from fastapi import APIRouter, Response

from tidemill import __version__
from tidemill.server.models.responses import CatalogEntries, Info
from tidemill.server.routes.bodies import Route
from tidemill.server.routes.common import Made, Serving, failures, json
from tidemill.server.wire import dumps

router = APIRouter(tags=["server"], route_class=Route)


@router.get("/info", summary="The server and its limits", responses=failures())
async def info(service: Serving) -> Info:
    """Version, runtime, limits, and how long it runs."""
    settings = service.settings
    return Info(
        version=__version__,
        runtime=service.runtime,
        every=f"{settings.every:g} seconds",
        ticks=service.graph.graph.run.ticks,
        uptime=time.time() - service.began,
        demo=settings.demo,
        limits=asdict(settings.limits),
        allow=list(settings.allow),
        authenticated=settings.token is not None,
    )


@router.get(
    "/catalog",
    summary="Streams, relations and what is derived from them",
    response_model=CatalogEntries,
    responses=failures(),
)
async def catalog(service: Serving, made: Made) -> Response:
    """All that queries can read, with what was read of it."""
    return json(await made.get("catalog", lambda: dumps(service.catalog())))
