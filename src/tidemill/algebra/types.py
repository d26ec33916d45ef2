"""Column types: Arrow types inside, Spark's names outside."""

from __future__ import annotations

from typing import cast

import pyarrow as pa
from sqlglot import exp
from sqlglot.expressions import DType

_BY_NAME: dict[DType, pa.DataType] = {
    DType.BOOLEAN: pa.bool_(),
    DType.TINYINT: pa.int8(),
    DType.SMALLINT: pa.int16(),
    DType.INT: pa.int32(),
    DType.BIGINT: pa.int64(),
    DType.FLOAT: pa.float32(),
    DType.DOUBLE: pa.float64(),
    DType.VARCHAR: pa.string(),
    DType.CHAR: pa.string(),
    DType.TEXT: pa.string(),
    DType.BINARY: pa.binary(),
    DType.VARBINARY: pa.binary(),
    DType.DATE: pa.date32(),
    DType.TIMESTAMP: pa.timestamp("us"),
    DType.TIMESTAMPNTZ: pa.timestamp("us"),
    DType.TIMESTAMPTZ: pa.timestamp("us"),
    DType.TIMESTAMPLTZ: pa.timestamp("us"),
    DType.INTERVAL: pa.duration("us"),
    DType.NULL: pa.null(),
}

_NAMES: dict[pa.DataType, str] = {
    pa.bool_(): "BOOLEAN",
    pa.int8(): "TINYINT",
    pa.int16(): "SMALLINT",
    pa.int32(): "INT",
    pa.int64(): "BIGINT",
    pa.float32(): "FLOAT",
    pa.float64(): "DOUBLE",
    pa.string(): "STRING",
    pa.binary(): "BINARY",
    pa.date32(): "DATE",
    pa.duration("us"): "INTERVAL",
    pa.null(): "NULL",
}


class UnknownType(ValueError):
    """A type that has no counterpart on the other side."""


def from_sql(sql_type: exp.DataType) -> pa.DataType:
    """The Arrow type of a SQL type.

    >>> from_sql(exp.DataType.build("DECIMAL(10, 2)"))
    Decimal128Type(decimal128(10, 2))
    >>> from_sql(exp.DataType.build("ARRAY<INT>", dialect="spark"))
    ListType(list<item: int32>)
    """
    try:
        return _from_sql(sql_type)
    except (
        ValueError,
        OverflowError,
        IndexError,
        AttributeError,
    ):
        raise UnknownType(sql_type.sql(dialect="spark")) from None


def _from_sql(sql_type: exp.DataType) -> pa.DataType:
    kind = sql_type.this
    if kind == DType.DECIMAL:
        return pa.decimal128(*_decimal_parameters(sql_type))
    if kind in (DType.ARRAY, DType.LIST):
        return pa.list_(from_sql(cast(exp.DataType, sql_type.expressions[0])))
    if kind == DType.MAP:
        key, value = sql_type.expressions
        return pa.map_(from_sql(key), from_sql(value))
    if kind == DType.STRUCT:
        return pa.struct([(part.name, from_sql(part.kind)) for part in sql_type.expressions])
    if kind in _BY_NAME:
        return _BY_NAME[kind]
    raise UnknownType(sql_type.sql(dialect="spark"))


def _decimal_parameters(sql_type: exp.DataType) -> tuple[int, int]:
    numbers = [int(parameter.name) for parameter in sql_type.expressions]
    precision = numbers[0] if numbers else 10
    scale = numbers[1] if len(numbers) > 1 else 0
    return precision, scale


def name_of(data_type: pa.DataType) -> str:
    """The SQL name of an Arrow type, as users write it.

    >>> name_of(pa.list_(pa.int64()))
    'ARRAY<BIGINT>'
    """
    if pa.types.is_decimal(data_type):
        return f"DECIMAL({data_type.precision}, {data_type.scale})"
    if pa.types.is_timestamp(data_type):
        return "TIMESTAMP"
    if pa.types.is_list(data_type) or pa.types.is_large_list(data_type):
        return f"ARRAY<{name_of(data_type.value_type)}>"
    if pa.types.is_map(data_type):
        return f"MAP<{name_of(data_type.key_type)}, {name_of(data_type.item_type)}>"
    if pa.types.is_struct(data_type):
        parts = ", ".join(f"{field.name}: {name_of(field.type)}" for field in data_type)
        return f"STRUCT<{parts}>"
    if data_type in _NAMES:
        return _NAMES[data_type]
    raise UnknownType(str(data_type))


def normalize(data_type: pa.DataType) -> pa.DataType:
    """The type of the engine that holds values of this Arrow type without loss.

    >>> normalize(pa.large_string()), normalize(pa.uint32()), normalize(pa.timestamp("ms"))
    (DataType(string), DataType(int64), TimestampType(timestamp[us]))
    """
    t = data_type
    if pa.types.is_dictionary(t):
        return normalize(t.value_type)
    if pa.types.is_large_string(t) or pa.types.is_string_view(t):
        return pa.string()
    if pa.types.is_large_binary(t) or pa.types.is_binary_view(t):
        return pa.binary()
    if pa.types.is_fixed_size_binary(t):
        return pa.binary()
    if pa.types.is_timestamp(t):
        return pa.timestamp("us")
    if pa.types.is_date64(t):
        return pa.date32()
    if pa.types.is_duration(t):
        return pa.duration("us")
    if pa.types.is_unsigned_integer(t):
        return {8: pa.int16(), 16: pa.int32(), 32: pa.int64()}.get(
            t.bit_width, pa.decimal128(20, 0)
        )
    if pa.types.is_float16(t):
        return pa.float32()
    if pa.types.is_map(t):
        return pa.map_(normalize(t.key_type), normalize(t.item_type))
    if pa.types.is_list(t) or pa.types.is_large_list(t) or pa.types.is_fixed_size_list(t):
        return pa.list_(normalize(t.value_type))
    if pa.types.is_struct(t):
        return pa.struct([(field.name, normalize(field.type)) for field in t])
    name_of(t)  # raises UnknownType for what no column can hold
    return t


def is_numeric(data_type: pa.DataType) -> bool:
    """Whether arithmetic is defined on the type.

    >>> is_numeric(pa.int32()), is_numeric(pa.string())
    (True, False)
    """
    return bool(
        pa.types.is_integer(data_type)
        or pa.types.is_floating(data_type)
        or pa.types.is_decimal(data_type)
    )
