"""What all routes have in common: the service behind them, and how they are described."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any, TypeVar, get_type_hints

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from tidemill.server.answers import Answers
from tidemill.server.incoming import ARROW
from tidemill.server.problems import Refused
from tidemill.server.routes.bodies import Route
from tidemill.server.service import Service
from tidemill.show.tables import Answer
from tidemill.wire.base import Failure
from tidemill.wire.values import dumps

F = TypeVar("F", bound=Callable[..., Any])
CSV = "text/csv"
_TABLES = {
    ARROW: {"schema": {"type": "string", "format": "binary"}},
    CSV: {"schema": {"type": "string"}},
}
"""Rows come in other forms than JSON, too."""

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
_ANYWHERE = (400, 401, 403, 413, 422, 429, 503)


class Routes(APIRouter):
    """Routes about a subject, each a function with a docstring; besides what every route may
    answer, it names the `statuses` of its own errors."""

    def __init__(self, subject: str) -> None:
        super().__init__(tags=[subject], route_class=Route)

    def answer(
        self, method: str, path: str, summary: str, *statuses: int, status: int = 200
    ) -> Callable[[F], F]:
        """A function that a thread runs; what it returns is the answer."""

        def add(function: F) -> F:
            @wraps(function)
            def respond(*args: Any, **given: Any) -> Response:
                return json(dumps(function(*args, **given)), status)

            shape = get_type_hints(function)["return"]
            self.described(method, path, summary, *statuses, shape=shape, status=status)(respond)
            return function

        return add

    def shared(self, path: str, summary: str) -> Callable[[F], F]:
        """A function of the service; its answer is made once for all clients."""

        def add(function: F) -> F:
            async def respond(service: Serving, made: Made) -> Response:
                return json(await made.get(function.__name__, lambda: dumps(function(service))))

            respond.__name__, respond.__doc__ = function.__name__, function.__doc__
            shape = get_type_hints(function)["return"]
            self.described("GET", path, summary, shape=shape)(respond)
            return function

        return add

    def described(
        self,
        method: str,
        path: str,
        summary: str,
        *statuses: int,
        shape: Any,
        status: int = 200,
        rows: bool = False,
        extra: dict[str, Any] | None = None,
    ) -> Callable[[F], F]:
        """A function that makes its response itself; one of `rows` may have several forms."""
        others: dict[int | str, dict[str, Any]] = {200: {"content": _TABLES}} if rows else {}
        return self.api_route(
            path,
            methods=[method],
            summary=summary,
            response_model=shape,
            responses=others | failures(*statuses),
            status_code=status,
            openapi_extra=extra,
        )


def failures(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The errors that a route may answer, for OpenAPI."""
    wanted = sorted({*_ANYWHERE, *statuses})
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
QueryName = Annotated[str, Path(description="The name of a query", max_length=200)]
Start = Annotated[int, Query(alias="from", ge=0, le=2**63 - 1)]
End = Annotated[int, Query(ge=0, le=2**63 - 1)]
Limit = Annotated[int, Query(ge=0, le=1_000_000, description="The most rows to answer")]
Format = Annotated[
    str | None, Query(pattern="^(json|arrow|csv)$", description="json, arrow or csv")
]
FOREVER = 2**63 - 1


def json(body: bytes, status: int = 200) -> Response:
    """A body that is JSON already."""
    return Response(body, status, media_type="application/json")


def form_of(request: Request, format: Format = None) -> str:
    """In which form rows are wanted: as the URL says, or as the client accepts."""
    if format is not None:
        return format
    accepted = request.headers.get("accept", "")
    if ARROW in accepted:
        return "arrow"
    return "csv" if accepted.startswith(CSV) else "json"


Form = Annotated[str, Depends(form_of)]
_MEDIA = {"json": "application/json", "arrow": ARROW, "csv": f"{CSV}; charset=utf-8"}


def formed(answer: Answer, form: str) -> bytes:
    """Rows in the form that is wanted."""
    forms: dict[str, Callable[[], bytes]] = {
        "json": answer.json,
        "arrow": answer.arrow,
        "csv": answer.csv,
    }
    if form not in forms:
        raise Refused(f"no form `{form}`", help=f"forms: {', '.join(forms)}")
    return forms[form]()


def rows_response(body: bytes, form: str) -> Response:
    """A body of rows."""
    return Response(body, headers={"content-type": _MEDIA[form], "vary": "accept"})
