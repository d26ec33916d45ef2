"""What goes wrong, as a client learns it."""

from __future__ import annotations

import re
from typing import Any

from tidemill.errors import PlanWarning, TidemillError, TimeLimitError, masked


class Refused(TidemillError):
    """A request that is not carried out, with the status that says why."""

    status = 400


class Unknown(Refused):
    """Who asks did not show a token."""

    status = 401


class Forbidden(Refused):
    """Not from there."""

    status = 403


class NotFound(Refused):
    """There is nothing of that name."""

    status = 404


class Conflict(Refused):
    """It does not go with what is there already."""

    status = 409


class TooLarge(Refused):
    """More than a limit allows."""

    status = 413


class TooMany(Refused):
    """There are as many already as a limit allows."""

    status = 429


class NotNow(Refused):
    """The server cannot do it at the moment."""

    status = 503


def problem(error: TidemillError | PlanWarning) -> dict[str, Any]:
    """An error as JSON, with its place in the text that the client sent.

    >>> problem(NotFound("there is no query `hot`"))["kind"]
    'not_found'
    """
    fields = ("line", "column", "length", "help")
    return {
        "message": masked(error.message),
        **{name: getattr(error, name) for name in fields},
        "kind": _kind(error),
    }


_KINDS = {"sql_syntax": "syntax", "tidemill": "error", "unknown": "unauthorized"}


def _kind(error: TidemillError | PlanWarning) -> str:
    words = re.findall("[A-Z][a-z]*", type(error).__name__)
    name = "_".join(word.lower() for word in words if word != "Error")
    return _KINDS.get(name, name)


def status_of(error: TidemillError) -> int:
    """The HTTP status of an error: the client's fault, unless it says otherwise."""
    if isinstance(error, TimeLimitError):
        return NotNow.status
    return error.status if isinstance(error, Refused) else 400
