"""Which parts of a join condition can be looked up by hash."""

from __future__ import annotations

from dataclasses import dataclass

from tidemill.algebra.scalar import Scalar, conjunction, conjuncts
from tidemill.algebra.schema import Schema
from tidemill.expressions.equality import equality_of


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
    left_items: list[tuple[str, Scalar]] = []
    right_items: list[tuple[str, Scalar]] = []
    rest: list[Scalar] = []
    for part in conjuncts(condition):
        equality = equality_of(part, left, right)
        if equality is None:
            rest.append(part)
            continue
        one = _column(equality.left, f"#left{len(keys)}", left_items)
        other = _column(equality.right, f"#right{len(keys)}", right_items)
        keys.append(JoinKey(one, other, equality.null_safe))
    return SplitCondition(tuple(keys), tuple(left_items), tuple(right_items), conjunction(*rest))


def _column(side: Scalar, name: str, items: list[tuple[str, Scalar]]) -> str:
    """The column of a side: its own, or one to be computed."""
    if side.is_column:
        return str(side.node.name)
    items.append((name, side))
    return name
