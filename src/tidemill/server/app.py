"""The app: routes, errors and the life of a server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response, WebSocket
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from tidemill import __version__
from tidemill.errors import TidemillError
from tidemill.server.answers import Answers
from tidemill.server.live import Live, Session
from tidemill.server.page import serve_page
from tidemill.server.problems import Refused, problem, status_of
from tidemill.server.routes import compose, graph, info, queries, results, statements, streams
from tidemill.server.service import Service
from tidemill.server.settings import Settings
from tidemill.server.statements import ScriptError
from tidemill.server.wire import dumps

_ROUTES = (info, statements, streams, queries, results, graph, compose)


def create_app(service: Service, settings: Settings) -> FastAPI:
    """An app that serves an engine; it makes ticks as long as it is served."""
    app = FastAPI(
        title="Tidemill",
        version=__version__,
        summary="Continuous SQL queries over data streams, with exact answers.",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=_life,
    )
    app.state.service = service
    app.state.answers = Answers(service)
    app.state.live = Live(service, app.state.answers)
    api = APIRouter(prefix="/api")
    for module in _ROUTES:
        api.include_router(module.router)
    api.add_api_websocket_route("/live", live)
    app.include_router(api)
    serve_page(app)
    app.add_exception_handler(TidemillError, _wrong)
    app.add_exception_handler(RequestValidationError, _not_understood)
    app.add_exception_handler(HTTPException, _http)
    return app


@asynccontextmanager
async def _life(app: FastAPI) -> AsyncIterator[None]:
    app.state.live.open()
    app.state.service.start()
    yield
    await app.state.live.close()
    app.state.service.stop()


async def live(socket: WebSocket) -> None:
    """News, to a client that says what it wants to know."""
    offered = socket.scope.get("subprotocols", [])
    await socket.accept("tidemill" if "tidemill" in offered else None)
    await Session(socket.app.state.live, socket).serve()


def failure(error: TidemillError, status: int, **more: Any) -> Response:
    """The answer to a request that was not carried out."""
    body = dumps({"error": problem(error), **more})
    return Response(body, status, media_type="application/json")


async def _wrong(request: Request, error: Exception) -> Response:
    assert isinstance(error, TidemillError)
    if isinstance(error, ScriptError):
        return failure(error.error, status_of(error.error), done=error.done)
    return failure(error, status_of(error))


async def _not_understood(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    wrong = Refused(f"{place}: {first['msg']}", help="see /api/openapi.json")
    return failure(wrong, 422)


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return failure(Refused(str(error.detail)), error.status_code)
