"""The type that Spark makes of several: the narrowest that takes them all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra.types import is_numeric
from tidemill.expressions.typed import (
    DATE,
    DAYS,
    DOUBLE,
    NULL,
    STRING,
    TIME,
    TIMESTAMP,
    Typed,
    TypeMismatch,
    shown,
)  # fmt: skip

_MAX_PRECISION = 38
_WHOLE = {8: 3, 16: 5, 32: 10, 64: 20}


def common_type(parts: Iterable[Typed]) -> pa.DataType | None:
    """The type of a value that is one of these; None if there is none.

    >>> one, other = Typed("", pa.int32(), exp.null()), Typed("", pa.decimal128(5, 2), exp.null())
    >>> common_type([one, other])
    Decimal128Type(decimal128(12, 2))
    """
    parts = list(parts)
    # '2024-01-01' is the way to write a date.
    dates = [part.type for part in parts if _is_time(part.type)]
    texts = [part for part in parts if part.type == STRING and part.node.unnest().is_string]
    types = [part.type for part in parts if not (dates and part in texts)]
    return reduce(lambda one, other: one and _wider(one, other), types[1:], types[0])


def comparable_type(parts: Sequence[Typed]) -> pa.DataType | None:
    """The type in which values are compared: a whole number as constant is as short as it is."""
    types = [decimal_of(part) for part in parts]
    if any(pa.types.is_decimal(part.type) for part in parts) and None not in types:
        return reduce(_wider, [each for each in types if each is not None])
    return common_type(parts)


def shared_type(parts: Sequence[Typed], node: exp.Expr) -> pa.DataType:
    """The type in which values are compared; an error if there is none."""
    found = comparable_type(parts)
    if found is None or pa.types.is_map(found):
        names = [shown(part.type) for part in parts]
        help = "convert one side with CAST(... AS TYPE)"
        raise TypeMismatch(f"cannot compare {names[0]} with {names[-1]}", node, help)
    return found


def decimal_of(part: Typed) -> pa.DataType | None:
    """The decimal that holds a whole number or a decimal; None for others.

    >>> decimal_of(Typed("7", pa.int32(), exp.Literal.number(7)))
    Decimal128Type(decimal128(1, 0))
    """
    if pa.types.is_decimal(part.type):
        return part.type
    if not pa.types.is_integer(part.type):
        return None
    constant = part.node.unnest()
    constant = constant.this if isinstance(constant, (exp.Neg, exp.Cast)) else constant
    if isinstance(constant, exp.Literal) and constant.name.isdigit():
        return pa.decimal128(len(constant.name.lstrip("0")) or 1, 0)
    return pa.decimal128(_WHOLE[part.type.bit_width], 0)


def fitting(precision: int, scale: int) -> pa.DataType:
    """A decimal cut to 38 digits, sparing those before the point.

    >>> fitting(49, 21)
    Decimal128Type(decimal128(38, 10))
    """
    if precision <= _MAX_PRECISION:
        return pa.decimal128(precision, scale)
    whole = precision - scale
    return pa.decimal128(_MAX_PRECISION, max(_MAX_PRECISION - whole, min(scale, 6)))


def _wider(one: pa.DataType, other: pa.DataType) -> pa.DataType | None:
    if one == other or other == NULL:
        return one
    if one == NULL:
        return other
    if is_numeric(one) and is_numeric(other):
        return _wider_number(one, other)
    if _is_time(one) and _is_time(other):
        return TIMESTAMP
    if {one, other} == {DAYS, TIME}:
        return TIME
    if pa.types.is_list(one) and pa.types.is_list(other):
        inner = _wider(one.value_type, other.value_type)
        return None if inner is None else pa.list_(inner)
    return None


def _wider_number(one: pa.DataType, other: pa.DataType) -> pa.DataType:
    if pa.types.is_floating(one) or pa.types.is_floating(other):
        return DOUBLE  # also of a FLOAT and a whole number, so that none of its digits is lost
    if pa.types.is_integer(one) and pa.types.is_integer(other):
        return max(one, other, key=lambda each: each.bit_width)
    (p1, s1), (p2, s2) = _digits(one), _digits(other)
    scale = max(s1, s2)
    return fitting(max(p1 - s1, p2 - s2) + scale, scale)


def _digits(data_type: pa.DataType) -> tuple[int, int]:
    if pa.types.is_decimal(data_type):
        return data_type.precision, data_type.scale
    return _WHOLE[data_type.bit_width], 0


def _is_time(data_type: pa.DataType) -> bool:
    return data_type in (DATE, TIMESTAMP)
