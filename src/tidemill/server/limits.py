"""Limits on what clients send."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tidemill.server.problems import TooLarge, problem
from tidemill.server.wire import dumps


class BodyLimit:
    """An ASGI app around another: bodies are not larger than so many bytes, however they come."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app = app
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        announced = Headers(scope=scope).get("content-length", "0")
        # Who writes a number with more digits than that means no good.
        if not announced.isdecimal() or len(announced) > 20 or int(announced) > self._most:
            body = dumps({"error": problem(self._error())})
            refused = Response(body, 413, media_type="application/json")
            await refused(scope, receive, send)
            return
        await self._app(scope, *self._counted(receive, send))

    def _counted(self, receive: Receive, send: Send) -> tuple[Receive, Send]:
        """Bodies in pieces do not say how long they are: they are counted."""
        seen, answered = 0, False

        async def receiving() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen <= self._most:
                return message
            if answered:  # by a route that wants no body: who goes on sending is not listened to
                return {"type": "http.disconnect"}
            raise HTTPException(413, self._error().message)

        async def sending(message: Message) -> None:
            nonlocal answered
            answered = True
            await send(message)

        return receiving, sending

    def _error(self) -> TooLarge:
        help = "send less at once; the server may be started with a larger --max-body"
        return TooLarge(f"the body has more than {self._most} bytes", help=help)
