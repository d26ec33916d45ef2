"""Errors and warnings, as clients learn them."""

from __future__ import annotations

import re

from tidemill.errors import PlanWarning, TidemillError, masked
from tidemill.wire.base import Problem

_KINDS = {"sql_syntax": "syntax", "tidemill": "error", "unknown": "unauthorized"}


def problem(error: TidemillError | PlanWarning) -> Problem:
    """An error with its place in the text that the client sent.

    >>> from tidemill.errors import CatalogError
    >>> problem(CatalogError("there is no stream `bid`")).kind
    'catalog'
    """
    return Problem(
        message=masked(error.message),
        line=error.line,
        column=error.column,
        length=error.length,
        help=error.help,
        kind=_kind(error),
    )


def _kind(error: TidemillError | PlanWarning) -> str:
    words = re.findall("[A-Z][a-z]*", type(error).__name__)
    name = "_".join(word.lower() for word in words if word != "Error")
    return _KINDS.get(name, name)
