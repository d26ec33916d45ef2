"""Answers to expressions, in a form that can be written down and compared."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from tidemill.algebra.types import UnknownType, name_of, normalize

_RAW = {pa.date32(): pa.int32(), pa.string(): pa.binary()}
FILE = Path(__file__).parent / "answers.jsonl"


@dataclass(frozen=True)
class Answer:
    """The type and the values of an expression, or that there are none."""

    type: str = ""
    values: tuple[Any, ...] = ()
    error: str = ""

    def fields(self) -> dict[str, Any]:
        return {"error": self.error} if self.error else {"type": self.type, "values": self.values}


@cache
def answers() -> dict[str, Answer]:
    """What Spark said, as it was written down."""
    lines = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]
    return {
        line.pop("sql"): Answer(**line | {"values": _frozen(line.get("values", []))})
        for line in lines
    }


def failed(reason: str) -> Answer:
    return Answer(error=reason)


def shown(column: pa.ChunkedArray) -> Answer:
    """The answer that a column of Arrow is."""
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us"))
    try:
        kind = name_of(normalize(column.type))
    except UnknownType:
        kind = str(column.type)
    return Answer(kind, tuple(_plain(value) for value in _values(column)))


def _values(column: pa.ChunkedArray) -> list[Any]:
    try:
        values: list[Any] = column.to_pylist()
    except (OverflowError, ValueError):  # no date of Python, or no text in UTF-8
        values = column.cast(_RAW.get(column.type, pa.int64())).to_pylist()
    return values


def _plain(value: Any) -> Any:
    """The value as JSON has it: texts for what JSON does not know."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return repr(value)
        case bytes():
            return value.hex()
        case list() | tuple():
            return tuple(_plain(each) for each in value)
        case dict():
            return tuple((key, _plain(each)) for key, each in value.items())
    return str(value)


def _frozen(value: Any) -> Any:
    return tuple(_frozen(each) for each in value) if isinstance(value, list) else value


def same(one: Answer, other: Answer, *, about: bool = False) -> bool:
    """Whether two answers are the same; if `about`, but for the last digits of numbers."""
    if one.error or other.error:
        return bool(one.error and other.error)
    if not about or one.type != other.type:
        return one == other
    return all(map(_near, one.values, other.values))


def _near(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return one is other
    one, other = float(one), float(other)
    return math.isclose(one, other, rel_tol=1e-14) or (math.isnan(one) and math.isnan(other))
