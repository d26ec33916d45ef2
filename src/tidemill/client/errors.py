"""What a server answers when it refuses, as the errors that an engine would raise."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from tidemill.errors import (
    CatalogError,
    ExecutionError,
    PlanError,
    PlanWarning,
    ResourceError,
    SqlSyntaxError,
    TidemillError,
    UnsupportedError,
)
from tidemill.wire.base import Failure, Problem

_KINDS: dict[str, type[TidemillError]] = {
    "syntax": SqlSyntaxError,
    "plan": PlanError,
    "unsupported": UnsupportedError,
    "catalog": CatalogError,
    "execution": ExecutionError,
    "resource": ResourceError,
}
_PLACE = ("line", "column", "length", "help")


class RequestError(TidemillError):
    """A request that was not carried out; `status` is that of HTTP, and `kind` says why.

    >>> error = RequestError("there is no query `hot`")
    >>> error.status, error.kind = 404, "not_found"
    >>> print(error)
    error: there is no query `hot`
    """

    status: int = 0
    kind: str = "error"


def error_of(status: int, body: object, sql: str | None = None) -> TidemillError:
    """The error that an answer stands for; `sql` is the text that its place is in.

    >>> body = {"error": {"message": "unknown column `b`", "line": 1, "column": 8, "kind": "plan"}}
    >>> print(error_of(400, body, "SELECT b FROM s"))
    error: unknown column `b`
      line 1, column 8
        SELECT b FROM s
               ^
    """
    try:
        problem = Failure.model_validate(body).error
    except ValidationError:
        return _request_error(status, f"the server answered with status {status}", "http", {})
    place = _place(problem) | {"sql": sql}
    if problem.kind in _KINDS:
        return _KINDS[problem.kind](problem.message, **place)
    return _request_error(status, problem.message, problem.kind, place)


def _request_error(status: int, message: str, kind: str, place: dict[str, Any]) -> RequestError:
    if status == 401:
        place |= {"help": place.get("help") or "give the token that the server was started with"}
    error = RequestError(message, **place)
    error.status, error.kind = status, kind
    return error


def warning_of(problem: Problem, sql: str | None = None) -> PlanWarning:
    """A warning of the planner, with its place."""
    return PlanWarning(problem.message, **_place(problem), sql=sql)


def _place(problem: Problem) -> dict[str, Any]:
    return {name: getattr(problem, name) for name in _PLACE}
