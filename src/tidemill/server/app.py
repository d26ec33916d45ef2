"""The app: routes, errors and the life of a server."""

from __future__ import annotations

import logging
import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import APIRouter, FastAPI, Request, Response, WebSocket
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from tidemill import __version__
from tidemill.errors import TidemillError
from tidemill.server import health
from tidemill.server.answers import Answers
from tidemill.server.limits import BodyLimit
from tidemill.server.live import Live, LiveSession
from tidemill.server.logs import RequestLog, is_written, log
from tidemill.server.page import serve_page
from tidemill.server.problems import NotFound, Refused, TooLarge, failure, status_of
from tidemill.server.routes import (
    compose,
    graph,
    info,
    queries,
    relations,
    results,
    statements,
    streams,
)
from tidemill.server.runs import Runs
from tidemill.server.security import PROTOCOL, Security
from tidemill.server.service import Service
from tidemill.server.settings import Settings
from tidemill.server.statements import ScriptError

_HTTP = {404: NotFound, 413: TooLarge}
SUBJECTS = (info, statements, streams, relations, queries, results, graph, compose)


def create_app(service: Service, settings: Settings) -> FastAPI:
    """An app that serves an engine; it makes ticks as long as it is served."""
    app = FastAPI(
        title="Tidemill",
        version=__version__,
        summary="Continuous SQL queries over data streams, with exact answers.",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_life,
    )
    app.state.service = service
    app.state.answers = Answers(service)
    app.state.runs = Runs(service)
    app.state.live = Live(service, app.state.answers)
    api = APIRouter(prefix="/api")
    for module in SUBJECTS:
        api.include_router(module.routes)
    api.add_api_websocket_route("/live", live)
    app.include_router(api)
    app.include_router(health.router)
    serve_page(app)
    app.add_exception_handler(TidemillError, _wrong)
    app.add_exception_handler(RequestValidationError, _not_understood)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RecursionError, _too_deep)
    app.add_exception_handler(ClientDisconnect, _gone)
    app.add_exception_handler(Exception, _unexpected)
    # The last one that is added is asked first.
    app.add_middleware(BodyLimit, most=settings.limits.body_bytes)
    app.add_middleware(Security, settings=settings)
    app.add_middleware(RequestLog)
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
    found: Live = socket.app.state.live
    await socket.accept(PROTOCOL if PROTOCOL in offered else None)
    if len(found.sessions) >= socket.app.state.service.settings.limits.sockets:
        await socket.close(1013, "there are as many sockets as the limit allows")
        return
    await LiveSession(found, socket).serve()


async def _wrong(request: Request, error: Exception) -> Response:
    assert isinstance(error, TidemillError)
    if isinstance(error, ScriptError):
        return _refused(error.error, status_of(error.error), done=error.done)
    return _refused(error, status_of(error))


def _refused(error: TidemillError, status: int, **more: int) -> Response:
    return Response(failure(error, **more), status, media_type="application/json")


async def _not_understood(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    wrong = Refused(f"{place}: {first['msg']}", help="see /api/openapi.json")
    return _refused(wrong, 422)


async def _too_deep(request: Request, error: Exception) -> Response:
    return _refused(Refused("this is nested too deeply", help="make it simpler"), 400)


async def _gone(request: Request, error: Exception) -> Response:
    """Nobody reads it, but it is no fault of the server either."""
    return _refused(Refused("the request was not sent completely"), 400)


async def _unexpected(request: Request, error: Exception) -> Response:
    """What should not happen is for the operators of the server, not for clients."""
    if is_written():
        log(logging.ERROR, f"{request.method} {request.url.path} failed", error)
    else:
        traceback.print_exception(error)
    return _refused(Refused("the server has failed", help="see its log"), 500)


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    said = _refused(_HTTP.get(error.status_code, Refused)(str(error.detail)), error.status_code)
    said.headers.update(error.headers or {})
    return said
