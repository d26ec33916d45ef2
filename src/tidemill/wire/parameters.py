"""Values for the parameters of statements, as JSON has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

Given = dict[str, Any] | list[Any]
"""By name (`:name`), or by place (`?`). What JSON has no type for has a `type` and a `value`."""

_READ: dict[str, Callable[[str], Any]] = {
    "DATE": date.fromisoformat,
    "TIMESTAMP": datetime.fromisoformat,
    "DECIMAL": Decimal,
}


def to_json(given: Mapping[str, Any] | Sequence[Any] | None) -> Given:
    """Values as they are sent.

    >>> to_json({"day": date(2024, 3, 1), "n": 3})
    {'day': {'type': 'DATE', 'value': '2024-03-01'}, 'n': 3}
    """
    if isinstance(given, Mapping):
        return {name: _sent(value) for name, value in given.items()}
    return [_sent(value) for value in given or ()]


def from_json(given: Given) -> tuple[dict[str, Any], list[Any]]:
    """Values by name and by place; a ValueError says what cannot be read.

    >>> from_json([{"type": "DATE", "value": "2024-03-01"}, 3])
    ({}, [datetime.date(2024, 3, 1), 3])
    """
    if isinstance(given, list):
        return {}, [_received(value) for value in given]
    return {name: _received(value) for name, value in given.items()}, []


def _sent(value: Any) -> Any:
    match value:
        case datetime():
            return {"type": "TIMESTAMP", "value": value.isoformat()}
        case date():
            return {"type": "DATE", "value": value.isoformat()}
        case Decimal():
            return {"type": "DECIMAL", "value": str(value)}
        case list() | tuple():
            return [_sent(each) for each in value]
    return value


def _received(value: Any) -> Any:
    if isinstance(value, list):
        return [_received(each) for each in value]
    if not isinstance(value, dict):
        return value
    try:
        return _READ[value["type"]](value["value"])
    except (KeyError, TypeError, ValueError, ArithmeticError):
        types = ", ".join(_READ)
        message = f"{value!r} is no value: it has a `type` ({types}) and a `value`"
        raise ValueError(message) from None
