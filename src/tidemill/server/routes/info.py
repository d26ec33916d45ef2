"""The server itself, and its catalog."""

from __future__ import annotations

import time
from dataclasses import asdict

from tidemill import __version__
from tidemill.server.routes.common import Routes, Serving
from tidemill.server.service import Service
from tidemill.wire.catalog import CatalogEntries
from tidemill.wire.statements import ServerInfo

routes = Routes("server")


@routes.answer("GET", "/info", "The server and its limits")
def info(service: Serving) -> ServerInfo:
    """Version, runtime, limits, and how long it runs."""
    settings = service.settings
    return ServerInfo(
        version=__version__,
        runtime=service.runtime,
        every=f"{settings.every:g} seconds",
        ticks=service.graph.ticks,
        uptime=time.time() - service.began,
        demo=settings.demo,
        limits=asdict(settings.limits),
        allow=list(settings.allow),
        authenticated=settings.token is not None,
    )


@routes.shared("/catalog", "Streams, relations and what is derived from them")
def catalog(service: Service) -> CatalogEntries:
    """All that queries can read, with what was read of it."""
    return service.catalog()
