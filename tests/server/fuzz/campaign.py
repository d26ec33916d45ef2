"""Many requests, one after the other, on servers that must survive them all."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from tests.server.fuzz.asking import Answered, Asked, ask, living, sent
from tests.server.fuzz.requests import malformed
from tests.server.fuzz.secrets import TOKEN, Secrets
from tests.server.fuzz.texts import asked_with, malformed_sql
from tests.server.served import Served, served
from tidemill.server.settings import Limits, Settings

BATCH = 1000
"""So many requests get a server of their own: what they leave behind makes it slow."""


@dataclass
class Tally:
    """What came of it."""

    statuses: Counter[int] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def add(self, asked: Asked, answered: Answered, problem: str | None) -> None:
        """Count an answer; what is wrong with it is told with the request."""
        self.statuses[answered.status] += 1
        if problem is not None:
            self.wrong.append(f"{_short(asked)}\n{problem}")


def _short(asked: Asked) -> str:
    headers = [(name, value[:100]) for name, value in asked.headers]
    more = " and is cut" if asked.cut else ""
    place = f"{asked.path[:200]!r} ? {asked.query[:200]!r}"
    return f"{asked.method!r} {place}{more}\n{headers}\n{asked.body[:600]!r}"


def requests(random: Random, secrets: Secrets) -> Iterator[Asked]:
    """Requests without an end."""
    while True:
        kind = random.random()
        if kind < 0.45:
            yield malformed(random)
        elif kind < 0.99:
            yield asked_with(malformed_sql(random), random)
        else:
            yield from secrets.stories(random)


def settings_of(secrets: Secrets, with_token: bool) -> Settings:
    """A server that allows one folder."""
    limits = Limits(queries=60, run_seconds=2.0, body_bytes=1 << 20)
    token = TOKEN if with_token else None
    return Settings(every=0.05, limits=limits, token=token, allow=(str(secrets.allowed),))


async def batch(seed: int, many: int, secrets: Secrets, tally: Tally) -> None:
    """Ask one server; half of them want a token, and get it, as a rule."""
    random, with_token = Random(seed), seed // BATCH % 2 == 1
    known = (b"authorization", f"Bearer {TOKEN}".encode())
    with served(settings_of(secrets, with_token)) as server:
        async with living(server.app):
            for asked in islice(requests(random, secrets), many):
                if with_token and random.random() < 0.97:
                    asked = asked.with_headers(known)
                answered = await ask(server.app, asked)
                tally.add(asked, answered, answered.wrong(secrets.texts))
            await _still_serves(server, known, tally)


async def _still_serves(server: Served, known: tuple[bytes, bytes], tally: Tally) -> None:
    """Ticks are made, and none of them failed for what a client sent."""
    before = server.service.graph.ticks
    row = {"page": "p", "cost": "1.5", "ts": "2199-01-01T00:00:00"}
    for asked in (
        sent("POST", "/api/statements", {"sql": "CREATE QUERY last AS SELECT page FROM click"}),
        sent("POST", "/api/statements", {"sql": "START QUERY last"}),
        sent("POST", "/api/streams/click/rows", [row], "wait=true"),
    ):
        await ask(server.app, asked.with_headers(known))
    if server.service.graph.ticks <= before:
        tally.wrong.append("no more ticks are made")
    for event in server.service.events.all():
        if event.kind == "fail" and event.query is None:
            tally.wrong.append(f"a tick failed: {event.text}")


def campaign(seed: int, many: int) -> Tally:
    """Ask so many requests, the same for the same seed."""
    tally = Tally()
    for number in range(0, many, BATCH):
        with TemporaryDirectory() as folder:
            secrets = Secrets(Path(folder)).make()
            asyncio.run(batch(seed + number, min(BATCH, many - number), secrets, tally))
    return tally
