"""A server that listens while it catches up: it says so to all clients, and how far it is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from threading import Event, Thread

from fastapi import FastAPI
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from tidemill.server.health import while_starting
from tidemill.server.problems import NotNow, failure
from tidemill.server.security import Security
from tidemill.server.settings import Settings
from tidemill.server.startup import Tell

_RETRY = "1"
"""Seconds after which to ask again."""

_TRY_AGAIN_LATER = 1013


class Starting:
    """An ASGI app in front of another one that is still being made, in a thread of its own.

    `make` gets a function that takes note of how far it is.
    """

    def __init__(self, make: Callable[[Tell], FastAPI], settings: Settings) -> None:
        self._make = make
        self.app: FastAPI | None = None
        self.error: BaseException | None = None
        self.progress = "starting"
        self.done = Event()
        self._waiting: ASGIApp = Security(self._wait, settings)
        self._life: AbstractAsyncContextManager[object] | None = None
        self._entering: asyncio.Lock | None = None
        self._thread = Thread(target=self._run, name="tidemill-starting", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self.app = self._make(self._note)
        except BaseException as error:
            self.error = error
        self.done.set()

    def _note(self, how_far: str) -> None:
        self.progress = how_far

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif self.app is None:
            await self._waiting(scope, receive, send)
        else:
            await self._enter(self.app)
            await self.app(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        self._entering = asyncio.Lock()
        entering = asyncio.create_task(self._enter_when_done())
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await entering  # what is being started is stopped when it is there
        if self._life is not None:
            await self._life.__aexit__(None, None, None)
        await send({"type": "lifespan.shutdown.complete"})

    async def _enter_when_done(self) -> None:
        await asyncio.to_thread(self.done.wait)
        if self.app is not None:
            await self._enter(self.app)

    async def _enter(self, app: FastAPI) -> None:
        assert self._entering is not None
        async with self._entering:
            if self._life is None:
                life = app.router.lifespan_context(app)
                await life.__aenter__()
                self._life = life

    async def _wait(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await WebSocketClose(_TRY_AGAIN_LATER, "the server starts")(scope, receive, send)
            return
        if (probed := while_starting(scope["path"], self.progress)) is not None:
            await probed(scope, receive, send)
            return
        error = NotNow("the server is catching up", help="ask again in a moment")
        body = failure(error, progress=self.progress)
        headers = {"retry-after": _RETRY}
        answer = Response(body, error.status, headers, media_type="application/json")
        await answer(scope, receive, send)
