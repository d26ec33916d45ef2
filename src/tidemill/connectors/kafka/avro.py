"""Values in Avro: records of a schema that is given, not of a registry."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

import fastavro
import pyarrow as pa
from fastavro.schema import SchemaParseException

from tidemill.algebra.schema import Schema
from tidemill.connectors.feeds.columns import Unreadable, as_declared
from tidemill.errors import ExecutionError
from tidemill.sql import OptionValue

_PREFIX = struct.Struct(">bI")
"""What those who write with a registry put before a value: a zero, and the number of a schema."""

_SIMPLE: dict[str, pa.DataType] = {
    "null": pa.null(),
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "bytes": pa.binary(),
    "fixed": pa.binary(),
    "string": pa.string(),
    "enum": pa.string(),
}
_LOGICAL: dict[str, pa.DataType] = {
    "date": pa.date32(),
    **dict.fromkeys(("timestamp-millis", "timestamp-micros"), pa.timestamp("us", "UTC")),
    **dict.fromkeys(("local-timestamp-millis", "local-timestamp-micros"), pa.timestamp("us")),
}


@dataclass(frozen=True)
class AvroValues:
    """Reads records of a schema; with a `number`, values begin as a registry has it."""

    parsed: Any = field(repr=False)
    number: int | None = None

    @staticmethod
    def of(schema: OptionValue, number: OptionValue, whose: str) -> AvroValues:
        """What the options `schema` and `schema_id` say."""
        if not schema:
            help = """schema => '{"type": "record", "name": "bid", "fields": [...]}'"""
            raise ExecutionError(f"{whose} needs the option schema, for Avro", help=help)
        if number is not None and not str(number).isdecimal():
            help = "schema_id => 7"
            raise ExecutionError(f"{whose} has the option schema_id {number!r}", help=help)
        try:
            parsed = fastavro.parse_schema(_plain(json.loads(str(schema))))
            if not isinstance(parsed, dict) or parsed.get("type") != "record":
                raise Unreadable("it is not that of a record")
            _arrow_of(parsed, {})
        except (ValueError, KeyError, SchemaParseException) as error:
            help = "it is JSON, as Avro's specification has it"
            raise ExecutionError(f"the Avro schema of {whose}: {error}", help=help) from None
        return AvroValues(parsed, None if number is None else int(str(number)))

    def table(self, values: Iterable[tuple[str, bytes | None]], wanted: Schema) -> pa.Table:
        """The wanted columns of records, which come with their places, for errors."""
        records = [{} if value is None else self._record(p, value) for p, value in values]
        fields = list(_arrow_of(self.parsed, {}))
        columns = {f.name: pa.array([r.get(f.name) for r in records], f.type) for f in fields}
        names = wanted.names
        if not names:
            return pa.table({"": pa.nulls(len(records))}).select([])
        return as_declared(pa.table(columns), wanted, names)

    def _record(self, place: str, value: bytes) -> dict[str, Any]:
        data = BytesIO(self._unwrapped(place, value))
        try:
            record = fastavro.schemaless_reader(data, self.parsed, None)
        except Exception as error:  # whatever is found where something else was expected
            reason = str(error) or type(error).__name__
            raise Unreadable(f"{place}: it is no such Avro record: {reason}") from None
        if left := len(data.read()):
            raise Unreadable(f"{place}: {left} bytes are left behind the Avro record")
        assert isinstance(record, dict)
        return record

    def _unwrapped(self, place: str, value: bytes) -> bytes:
        if self.number is None:
            return value
        if len(value) < _PREFIX.size or _PREFIX.unpack_from(value) != (0, self.number):
            raise Unreadable(f"{place}: it does not begin with the schema_id {self.number}")
        return value[_PREFIX.size :]


def _plain(schema: Any) -> Any:
    """The schema with UUIDs as the texts that they are."""
    if isinstance(schema, list):
        return [_plain(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    is_uuid = schema.get("logicalType") == "uuid"
    return {k: _plain(v) for k, v in schema.items() if not (is_uuid and k == "logicalType")}


def _arrow_of(schema: Any, named: dict[str, Any]) -> Any:
    """The type of Arrow of a schema; of a record, its fields."""
    if isinstance(schema, list):
        return _union(schema, named)
    if isinstance(schema, str):
        if schema in _SIMPLE:
            return _SIMPLE[schema]
        return _arrow_of(named[schema], {k: v for k, v in named.items() if k != schema})
    if "name" in schema:
        named[schema["name"]] = schema
    if (logical := schema.get("logicalType")) is not None:
        return _logical(schema, str(logical))
    make: dict[str, Callable[[], Any]] = {
        "array": lambda: pa.list_(_arrow_of(schema["items"], named)),
        "map": lambda: pa.map_(pa.string(), _arrow_of(schema["values"], named)),
        "record": lambda: pa.struct(
            [(each["name"], _arrow_of(each["type"], named)) for each in schema["fields"]]
        ),
    }
    kind = schema["type"]
    return make[kind]() if kind in make else _arrow_of(kind, named)


def _union(schemas: list[Any], named: dict[str, Any]) -> pa.DataType:
    others = [each for each in schemas if each != "null"]
    if len(others) > 1:
        raise Unreadable(f"a union of {len(others)} types cannot be a column")
    return _arrow_of(others[0], named) if others else pa.null()


def _logical(schema: Any, logical: str) -> pa.DataType:
    if logical == "decimal":
        return pa.decimal128(schema["precision"], schema.get("scale", 0))
    if logical not in _LOGICAL:
        raise Unreadable(f"values of {logical} cannot be in a column")
    return _LOGICAL[logical]
