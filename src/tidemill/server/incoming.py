"""Rows that clients send, as JSON or Arrow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
import pyarrow as pa

from tidemill.algebra.fitting import Misfit, fitted
from tidemill.algebra.types import name_of
from tidemill.catalog import SourceInfo
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
        raise Refused(f"the body is not an Arrow stream: {error}", help=help) from None


def _objects(body: bytes) -> list[Mapping[str, Any]]:
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise Refused(f"the body is not JSON: {error}", help='send [{"column": value}]') from None
    rows = found.get("rows") if isinstance(found, dict) else found
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise Refused("the body has no rows", help='send [{"column": value}, ...]')
    return rows


def from_json(rows: Sequence[Mapping[str, Any]], info: SourceInfo) -> pa.Table:
    """Rows of JSON with the columns and types of a source; what is missing is NULL."""
    types = {field.name: field.type for field in info.brought}
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
    try:
        return fitted([row.get(name) for row in rows], kind, texts=True)
    except Misfit as error:
        help = f"its type is {name_of(kind)}; integers beyond 2^53, decimals and times may be texts"
        raise Refused(f"column `{name}`, {error}", help=help) from None
