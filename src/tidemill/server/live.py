"""News over a WebSocket: everybody gets the newest state, at their own pace."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import orjson
from anyio import CancelScope, create_task_group, move_on_after
from fastapi import WebSocket, WebSocketDisconnect

from tidemill.connectors.feeds import Receipt
from tidemill.errors import TidemillError
from tidemill.server import results
from tidemill.server.answers import Answers
from tidemill.server.problems import NotNow, failure
from tidemill.server.service import Service
from tidemill.show.problems import problem
from tidemill.wire.base import Problem
from tidemill.wire.graph import EventList
from tidemill.wire.values import dumps

TOPICS = ("graph", "measures", "queries", "resources", "events", "catalog")
RESULTS = "results:"
GOODBYE = 2.0
"""Seconds that a client has to hear that the server stops."""

FASTEST = 50
"""Milliseconds between two messages about the same."""


class Live:
    """Wakes everybody who waits for news when there are some, from whatever thread."""

    def __init__(self, service: Service, answers: Answers) -> None:
        self.service = service
        self.answers = answers
        self.closing = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._news = asyncio.Event()
        self._stop: Callable[[], None] = lambda: None
        self.sessions: set[LiveSession] = set()

    def open(self) -> None:
        """Begin to listen, in the loop that serves."""
        self._loop = asyncio.get_running_loop()
        self._stop = self.service.listen(self._wake_soon)

    async def close(self) -> None:
        """Send everybody home; once is enough."""
        if self.closing:
            return
        self.closing = True
        self._stop()
        self._wake()
        async with create_task_group() as farewells:
            for session in list(self.sessions):
                farewells.start_soon(session.close)

    def _wake_soon(self) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()
        for session in self.sessions:
            session.due.set()

    async def news(self) -> None:
        """Come back when something has changed."""
        await self._news.wait()

    async def taken(self, pushed: Receipt) -> None:
        """Come back when ticks have taken rows; an error if that takes too long."""
        with move_on_after(self.service.settings.limits.wait_seconds):
            while not pushed.is_taken and not self.closing:
                self.service.soon()
                await self.news()
        if not pushed.is_taken:
            help = "they may be taken yet: read the stream's rows in GET /api/catalog"
            raise NotNow("no tick has taken the rows yet", help=help)


class LiveSession:
    """One client: what it wants to know, how often, and what it knows already."""

    def __init__(self, live: Live, socket: WebSocket) -> None:
        self._live = live
        self._socket = socket
        self._every = 0.5
        self._known: dict[str, Any] = {}
        self._last: dict[str, bytes] = {}
        self._wanted: list[str] = []
        self.due = asyncio.Event()
        self._asked = asyncio.Event()
        self._scope = CancelScope()

    async def serve(self) -> None:
        """Until one of the two goes."""
        self._live.sessions.add(self)
        try:
            async with create_task_group() as both:
                self._scope = both.cancel_scope
                both.start_soon(self._send)
                await self._receive()
                self._scope.cancel()
        finally:
            self._live.sessions.discard(self)

    async def close(self) -> None:
        """Send the client home."""
        # It may be gone already, or not read what it is sent.
        with suppress(RuntimeError, WebSocketDisconnect), move_on_after(GOODBYE):
            await self._socket.close(1001, "the server stops")
        self._scope.cancel()

    async def _receive(self) -> None:
        while True:
            try:
                text = await self._socket.receive_text()
            except (WebSocketDisconnect, RuntimeError, KeyError):
                return
            error = self._take(text)
            if error is not None:
                await self._socket.send_text(dumps({"topic": "error", "data": error}).decode())

    def _take(self, text: str) -> Problem | None:
        """What the client wants from now on; what is wrong with that, if anything."""
        try:
            wish = orjson.loads(text)
            topics, every = wish["subscribe"], wish.get("every", 500)
            if not all(topic in TOPICS or topic.startswith(RESULTS) for topic in topics):
                raise ValueError("no such topic")
            self._every = max(FASTEST, float(every)) / 1000
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            help = (
                f'{{"subscribe": [...], "every": 500}}; topics: {", ".join(TOPICS)}, results:NAME'
            )
            return problem(TidemillError(f"this is not understood: {error}", help=help))
        # Whoever wants the graph wants to see it work.
        both = ["measures"] if "graph" in topics else []
        self._wanted = list(dict.fromkeys([*topics, *both]))[:64]
        self._known = {topic: seen for topic, seen in self._known.items() if topic in self._wanted}
        self.due.set()
        self._asked.set()
        return None

    async def _send(self) -> None:
        """Tell what is new, but not more often than the client wants."""
        with suppress(WebSocketDisconnect, RuntimeError):
            while not self._live.closing:
                await self.due.wait()
                self.due.clear()
                self._asked.clear()
                for topic in list(self._wanted):
                    await self._tell(topic)
                with move_on_after(self._every):
                    await self._asked.wait()
        self._scope.cancel()

    async def _tell(self, topic: str) -> None:
        if topic.startswith(RESULTS):
            await self._tell_results(topic)
            return
        version = self._version(topic)
        if self._known.get(topic) == version:
            return
        self._known[topic] = version
        data = await self._live.answers.get(topic, lambda: dumps(self._data(topic)))
        await self._push(topic, data)

    def _version(self, topic: str) -> Any:
        """What is known of a topic is out of date if this is another."""
        service = self._live.service
        match topic:
            case "graph":
                return service.revision
            case "events":
                return service.events.count
            case "queries":
                return service.version[:2]  # it does not fade
            case _:
                return service.version

    def _data(self, topic: str) -> Any:
        service = self._live.service
        makers: dict[str, Callable[[], Any]] = {
            "graph": service.report,
            "measures": service.measures,
            "queries": service.queries,
            "catalog": service.catalog,
            "resources": service.resources,
            "events": lambda: EventList(events=service.events.all()),
        }
        return makers[topic]()

    async def _push(self, topic: str, data: bytes) -> None:
        await self._socket.send_text(f'{{"topic":{dumps(topic).decode()},"data":{data.decode()}}}')

    async def _tell_results(self, topic: str) -> None:
        """The rows that are new to this client."""
        name, cursor = topic.removeprefix(RESULTS), self._known.get(topic)
        service = self._live.service

        def make() -> tuple[bytes, int | None]:
            with service.lock:
                answer = results.news(service.kept(name), cursor)
            return dumps(answer), answer["cursor"]

        try:
            data, seen = await self._live.answers.get((topic, cursor), make)
        except TidemillError as error:
            data, seen = failure(error), None
        if self._last.get(topic) != data:
            self._last[topic], self._known[topic] = data, seen
            await self._push(topic, data)
