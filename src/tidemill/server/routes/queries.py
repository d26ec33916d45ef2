"""Queries: made, changed, started, stopped and dropped."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from tidemill.server.control import Control
from tidemill.server.models.graph import PlanReport
from tidemill.server.models.requests import ChangedQuery, NewQuery, StartRequest
from tidemill.server.models.responses import (
    Dropped,
    QueryEntry,
    QueryProgress,
    SettingsInForce,
)
from tidemill.server.planning import plan_of_query
from tidemill.server.routes.bodies import Route
from tidemill.server.routes.common import Made, Serving, failures, json, told
from tidemill.server.show.queries import progress_of
from tidemill.server.wire import dumps

router = APIRouter(tags=["queries"], route_class=Route)

Name = Annotated[str, Path(description="The name of a query", max_length=200)]


@router.get(
    "/queries", summary="All queries", response_model=list[QueryEntry], responses=failures()
)
async def queries(service: Serving, made: Made) -> Response:
    """What queries there are, and what they are doing."""
    return json(await made.get("queries", lambda: dumps(service.queries())))


@router.post(
    "/queries",
    summary="Make a query, and start it",
    status_code=201,
    response_model=QueryEntry,
    responses=failures(404, 409),
)
async def create(service: Serving, query: NewQuery) -> Response:
    """Give a query a name; its results are kept, unless it says INSERT INTO."""
    made = await told(
        lambda: Control(service).create(query.name, query.sql, query.start, query.partial)
    )
    made.status_code = 201
    return made


@router.get(
    "/queries/{name}",
    summary="One query",
    response_model=QueryEntry,
    responses=failures(404),
)
async def query(service: Serving, name: Name) -> Response:
    """What a query asks for, and what it is doing."""
    return await told(lambda: service.query(name))


@router.patch(
    "/queries/{name}",
    summary="Change a query while it runs",
    response_model=QueryEntry,
    responses=failures(404, 409),
)
async def change(service: Serving, name: Name, wanted: ChangedQuery) -> Response:
    """Give a query another definition, or a better plan, without a gap in its answers."""
    return await told(lambda: Control(service).change(name, wanted.sql, wanted.optimize))


@router.delete(
    "/queries/{name}",
    summary="Drop a query",
    response_model=Dropped,
    responses=failures(404, 409),
)
async def drop(service: Serving, name: Name) -> Response:
    """Stop a query and forget it."""
    return await told(lambda: Control(service).drop(name))


@router.post(
    "/queries/{name}/start",
    summary="Start a query",
    response_model=QueryEntry,
    responses=failures(404, 409),
)
async def start(service: Serving, name: Name, wanted: StartRequest | None = None) -> Response:
    """Let a query run from the next tick on."""
    partial = wanted is not None and wanted.partial
    return await told(lambda: Control(service).start(name, partial))


@router.post(
    "/queries/{name}/stop",
    summary="Stop a query",
    response_model=QueryEntry,
    responses=failures(404, 409),
)
async def stop(service: Serving, name: Name) -> Response:
    """Let a query rest; others go on."""
    return await told(lambda: Control(service).stop(name))


@router.get(
    "/queries/{name}/plan",
    summary="The plan of a query",
    response_model=PlanReport,
    responses=failures(404),
)
async def plan(service: Serving, name: Name) -> Response:
    """The plan at every level, with costs and the rules that fired."""
    return await told(lambda: plan_of_query(service, name))


@router.get(
    "/queries/{name}/progress",
    summary="How far a query has come",
    response_model=QueryProgress,
    responses=failures(404, 409),
)
async def progress(service: Serving, name: Name) -> Response:
    """What it read, what it gave, and what its operators do."""

    def work() -> object:
        with service.lock:
            return progress_of(service.started(name).progress)

    return await told(work)


Instant = Annotated[int, Query(ge=0, le=2**63 - 1)]


@router.get(
    "/queries/{name}/settings",
    summary="The sizes that results were computed with",
    response_model=SettingsInForce,
    responses=failures(404, 409),
)
async def settings(
    service: Serving,
    name: Name,
    start: Annotated[int, Query(alias="from", ge=0, le=2**63 - 1)] = 0,
    to: Instant = 2**63 - 1,
) -> Response:
    """Of windows and granules that may vary, for results in a range of time."""

    def work() -> object:
        with service.lock:
            return {"settings": service.started(name).settings(start, to)}

    return await told(work)
