"""Files with a JSON object in each line, read as Spark reads them in its mode FAILFAST."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

import pyarrow as pa
from pyarrow import json as arrow_json

from tidemill.algebra.schema import Schema
from tidemill.algebra.types import name_of
from tidemill.connectors.feeds.columns import Unreadable
from tidemill.connectors.feeds.slices import FileSlice
from tidemill.connectors.feeds.texts import text_of
from tidemill.connectors.feeds.values import date_of, decimal_of, no_value, time_of, values_of

_BLOCK = 64 << 20  # bytes: no line can be longer
_OBJECTS = re.compile(rb"(?:[ \t]*+(?:\{[^\n]*\}[ \t]*)?+(?:\n|\Z))*+")
_BEGIN = re.compile(rb"(?m)^[ \t]*+\{")
_UNREAL = {"NaN", "Infinity", "-Infinity"}


def read_json(slice: FileSlice, declared: Schema, columns: Sequence[str]) -> pa.Table:
    """The wanted columns; what an object does not have is NULL."""
    text = text_of(slice.path)
    wanted = declared.select(columns)
    try:
        found = _at_once(text, wanted)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, Unreadable):
        found = None  # line by line, more can be read, and errors can name the line
    return _line_by_line(text, wanted) if found is None else found


def _at_once(text: bytes, wanted: Schema) -> pa.Table | None:
    """All lines, read by Arrow, if it reads them as Spark does."""
    if not wanted.names or any(pa.types.is_nested(kind) for kind in wanted.types):
        return None
    # Arrow takes no offence at two objects in a line, and others than objects crash it.
    if b"\0" in text or not _OBJECTS.fullmatch(text):
        return None
    if not (count := len(_BEGIN.findall(text))):
        return wanted.to_arrow().empty_table()
    read = pa.schema([(field.name, _as_read(field.type)) for field in wanted])
    table = arrow_json.read_json(
        pa.BufferReader(text),
        arrow_json.ReadOptions(use_threads=False, block_size=_BLOCK),
        arrow_json.ParseOptions(explicit_schema=read, unexpected_field_behavior="ignore"),
    )
    if table.num_rows != count:
        return None
    parts = [_part(table.column(field.name), field.name, field.type) for field in wanted]
    return pa.table(parts, schema=wanted.to_arrow())


def _as_read(kind: pa.DataType) -> pa.DataType:
    is_text = pa.types.is_date(kind) or pa.types.is_timestamp(kind) or pa.types.is_binary(kind)
    return pa.string() if is_text else kind


def _part(values: pa.ChunkedArray, name: str, kind: pa.DataType) -> pa.ChunkedArray:
    if pa.types.is_binary(kind):
        bytes_of = [_converted(text, name, kind) for text in values.to_pylist()]
        return pa.chunked_array([pa.array(bytes_of, kind)])
    return values if values.type == kind else values_of(values, name, kind)


class _Number(str):
    """A number as it is written."""


def _line_by_line(text: bytes, wanted: Schema) -> pa.Table:
    columns: list[list[Any]] = [[] for _ in wanted]
    count = 0
    for number, fields in _objects(text.decode()):
        count += 1
        for column, field in zip(columns, wanted, strict=True):
            try:
                column.append(_converted(fields.get(field.name), field.name, field.type))
            except Unreadable as error:
                raise Unreadable(f"line {number}: {error}") from None
    if not columns:  # the rows count all the same
        return pa.table({"": pa.nulls(count)}).select([])
    parts = zip(columns, wanted, strict=True)
    return pa.table(
        [pa.array(column, field.type) for column, field in parts], schema=wanted.to_arrow()
    )


def _objects(text: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The objects of all lines with their numbers; a line may be a list of objects."""
    decoder = json.JSONDecoder(parse_int=_Number, parse_float=_Number, parse_constant=_Number)
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip(" \t"):
            continue
        try:
            value = decoder.decode(line)
        except (ValueError, RecursionError) as error:
            raise Unreadable(f"line {number}: {error}") from None
        for each in value if isinstance(value, list) else [value]:
            if not isinstance(each, dict):
                raise Unreadable(f"line {number} is no object")
            yield number, each


def _converted(value: Any, name: str, kind: pa.DataType) -> Any:
    """What a value of JSON is in the type of a column."""
    if value is None:
        return None
    if pa.types.is_nested(kind):
        return _nested(value, name, kind)
    if isinstance(value, (dict, list)):
        _refuse(value, name, kind)
    if isinstance(value, bool):
        return _from_boolean(value, name, kind)
    if isinstance(value, _Number):
        return _from_number(value, name, kind)
    return _from_text(value, name, kind)


def _from_boolean(value: bool, name: str, kind: pa.DataType) -> Any:
    if pa.types.is_string(kind):
        return str(value).lower()
    return value if pa.types.is_boolean(kind) else _refuse(value, name, kind)


def _from_number(value: _Number, name: str, kind: pa.DataType) -> Any:
    if pa.types.is_floating(kind):
        return pa.scalar(str(value)).cast(kind).as_py()
    if value in _UNREAL:
        _refuse(value, name, kind)
    if pa.types.is_string(kind):
        return str(value)
    if pa.types.is_decimal(kind):
        return decimal_of(value, name, kind)
    if not pa.types.is_integer(kind) or not value.lstrip("-").isdecimal():
        _refuse(value, name, kind)
    number, most = int(value), 1 << (kind.bit_width - 1)
    return number if -most <= number < most else _refuse(value, name, kind)


def _from_text(value: str, name: str, kind: pa.DataType) -> Any:
    if pa.types.is_string(kind):
        return value
    if pa.types.is_timestamp(kind):
        return time_of(value, name)
    if pa.types.is_date(kind):
        return date_of(value, name)
    if pa.types.is_floating(kind) and value in _UNREAL:
        return float(value)
    if pa.types.is_decimal(kind):
        return values_of(pa.chunked_array([[value]]), name, kind)[0].as_py()
    if not pa.types.is_binary(kind):
        _refuse(value, name, kind)
    try:
        return base64.b64decode(value, validate=True)
    except ValueError:
        _refuse(value, name, kind)


def _nested(value: Any, name: str, kind: pa.DataType) -> Any:
    if pa.types.is_list(kind) and isinstance(value, list):
        return [_converted(each, name, kind.value_type) for each in value]
    if pa.types.is_map(kind) and isinstance(value, dict) and pa.types.is_string(kind.key_type):
        return [(key, _converted(each, name, kind.item_type)) for key, each in value.items()]
    if pa.types.is_struct(kind) and isinstance(value, dict):
        return {part.name: _converted(value.get(part.name), name, part.type) for part in kind}
    _refuse(value, name, kind)


def _refuse(value: Any, name: str, kind: pa.DataType) -> NoReturn:
    if isinstance(value, (dict, list)):
        what = "an object" if isinstance(value, dict) else "a list"
        raise Unreadable(f"column `{name}` is {what}, not {name_of(kind)}")
    raise no_value(name, str(value) if isinstance(value, _Number) else value, kind)
