"""For those who operate a server: is it alive, is it ready, and what does it do?"""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.responses import PlainTextResponse

from tidemill.server.metrics import MEDIA, metrics_text

ALIVE, READY = "/healthz", "/readyz"
PROBES = (ALIVE, READY)
"""Whoever starts servers asks these without a token: they tell nothing but yes or no."""

router = APIRouter(include_in_schema=False)


@router.get(ALIVE)
async def alive() -> Response:
    """The process answers."""
    return PlainTextResponse("ok\n")


@router.get(READY)
async def ready(request: Request) -> Response:
    """Whether queries run: it has caught up, and ticks are made."""
    graph = request.app.state.service.graph
    if graph.is_active:
        return PlainTextResponse("ready\n")
    return PlainTextResponse("the graph has stopped\n", 503)


@router.get("/metrics")
async def metrics(request: Request) -> Response:
    """Numbers for Prometheus."""
    text = await run_in_threadpool(metrics_text, request.app.state.service)
    return Response(text, headers={"content-type": MEDIA})


def while_starting(path: str, progress: str) -> Response | None:
    """What a server that catches up says to probes."""
    if path == ALIVE:
        return PlainTextResponse("ok\n")
    if path == READY:
        return PlainTextResponse(f"catching up: {progress}\n", 503)
    return None
