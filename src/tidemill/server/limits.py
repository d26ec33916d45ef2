"""Limits on what clients send."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tidemill.server.problems import TooLarge, failure


class BodyLimit:
    """An ASGI app around another: bodies have a largest size, in whatever way they come."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app = app
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        counted = _Counted(receive, send, self._most)
        announced = Headers(scope=scope).get("content-length", "0")
        # A number with more digits than that is an attack.
        counted.too_long = (
            not announced.isdecimal() or len(announced) > 20 or int(announced) > self._most
        )
        if not counted.too_long:
            await self._app(scope, counted.receive, counted.send)
        if counted.too_long and not counted.answered:
            body = failure(self._error())
            await Response(body, 413, media_type="application/json")(scope, receive, send)

    def _error(self) -> TooLarge:
        help = "send less at once; the server may be started with a larger --max-body"
        return TooLarge(f"the body has more than {self._most} bytes", help=help)


class _Counted:
    """A request whose body is counted: in pieces, it does not say how long it is.

    To the app, a client that sends too much is gone; the answer that it then gives is not sent.
    """

    def __init__(self, receive: Receive, send: Send, most: int) -> None:
        self._receive, self._send, self._most = receive, send, most
        self._seen = 0
        self.too_long = False
        self.answered = False

    async def receive(self) -> Message:
        """The next piece."""
        message = await self._receive()
        self._seen += len(message.get("body", b""))
        self.too_long = self.too_long or self._seen > self._most
        return {"type": "http.disconnect"} if self.too_long else message

    async def send(self, message: Message) -> None:
        """A piece of the answer."""
        if self.too_long and not self.answered:
            return
        self.answered = True
        await self._send(message)
