"""The operators that a page offers."""

from __future__ import annotations

from typing import Any

from tidemill.compose import logical, physical
from tidemill.compose.model import LEVELS, Level
from tidemill.compose.operators import Card
from tidemill.errors import TidemillError

_OPERATORS: dict[Level, tuple[Card, ...]] = {
    "logical": logical.OPERATORS,
    "physical": physical.OPERATORS,
}


def operators(level: Level = "logical") -> list[dict[str, Any]]:
    """The operators of a level, in the order in which a page shows them.

    >>> [each["kind"] for each in operators("logical") if each["group"] == "windows"][:2]
    ['time_window', 'now_window']
    """
    return [operator.to_json() for operator in operators_by_kind(level).values()]


def operators_by_kind(level: Level) -> dict[str, Card]:
    """The operators of a level, by their kind."""
    if level not in _OPERATORS:
        raise TidemillError(f"there are no `{level}` operators", help=f"levels: {LEVELS}")
    return {operator.kind: operator for operator in _OPERATORS[level]}
