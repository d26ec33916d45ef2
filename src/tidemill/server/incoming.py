"""Rows that clients send, as JSON or Arrow."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import orjson
import pyarrow as pa

from tidemill.analyze import SourceInfo
from tidemill.errors import nearest
from tidemill.server.problems import Refused

ARROW = "application/vnd.apache.arrow.stream"


def rows_of(body: bytes, media: str, info: SourceInfo) -> pa.Table:
    """The rows in the body of a request, with the columns of a source."""
    if media.partition(";")[0].strip().lower() == ARROW:
        return _from_arrow(body)
    return from_json(_objects(body), info)


def _from_arrow(body: bytes) -> pa.Table:
    try:
        with pa.ipc.open_stream(body) as reader:
            table = reader.read_all()
            table.validate(full=True)
            return table
    except (pa.ArrowException, OSError, ValueError) as error:
        help = "send a stream of Arrow, or JSON with the content type application/json"
        raise Refused(f"the body is no stream of Arrow: {error}", help=help) from None


def _objects(body: bytes) -> list[Mapping[str, Any]]:
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise Refused(f"the body is no JSON: {error}", help='send [{"column": value}]') from None
    rows = found.get("rows") if isinstance(found, dict) else found
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise Refused("the body has no rows", help='send [{"column": value}, ...]')
    return rows


def from_json(rows: Sequence[Mapping[str, Any]], info: SourceInfo) -> pa.Table:
    """Rows of JSON with the columns and types of a source; what is missing is NULL."""
    types = {field.name: field.type for field in info.schema}
    if info.time_column is not None and info.time_type is not None:
        types[info.time_column] = info.time_type
    _refuse_others(rows, types, info.name)
    columns = {name: _column(rows, name, kind) for name, kind in types.items()}
    return pa.table(columns)


def _refuse_others(
    rows: Sequence[Mapping[str, Any]], types: Mapping[str, pa.DataType], source: str
) -> None:
    others = {name for row in rows for name in row if name not in types}
    if others:
        name = min(others)
        near = nearest(name, types)
        guess = f"did you mean `{near}`? " if near else ""
        help = f"{guess}columns: {', '.join(types)}"
        raise Refused(f"`{source}` has no column `{name}`", help=help)


def _column(rows: Sequence[Mapping[str, Any]], name: str, kind: pa.DataType) -> pa.Array:
    read = _reader(kind)
    try:
        found = (row.get(name) for row in rows)
        return pa.array([None if value is None else read(value) for value in found], kind)
    except (pa.ArrowException, ValueError, TypeError, ArithmeticError) as error:
        text = str(error) or type(error).__name__
        help = f"its type is {kind}; integers beyond 2^53, decimals and times may be texts"
        raise Refused(f"values of `{name}` cannot be read: {text}", help=help) from None


def _reader(kind: pa.DataType) -> Callable[[Any], Any]:
    """How values of JSON become values of a type."""
    if pa.types.is_timestamp(kind):
        return _instant
    if pa.types.is_date(kind):
        return lambda value: date.fromisoformat(value) if isinstance(value, str) else value
    if pa.types.is_integer(kind):
        return lambda value: int(value) if isinstance(value, str) else _no_truth(value)
    if pa.types.is_floating(kind):
        return lambda value: float(_no_truth(value))
    if pa.types.is_decimal(kind):
        return lambda value: Decimal(str(_no_truth(value)))
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return lambda value: b64decode(value, validate=True)
    return lambda value: value


def _instant(value: Any) -> datetime | int:
    """A time as text (UTC, unless it says otherwise) or as microseconds since 1970."""
    if not isinstance(value, str):
        whole: int = _no_truth(value)
        return whole
    found = datetime.fromisoformat(value)
    return found.astimezone(UTC).replace(tzinfo=None) if found.tzinfo else found


def _no_truth(value: Any) -> Any:
    if isinstance(value, bool):
        raise TypeError("true and false are no numbers")
    return value
