"""Which requests a server takes: checked before all else, for HTTP and for the socket alike."""

from __future__ import annotations

import binascii
from base64 import urlsafe_b64decode
from collections.abc import Iterable
from hashlib import sha256
from hmac import compare_digest
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from tidemill.client.loopback import is_loopback_place
from tidemill.errors import TidemillError
from tidemill.server.guessing import Guesses
from tidemill.server.health import PROBES
from tidemill.server.page import POLICY
from tidemill.server.problems import Forbidden, Refused, TooMany, Unknown, failure
from tidemill.server.settings import Settings

PROTOCOL = "tidemill"
_PREFIX = f"{PROTOCOL}."
_NO_TOKEN = 4401
"""What a socket is closed with: browsers do not tell pages why a handshake was refused."""

_HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


def refuse_open_door(settings: Settings) -> None:
    """A server that others can reach needs a token."""
    if settings.token is None and not settings.is_local:
        raise TidemillError(
            f"a token is needed to listen on {settings.host}: others can reach it",
            help="set TIDEMILL_TOKEN, or listen on 127.0.0.1",
        )
    if settings.read_token is not None and settings.token is None:
        help = "set TIDEMILL_TOKEN as well: whoever has it may also write"
        raise TidemillError("a token for reading needs one for writing beside it", help=help)
    if any(len(token) < _SHORTEST for token in (settings.token, settings.read_token) if token):
        help = "for example: python -c 'import secrets; print(secrets.token_urlsafe())'"
        raise TidemillError(f"a token has at least {_SHORTEST} characters", help=help)


_SHORTEST = 8


class Security:
    """An ASGI app around another: it answers requests that are not allowed."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._token = None if settings.token is None else _digest(settings.token)
        self._reader = None if settings.read_token is None else _digest(settings.read_token)
        self._guesses = Guesses(settings.limits.wrong_tokens)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        error = self._refusal(scope)
        if error is None:
            sending = _with_headers(scope, send) if scope["type"] == "http" else send
            await self._app(scope, receive, sending)
        elif scope["type"] == "http":
            await _answer(error)(scope, receive, _with_headers(scope, send))
        else:
            await _close(error, scope, receive, send)

    def _refusal(self, scope: Scope) -> Refused | None:
        headers = Headers(scope=scope)
        if scope["path"] in PROBES and scope["type"] == "http":
            return None
        if self._token is None and not _is_local_host(headers.get("host", "")):
            help = "call it 127.0.0.1 or localhost"
            return Forbidden("this server has another name", help=help)
        origin = headers.get("origin")
        if origin is not None and not _is_same(origin, headers.get("host", "")):
            return Forbidden("other web sites may not use this server", help="open its own page")
        if self._token is not None and _needs_token(scope):
            return self._without_token(self._token, scope, list(_tokens(scope, headers)))
        return None

    def _without_token(self, token: bytes, scope: Scope, given: list[str]) -> Refused | None:
        """Whether the token is right; the time that takes tells nothing about it."""
        address = (scope.get("client") or ("",))[0]
        if given and self._guesses.is_too_many(address):
            return TooMany("too many wrong tokens from this address", help="try again in a minute")
        known = [compare_digest(_digest(each), token) for each in given]
        if any(known):
            return None
        if self._reader is not None and self._may_read(self._reader, given):
            return None if _only_reads(scope) else _NO_WRITING
        if given:
            self._guesses.wrong(address)
        help = "send it as `Authorization: Bearer TOKEN`"
        return Unknown("a valid token is needed", help=help)

    def _may_read(self, reader: bytes, given: list[str]) -> bool:
        known = [compare_digest(_digest(each), reader) for each in given]
        return any(known)


_NO_WRITING = Forbidden("this token may only read", help="ask for one that may write")
_READING = ("/api/check", "/api/plan", "/api/run", "/api/compose/check")
"""Requests with a body that change nothing."""


def _only_reads(scope: Scope) -> bool:
    """Whether a request, or a socket, changes nothing."""
    if scope["type"] == "websocket" or scope["method"] in ("GET", "HEAD", "OPTIONS"):
        return True
    return scope["method"] == "POST" and scope["path"] in _READING


def _needs_token(scope: Scope) -> bool:
    """The page itself holds no secrets: it asks for the token."""
    path: str = scope["path"]
    public = path in ("/", "/tidemill.svg", *PROBES) or path.startswith("/assets/")
    return scope["type"] == "websocket" or not public


def _tokens(scope: Scope, headers: Headers) -> Iterable[str]:
    scheme, _, given = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        yield given.strip()
    for offered in scope.get("subprotocols", ()):
        if offered.startswith(_PREFIX):
            yield _decoded(offered.removeprefix(_PREFIX))


def _decoded(text: str) -> str:
    """A token as sockets bring it.

    >>> _decoded("c2VjcmV0")
    'secret'
    """
    try:
        return urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode()
    except (binascii.Error, ValueError):
        return ""


def _digest(token: str) -> bytes:
    """All digests have one length, so that a comparison does not tell that of the token."""
    return sha256(token.encode("utf-8", "surrogateescape")).digest()


def _is_local_host(host: str) -> bool:
    """Whether a server is called by a name of this machine: names of others can be made to lead
    here by whoever owns them.

    >>> _is_local_host("localhost:8321"), _is_local_host("evil.example:8321"), _is_local_host("")
    (True, False, False)
    >>> _is_local_host("[::1].evil.example")
    False
    """
    return is_loopback_place(host)


def _is_same(origin: str, host: str) -> bool:
    """Whether a request comes from a page of this very server.

    >>> _is_same("http://localhost:8321", "localhost:8321"), _is_same("null", "localhost:8321")
    (True, False)
    """
    try:
        return urlsplit(origin).netloc.lower() == host.lower() != ""
    except ValueError:
        return False


def _answer(error: Refused) -> Response:
    headers = {"www-authenticate": "Bearer"} if isinstance(error, Unknown) else {}
    return Response(failure(error), error.status, headers, media_type="application/json")


async def _close(error: Refused, scope: Scope, receive: Receive, send: Send) -> None:
    """Refuse the handshake; a page that offers our protocol is told why by a code."""
    if PROTOCOL in scope.get("subprotocols", ()) and isinstance(error, Unknown):
        await receive()
        await send({"type": "websocket.accept", "subprotocol": PROTOCOL})
        await WebSocketClose(_NO_TOKEN, "a token is needed")(scope, receive, send)
    elif "websocket.http.response" in scope.get("extensions", {}):
        await _denied(error, scope, receive, send)
    else:
        await WebSocketClose(1008, error.message)(scope, receive, send)


async def _denied(error: Refused, scope: Scope, receive: Receive, send: Send) -> None:
    async def denying(message: Message) -> None:
        await send({**message, "type": message["type"].replace("http", "websocket.http")})

    await _answer(error)({**scope, "type": "http"}, receive, denying)


def _with_headers(scope: Scope, send: Send) -> Send:
    """What every answer says to browsers."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers[name] = value
            if scope["path"].startswith("/api/"):
                headers["cache-control"] = "no-store"
        await send(message)

    return sending
