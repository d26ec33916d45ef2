"""Requests as a server gets them, bytes and all, asked of an app without a network."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import unquote

import orjson
from starlette.types import ASGIApp, Message, Scope

LONGEST = 30.0
"""Seconds that an answer may take."""

Header = tuple[bytes, bytes]


@dataclass(frozen=True)
class Asked:
    """A request; one that is `cut` ends before its body does."""

    method: str
    path: bytes
    query: bytes = b""
    headers: tuple[Header, ...] = ((b"host", b"127.0.0.1"),)
    body: bytes = b""
    cut: bool = False

    def with_headers(self, *headers: Header) -> Asked:
        """The same with these headers instead of those of the same names."""
        names = {name for name, _ in headers}
        kept = tuple(each for each in self.headers if each[0] not in names)
        return replace(self, headers=kept + headers)

    def scope(self) -> Scope:
        """What a server makes of it."""
        return {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": self.method,
            "scheme": "http",
            "path": unquote(self.path.decode("latin-1")),
            "raw_path": self.path,
            "root_path": "",
            "query_string": self.query,
            "headers": list(self.headers),
            "client": ("127.0.0.1", 50000),
            "server": ("127.0.0.1", 8321),
        }


def sent(method: str, path: str, value: Any = None, query: str = "") -> Asked:
    """A request as it should be."""
    asked = Asked(method, path.encode(), query.encode())
    if value is None:
        return asked
    body = orjson.dumps(value)
    return replace(asked, body=body).with_headers(
        (b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())
    )


@dataclass
class Answered:
    """What an app answered; the error, if it raised one."""

    status: int = 0
    headers: list[Header] = field(default_factory=list)
    body: bytes = b""
    error: str = ""

    @property
    def media(self) -> str:
        """What the body is said to be."""
        return dict(self.headers).get(b"content-type", b"").decode("latin-1")

    def wrong(self, secrets: tuple[bytes, ...]) -> str | None:
        """What is wrong with the answer, if anything."""
        if self.error:
            return self.error
        if not 200 <= self.status < 500 and self.status != 503:
            return f"status {self.status}: {self.body[:500]!r}"
        if any(secret in part for secret in secrets for part in self._parts()):
            return f"a secret: {self.body[:2000]!r}"
        if any(set(b"\r\n\0") & set(part) for header in self.headers for part in header):
            return f"broken headers: {self.headers!r}"
        return self._wrong_body()

    def _parts(self) -> list[bytes]:
        return [self.body, *(part for header in self.headers for part in header)]

    def _wrong_body(self) -> str | None:
        if b"Traceback (most recent call last)" in self.body:
            return f"a traceback: {self.body[:2000]!r}"
        if self.media != "application/json" or not self.body:
            return None
        try:
            said = orjson.loads(self.body)
        except orjson.JSONDecodeError as error:
            return f"no JSON: {error}: {self.body[:500]!r}"
        if self.status >= 400 and not said["error"]["message"]:
            return f"no message: {self.body!r}"
        return None


async def ask(app: ASGIApp, asked: Asked) -> Answered:
    """Ask an app."""
    found = Answered()
    parts: list[Message] = [
        {"type": "http.request", "body": asked.body, "more_body": asked.cut},
        {"type": "http.disconnect"},
    ]

    async def receive() -> Message:
        if len(parts) == 1:
            await asyncio.sleep(0)
        return parts.pop(0) if len(parts) > 1 else parts[0]

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            found.status, found.headers = message["status"], list(message["headers"])
        elif message["type"] == "http.response.body":
            found.body += message.get("body", b"")

    try:
        async with asyncio.timeout(LONGEST):
            await app(asked.scope(), receive, send)
    except Exception:
        found.error = traceback.format_exc()
    if asked.cut and not found.status and not found.error:
        found.status = 499  # nobody waits for an answer
    return found


@asynccontextmanager
async def living(app: ASGIApp) -> AsyncIterator[None]:
    """An app from its start to its end, as a server lets it live."""
    wishes: asyncio.Queue[Message] = asyncio.Queue()
    answers: asyncio.Queue[Message] = asyncio.Queue()
    life = asyncio.create_task(app({"type": "lifespan"}, wishes.get, answers.put))
    await wishes.put({"type": "lifespan.startup"})
    assert (await answers.get())["type"] == "lifespan.startup.complete"
    try:
        yield
    finally:
        await wishes.put({"type": "lifespan.shutdown"})
        assert (await answers.get())["type"] == "lifespan.shutdown.complete"
        await life
