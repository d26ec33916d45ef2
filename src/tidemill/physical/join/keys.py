"""Which parts of a join condition can be looked up by hash."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra.scalar import Scalar, conjunction, conjuncts
from tidemill.algebra.schema import Schema
from tidemill.algebra.types import name_of
from tidemill.expressions import infer


@dataclass(frozen=True)
class JoinKey:
    """Two columns of the same type that must be equal; `null_safe`: NULL equals NULL."""

    left: str
    right: str
    null_safe: bool = False


@dataclass(frozen=True)
class SplitCondition:
    """Equalities between the sides, what must be computed for them, and the rest."""

    keys: tuple[JoinKey, ...]
    left_items: tuple[tuple[str, Scalar], ...]
    right_items: tuple[tuple[str, Scalar], ...]
    residual: Scalar | None


def split_condition(condition: Scalar | None, left: Schema, right: Schema) -> SplitCondition:
    """Find the equalities of a condition that compare the left side with the right."""
    keys: list[JoinKey] = []
    items: tuple[list[tuple[str, Scalar]], list[tuple[str, Scalar]]] = ([], [])
    rest: list[Scalar] = []
    for part in conjuncts(condition):
        sides = _sides(part, left, right)
        key_type = None if sides is None else _key_type(sides[0].type, sides[1].type)
        if sides is None or key_type is None:
            rest.append(part)
            continue
        names = [
            _key_column(side, key_type, f"#{where}{len(keys)}", item)
            for side, where, item in zip(sides, ("left", "right"), items, strict=True)
        ]
        keys.append(JoinKey(names[0], names[1], isinstance(part.node, exp.NullSafeEQ)))
    return SplitCondition(tuple(keys), tuple(items[0]), tuple(items[1]), conjunction(*rest))


def _sides(part: Scalar, left: Schema, right: Schema) -> tuple[Scalar, Scalar] | None:
    """The two sides of an equality, if each looks at one input only."""
    node = part.node.unnest()
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


def _key_column(
    side: Scalar, key_type: pa.DataType, name: str, items: list[tuple[str, Scalar]]
) -> str:
    if side.is_column and side.type == key_type:
        return str(side.node.name)
    cast = exp.Cast(this=side.node.copy(), to=_sql_type(key_type))
    items.append((name, side if side.type == key_type else Scalar(cast, key_type)))
    return name


def _sql_type(data_type: pa.DataType) -> exp.DataType:
    return exp.DataType.build(name_of(data_type), dialect="spark")
