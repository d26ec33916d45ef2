"""Clients of a server that read as long as they are let, and remember how long it took."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

import httpx
import orjson
from websockets.asyncio.client import connect

QUERIES = ("highest", "counted", "dear", "bidders")
PAUSE = 1.0
"""Seconds between two requests of a client, on average."""


@dataclass
class Seen:
    """What clients saw: seconds by kind of request, rows and messages, and what went wrong."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    counts: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)


class Clients:
    """Readers of snapshots, of changes, and of the socket, a third each."""

    def __init__(self, url: str, many: int, until: float) -> None:
        self._url, self._many, self._until = url, many, until
        self.seen = Seen()
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
        self._http = httpx.AsyncClient(base_url=url, limits=limits, timeout=60)

    async def run(self) -> None:
        """Read until the time is up."""
        kinds = (self._snapshots, self._changes, self._listen)
        async with self._http:
            readers = [kinds[n % 3](Random(n)) for n in range(self._many)]
            await asyncio.gather(*map(self._guarded, readers), self._push())

    async def _guarded(self, work: Awaitable[None]) -> None:
        try:
            await work
        except Exception as error:
            self.seen.errors.append(f"{type(error).__name__}: {error}")

    @property
    def _goes_on(self) -> bool:
        return time.monotonic() < self._until

    async def _get(self, kind: str, path: str) -> Any:
        began = time.monotonic()
        found = await self._http.get(path)
        self.seen.seconds[kind].append(time.monotonic() - began)
        if found.status_code != 200:
            self.seen.errors.append(f"{path}: {found.status_code} {found.text[:200]}")
            return None
        return orjson.loads(found.content)

    async def _snapshots(self, random: Random) -> None:
        await asyncio.sleep(random.random() * PAUSE)
        while self._goes_on:
            await self._get("snapshot", f"/api/queries/{random.choice(QUERIES)}/snapshot")
            await asyncio.sleep(2 * random.random() * PAUSE)

    async def _changes(self, random: Random) -> None:
        name, cursor = random.choice(QUERIES), 0
        await asyncio.sleep(random.random() * PAUSE)
        while self._goes_on:
            found = await self._get("changes", f"/api/queries/{name}/changes?since={cursor}")
            if found is not None:
                assert found["cursor"] >= cursor, "a cursor went back"
                cursor = found["cursor"]
                self.seen.counts["changes"] += len(found["rows"])
            await asyncio.sleep(2 * random.random() * PAUSE)

    async def _listen(self, random: Random) -> None:
        await asyncio.sleep(random.random() * PAUSE)
        topics = ["graph", "queries", f"results:{random.choice(QUERIES)}"]
        address = self._url.replace("http", "ws") + "/api/live"
        async with connect(address, max_size=None, open_timeout=60, ping_timeout=120) as socket:
            await socket.send(orjson.dumps({"subscribe": topics, "every": 500}).decode())
            while self._goes_on:
                before = time.monotonic()
                message = await asyncio.wait_for(socket.recv(), 60)
                self.seen.seconds["wait for news"].append(time.monotonic() - before)
                said = orjson.loads(message)
                self.seen.counts[f"news of {said['topic'].partition(':')[0]}"] += 1

    async def _push(self) -> None:
        """Rows come in all the time."""
        random, at = Random(0), 0
        while self._goes_on:
            rows = [self._bid(random, at + n) for n in range(20)]
            at += 20
            began = time.monotonic()
            found = await self._http.post("/api/streams/bid/rows", json=rows)
            self.seen.seconds["push"].append(time.monotonic() - began)
            if found.status_code != 200:
                self.seen.errors.append(f"push: {found.status_code} {found.text[:200]}")
            await asyncio.sleep(0.1)

    def _bid(self, random: Random, at: int) -> dict[str, Any]:
        price = round(random.random() * 200, 2)
        return {"item": random.randrange(20), "price": price, "bidder": "ann", "at": at}


Sample = Callable[[], float]


async def sample(read: Sample, until: float) -> list[tuple[float, float]]:
    """What a function says every second, with the time that passed."""
    began, found = time.monotonic(), []
    while time.monotonic() < until:
        found.append((time.monotonic() - began, read()))
        await asyncio.sleep(1)
    return found
