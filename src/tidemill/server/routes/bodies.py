"""Bodies of requests: JSON as its standard has it, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import orjson
from fastapi import Request, Response
from fastapi.routing import APIRoute


class _StrictRequest(Request):
    """Python would also read halves of characters and NaN, which could not be sent back."""

    async def json(self) -> Any:
        return orjson.loads(await self.body())


class Route(APIRoute):
    """A route that takes no other JSON than it could answer."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_strictly(request: Request) -> Response:
            return await handle(_StrictRequest(request.scope, request.receive))

        return handle_strictly
