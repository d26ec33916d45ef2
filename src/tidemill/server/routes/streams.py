"""Rows that are pushed into streams."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from starlette.concurrency import run_in_threadpool

from tidemill.server.incoming import ARROW
from tidemill.server.models.requests import Heartbeat, Rows
from tidemill.server.models.responses import Reached, Taken
from tidemill.server.pushing import Pushing
from tidemill.server.routes.bodies import Route
from tidemill.server.routes.common import Serving, failures, json, told
from tidemill.server.wire import dumps

router = APIRouter(tags=["streams"], route_class=Route)

_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "anyOf": [
                        {"type": "array", "items": {"type": "object"}},
                        Rows.model_json_schema(),
                    ]
                }
            },
            ARROW: {"schema": {"type": "string", "format": "binary"}},
        },
    }
}


@router.post(
    "/streams/{name}/rows",
    summary="Push rows into a stream",
    response_model=Taken,
    responses=failures(404, 409),
    openapi_extra=_BODY,
)
async def push(
    service: Serving,
    name: str,
    request: Request,
    wait: Annotated[bool, Query(description="Answer when a tick has taken the rows")] = False,
) -> Response:
    """Push rows: a list of objects, `{"rows": [...]}`, or a stream of Arrow."""
    body, kind = await request.body(), request.headers.get("content-type", "")
    pushed = await run_in_threadpool(lambda: Pushing(service).push(name, body, kind, wait))
    if wait:
        await request.app.state.live.taken(pushed)
    return json(dumps({"rows": pushed.rows}))


@router.post(
    "/streams/{name}/heartbeat",
    summary="Say how far a stream has come",
    response_model=Reached,
    responses=failures(404, 409),
)
async def heartbeat(service: Serving, name: str, beat: Heartbeat) -> Response:
    """No more rows of before that instant will come."""

    def work() -> dict[str, int]:
        Pushing(service).heartbeat(name, beat.at)
        return {"at": beat.at}

    return await told(work)
