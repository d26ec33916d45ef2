"""Answers that many clients ask for are made once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from starlette.concurrency import run_in_threadpool

from tidemill.server.service import Service, Version

T = TypeVar("T")


class Answers:
    """Work on the engine is done by threads; whoever asks the same meanwhile gets the same."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._version: Version | None = None
        self._made: dict[Hashable, asyncio.Future[Any]] = {}

    async def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """An answer that is as new as the last tick."""
        if self._version != self._service.version:
            self._version = self._service.version
            self._made.clear()
        known = self._made.get(key)
        if known is None:
            known = self._made[key] = asyncio.ensure_future(run_in_threadpool(make))
        # Whoever goes away meanwhile takes it from nobody else.
        found: T = await asyncio.shield(known)
        return found
