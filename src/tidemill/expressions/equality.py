"""Equalities between two inputs: what can be looked up by hash."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra.scalar import Scalar
from tidemill.algebra.schema import Schema
from tidemill.algebra.types import name_of
from tidemill.expressions.typing import infer


@dataclass(frozen=True)
class Equality:
    """Two expressions of the same type, each over one input, that must be equal."""

    left: Scalar
    right: Scalar
    null_safe: bool


def equality_of(condition: Scalar, left: Schema, right: Schema) -> Equality | None:
    """The condition as an equality of the left input with the right, if it is one.

    >>> from sqlglot import parse_one
    >>> one, other = Schema.of(a=pa.int32(), b=pa.int64()), Schema.of(c=pa.int64())
    >>> equality_of(Scalar(parse_one("c = a"), pa.bool_()), one, other)
    Equality(left=CAST(a AS BIGINT), right=c, null_safe=False)
    >>> equality_of(Scalar(parse_one("a = b"), pa.bool_()), one, other)
    """
    sides = _sides(condition, left, right)
    key_type = None if sides is None else _key_type(sides[0].type, sides[1].type)
    if sides is None or key_type is None:
        return None
    one, other = (_typed(side, key_type) for side in sides)
    return Equality(one, other, isinstance(condition.node.unnest(), exp.NullSafeEQ))


def _sides(condition: Scalar, left: Schema, right: Schema) -> tuple[Scalar, Scalar] | None:
    """The two sides of an equality, if each looks at one input only."""
    node = condition.node.unnest()
    if not isinstance(node, (exp.EQ, exp.NullSafeEQ)):
        return None
    if any(node.find_all(exp.Anonymous)):
        return None  # a user function may answer differently the next time
    first, second = Scalar(node.left, pa.null()), Scalar(node.right, pa.null())
    if _reads(first, right) and _reads(second, left):
        first, second = second, first
    if not (_reads(first, left) and _reads(second, right)):
        return None
    return (
        Scalar(first.node, infer(first.node, left, {})),
        Scalar(second.node, infer(second.node, right, {})),
    )


def _reads(scalar: Scalar, schema: Schema) -> bool:
    return bool(scalar.columns) and all(name in schema for name in scalar.columns)


def _key_type(left: pa.DataType, right: pa.DataType) -> pa.DataType | None:
    """The type in which equality means the same as SQL's; None if there is no safe one."""
    if left == right:
        return None if pa.types.is_nested(left) else left
    if pa.types.is_integer(left) and pa.types.is_integer(right):
        return pa.int64()
    if pa.types.is_floating(left) and pa.types.is_floating(right):
        return pa.float64()
    return None


def _typed(side: Scalar, key_type: pa.DataType) -> Scalar:
    if side.type == key_type:
        return side
    to = exp.DataType.build(name_of(key_type), dialect="spark")
    return Scalar(exp.Cast(this=side.node.copy(), to=to), key_type)
