"""What goes wrong, as a client learns it."""

from __future__ import annotations

from typing import Any

from tidemill.errors import TidemillError, TimeLimitError
from tidemill.show.problems import problem
from tidemill.wire.base import Failure
from tidemill.wire.values import dumps


class Refused(TidemillError):
    """A request that is not carried out, with the status that says why."""

    status = 400


class Unknown(Refused):
    """The request has no token."""

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


def status_of(error: TidemillError) -> int:
    """The HTTP status of an error: the client's fault, unless it says otherwise."""
    if isinstance(error, TimeLimitError):
        return NotNow.status
    return error.status if isinstance(error, Refused) else 400


def failure(error: TidemillError, **more: Any) -> bytes:
    """The body of an answer to a request that was not carried out.

    >>> failure(NotFound("there is no query `hot`"), done=1)[-40:]
    b'help":null,"kind":"not_found"},"done":1}'
    """
    return dumps(Failure(error=problem(error), **more).model_dump(exclude_unset=True))
