"""Answers that many clients ask for are made once."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import TypeVar

from starlette.concurrency import run_in_threadpool

from tidemill.server.service import Service, Version

T = TypeVar("T")

MOST = 512
"""So many answers are kept."""


class Answers:
    """Work on the engine is done by threads; whoever asks the same meanwhile gets the same."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._made: OrderedDict[Hashable, tuple[Version, asyncio.Future[bytes]]] = OrderedDict()

    async def get(self, key: Hashable, make: Callable[[], bytes]) -> bytes:
        """An answer that is as new as the last tick."""
        version = self._service.version
        known = self._made.get(key)
        if known is not None and known[0] == version and not known[1].cancelled():
            return await asyncio.shield(known[1])
        made = asyncio.ensure_future(_run(run_in_threadpool(make)))
        self._made[key] = (version, made)
        self._made.move_to_end(key)
        while len(self._made) > MOST:
            self._made.popitem(last=False)
        return await asyncio.shield(made)


async def _run(work: Awaitable[T]) -> T:
    return await work
