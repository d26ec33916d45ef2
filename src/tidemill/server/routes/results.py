"""The results of queries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from tidemill.engine.kept import KeptResults
from tidemill.server import results as read
from tidemill.server.models.responses import Changes, Snapshot, Table
from tidemill.server.routes.bodies import Route
from tidemill.server.routes.common import (
    TABLES,
    Format,
    Limit,
    Made,
    Serving,
    failures,
    rows_response,
    shape_of,
    shaped,
)
from tidemill.server.show.tables import Answer

router = APIRouter(tags=["results"], route_class=Route)

Name = Annotated[str, Path(description="The name of a query", max_length=200)]
At = Annotated[int | None, Query(ge=0, le=2**63 - 2, description="An instant")]


class _Reading:
    """One way to read the results of a query, made once for all who ask the same."""

    def __init__(self, request: Request, service: Serving, made: Made, format: Format = None):
        self._service, self._made = service, made
        self._shape = shape_of(request, format)

    async def __call__(
        self, key: tuple[object, ...], name: str, look: Callable[[KeptResults, int], Answer]
    ) -> Response:
        most = self._service.settings.limits.result_rows

        def make() -> bytes:
            with self._service.lock:
                answer = look(self._service.kept(name), most)
            return shaped(answer, self._shape)

        body = await self._made.get((*key, name, self._shape), make)
        return rows_response(body, self._shape)


@router.get(
    "/queries/{name}/snapshot",
    summary="What holds at an instant",
    response_model=Snapshot,
    responses={200: TABLES, **failures(404, 409)},
)
async def snapshot(
    request: Request,
    service: Serving,
    made: Made,
    name: Name,
    at: At = None,
    limit: Limit = 1000,
    format: Format = None,
) -> Response:
    """The rows that hold at an instant; without one, at the newest that is complete."""
    reading = _Reading(request, service, made, format)
    return await reading(
        ("snapshot", at, limit), name, lambda kept, most: read.snapshot(kept, at, min(limit, most))
    )


@router.get(
    "/queries/{name}/results",
    summary="What holds in a range of time",
    response_model=Table,
    responses={200: TABLES, **failures(404, 409)},
)
async def results(
    request: Request,
    service: Serving,
    made: Made,
    name: Name,
    start: Annotated[int, Query(alias="from", ge=0, le=2**63 - 1)] = 0,
    to: Annotated[int, Query(ge=0, le=2**63 - 1)] = 2**63 - 1,
    limit: Limit = 1000,
    format: Format = None,
) -> Response:
    """The rows that hold at some time in [from, to), with their intervals."""
    reading = _Reading(request, service, made, format)
    return await reading(
        ("results", start, to, limit),
        name,
        lambda kept, most: read.results(kept, start, to, min(limit, most)),
    )


@router.get(
    "/queries/{name}/changes",
    summary="What has changed",
    response_model=Changes,
    responses={200: TABLES, **failures(404, 409)},
)
async def changes(
    request: Request,
    service: Serving,
    made: Made,
    name: Name,
    since: Annotated[int, Query(ge=0, le=2**63 - 1, description="The last cursor")] = 0,
    limit: Limit = 1000,
    format: Format = None,
) -> Response:
    """Rows that came (+) and went (-); `cursor` is where to go on reading."""
    reading = _Reading(request, service, made, format)
    return await reading(
        ("changes", since, limit),
        name,
        lambda kept, most: read.changes(kept, since, min(limit, most)),
    )
