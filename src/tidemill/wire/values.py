"""Values as they go over the wire: what JSON can say, and no number that it would round."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from datetime import date, datetime
from math import isfinite
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import BaseModel

SAFE = 2**53
"""Integers beyond this are texts: JavaScript would round them."""


def dumps(value: Any) -> bytes:
    """JSON; what is not of JSON was made plain before."""
    return orjson.dumps(value, _plain_object, orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS)


def _plain_object(value: Any) -> Any:
    """Shapes, and tuples with names, are not known to orjson."""
    if isinstance(value, BaseModel):
        return value.model_dump()
    if isinstance(value, tuple):
        return list(value)
    raise TypeError(f"{type(value).__name__} is not for JSON")


def plain(value: Any) -> Any:
    """A value as JSON has it.

    >>> [plain(each) for each in (2**60, float("nan"), b"ab", datetime(2024, 3, 1))]
    ['1152921504606846976', 'NaN', 'YWI=', '2024-03-01T00:00:00']
    """
    match value:
        case None | bool() | str():
            return value
        case int():
            return value if -SAFE <= value <= SAFE else str(value)
        case float():
            return value if isfinite(value) else _word(value)
        case datetime() | date():
            return value.isoformat()
        case bytes():
            return b64encode(value).decode()
        case Mapping():
            return {str(name): plain(each) for name, each in value.items()}
        case list() | tuple():
            return [plain(each) for each in value]
    return str(value)


def _word(value: float) -> str:
    return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"


def values(column: pa.ChunkedArray) -> list[Any]:
    """The values of a column, as JSON has them.

    >>> values(pa.chunked_array([pa.array([1, None, 2**60])]))
    [1, None, '1152921504606846976']
    """
    kind = column.type
    if pa.types.is_timestamp(kind):
        texts = pc.replace_substring(
            column.cast(pa.timestamp("us")).cast(pa.string()), " ", "T", max_replacements=1
        )
        return [None if text is None else _shortened(text) for text in texts.to_pylist()]
    found: list[Any] = column.to_pylist()
    if pa.types.is_string(kind) or pa.types.is_boolean(kind) or _is_small(kind):
        return found
    return [plain(value) for value in found]


def _is_small(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) and kind.bit_width < 64)


def _shortened(text: str) -> str:
    """An instant without a fraction that is zero."""
    return text.removesuffix(".000000")


def instants(column: pa.ChunkedArray) -> list[int | None]:
    """Times as integers: ticks, or microseconds since 1970."""
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.int64())
    found: list[int | None] = column.to_pylist()
    return found
