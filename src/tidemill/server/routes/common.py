"""What all routes have in common: the service behind them, and the errors they may answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import Depends, Query, Request, Response
from starlette.concurrency import run_in_threadpool

from tidemill.server.answers import Answers
from tidemill.server.incoming import ARROW
from tidemill.server.models.responses import Failure
from tidemill.server.problems import Refused
from tidemill.server.service import Service
from tidemill.server.show.tables import Answer
from tidemill.server.wire import dumps

CSV = "text/csv"

_FAILURE = {"$ref": "#/components/schemas/Failure"}
_REASONS = {
    400: "The SQL or an argument is wrong",
    401: "A token is needed",
    403: "Not allowed from here",
    404: "There is nothing of that name",
    409: "It does not go with what is there",
    413: "Larger than the limit",
    422: "The request is not of this form",
    429: "As many as the limit allows",
    503: "Not at the moment",
}


def failures(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The errors that a route may answer, for OpenAPI."""
    wanted = sorted({400, 401, 403, 413, 422, 429, 503, *statuses})
    return {status: {"description": _REASONS[status], **_failure(status)} for status in wanted}


def _failure(status: int) -> dict[str, Any]:
    """What an error looks like; it is described once, since that takes its time."""
    if status == 422:
        return {"model": Failure}
    return {"content": {"application/json": {"schema": _FAILURE}}}


def service_of(request: Request) -> Service:
    """The service behind the app."""
    found: Service = request.app.state.service
    return found


def answers_of(request: Request) -> Answers:
    """The answers that were made already."""
    found: Answers = request.app.state.answers
    return found


Serving = Annotated[Service, Depends(service_of)]
Made = Annotated[Answers, Depends(answers_of)]
Limit = Annotated[int, Query(ge=0, le=1_000_000, description="The most rows to answer")]
Format = Annotated[
    str | None, Query(pattern="^(json|arrow|csv)$", description="json, arrow or csv")
]


def json(body: bytes) -> Response:
    """A body that is JSON already."""
    return Response(body, media_type="application/json")


async def told(work: Callable[[], Any]) -> Response:
    """What a function says, which is run by a thread, as JSON."""
    return json(await run_in_threadpool(lambda: dumps(work())))


def shape_of(request: Request, format: str | None) -> str:
    """In which form rows are wanted: as the URL says, or as the client accepts."""
    if format is not None:
        return format
    accepted = request.headers.get("accept", "")
    if ARROW in accepted:
        return "arrow"
    return "csv" if accepted.startswith(CSV) else "json"


_MEDIA = {"json": "application/json", "arrow": ARROW, "csv": f"{CSV}; charset=utf-8"}


def shaped(answer: Answer, shape: str) -> bytes:
    """Rows in the form that is wanted."""
    shapes: dict[str, Callable[[], bytes]] = {
        "json": answer.json,
        "arrow": answer.arrow,
        "csv": answer.csv,
    }
    if shape not in shapes:
        raise Refused(f"no form `{shape}`", help=f"forms: {', '.join(shapes)}")
    return shapes[shape]()


def rows_response(body: bytes, shape: str) -> Response:
    """A body of rows."""
    return Response(body, headers={"content-type": _MEDIA[shape], "vary": "accept"})


TABLES: dict[str, Any] = {
    "content": {
        ARROW: {"schema": {"type": "string", "format": "binary"}},
        CSV: {"schema": {"type": "string"}},
    }
}
"""For OpenAPI: rows come in other forms, too."""
