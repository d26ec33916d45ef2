"""Rows that are pushed into streams."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request, Response
from starlette.concurrency import run_in_threadpool

from tidemill.server.incoming import ARROW
from tidemill.server.pushing import Pushing
from tidemill.server.routes.common import Routes, Serving, json
from tidemill.wire.catalog import Heartbeat, PushedRows, Reached, TakenRows
from tidemill.wire.values import dumps

routes = Routes("streams")

Wait = Annotated[bool, Query(description="Answer when a tick has taken the rows")]
_LIST = {"type": "array", "items": {"type": "object"}}
_BODY = {
    "application/json": {"schema": {"anyOf": [_LIST, PushedRows.model_json_schema()]}},
    ARROW: {"schema": {"type": "string", "format": "binary"}},
}


@routes.described(
    "POST",
    "/streams/{name}/rows",
    "Push rows into a stream",
    404,
    409,
    shape=TakenRows,
    extra={"requestBody": {"required": True, "content": _BODY}},
)
async def push(service: Serving, name: str, request: Request, wait: Wait = False) -> Response:
    """Push rows: a list of objects, `{"rows": [...]}`, or a stream of Arrow."""
    body, kind = await request.body(), request.headers.get("content-type", "")
    pushed = await run_in_threadpool(lambda: Pushing(service).push(name, body, kind, wait))
    if wait:
        await request.app.state.live.taken(pushed)
    return json(dumps(TakenRows(rows=pushed.rows)))


@routes.answer("POST", "/streams/{name}/heartbeat", "Say how far a stream has come", 404, 409)
def heartbeat(service: Serving, name: str, beat: Heartbeat) -> Reached:
    """No more rows of before that instant will come."""
    Pushing(service).heartbeat(name, beat.at)
    return Reached(at=beat.at)
