"""Conditions that ask whether some row of the other side is larger, smaller or different."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra.scalar import Scalar
from tidemill.algebra.schema import Schema
from tidemill.algebra.types import UnknownType, is_numeric
from tidemill.expressions import infer

_FLIPPED: dict[type[exp.Expr], type[exp.Binary]] = {
    exp.LT: exp.GT,
    exp.LTE: exp.GTE,
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
    exp.NEQ: exp.NEQ,
    exp.EQ: exp.EQ,
}
_EXTREMES: dict[type[exp.Expr], tuple[str, ...]] = {
    exp.LT: ("MAX",),
    exp.LTE: ("MAX",),
    exp.GT: ("MIN",),
    exp.GTE: ("MIN",),
    exp.NEQ: ("MIN", "MAX"),
}


@dataclass(frozen=True)
class Comparison:
    """`operand` compared with the `value` of a row of the other side.

    `operator` is None if only that it has no answer matters. `or_unknown` says that no answer,
    because one of both is NULL, counts like the answer yes.
    """

    operand: Scalar
    operator: type[exp.Binary] | None
    value: Scalar
    or_unknown: bool = False

    @property
    def extremes(self) -> tuple[str, ...]:
        """The aggregates of the values that tell whether any of them meets the comparison."""
        return _EXTREMES[self.operator] if self.operator is not None else ()


def comparison_of(part: Scalar, left: Schema, right: Schema) -> Comparison | None:
    """The comparison that a condition on two sides is, if extremes can decide it.

    >>> from sqlglot import parse_one
    >>> sides = Schema.of(x=pa.int64()), Schema.of(v=pa.int64())
    >>> found = comparison_of(Scalar(parse_one("v > x OR (x >= v) IS NULL"), pa.bool_()), *sides)
    >>> found.operand, found.extremes, found.value, found.or_unknown
    (x, ('MAX',), v, True)
    >>> comparison_of(Scalar(parse_one("v = x"), pa.bool_()), *sides)
    """
    node = part.node.unnest()
    if node.find(exp.Anonymous):
        return None  # how often a user function is called is not for us to change
    found = _undecided(node, left, right) or _known(node, left, right)
    if found is not None and found.operator is exp.EQ:
        return None
    return found


def _undecided(node: exp.Expr, left: Schema, right: Schema) -> Comparison | None:
    """`(x < v) IS NULL`, alone or behind OR."""
    if isinstance(node, exp.Or):
        one, other = (side.unnest() for side in (node.left, node.right))
        decisive, unknown = _known(one, left, right), _undecided(other, left, right)
        if decisive is None or unknown is None or unknown.operator is not None:
            return None
        same = (decisive.operand, decisive.value) == (unknown.operand, unknown.value)
        return replace(decisive, or_unknown=True) if same else None
    if not (isinstance(node, exp.Is) and isinstance(node.expression, exp.Null)):
        return None
    found = _known(node.this.unnest(), left, right)
    return None if found is None else Comparison(found.operand, None, found.value, True)


def _known(node: exp.Expr, left: Schema, right: Schema) -> Comparison | None:
    if type(node) not in _FLIPPED:
        return None
    assert isinstance(node, exp.Binary)
    one, other = (Scalar(side.unnest(), pa.null()) for side in (node.left, node.right))
    if _reads(one, left) and _reads(other, right):
        return _typed(one, type(node), other, left, right)
    if _reads(one, right) and _reads(other, left):
        return _typed(other, _FLIPPED[type(node)], one, left, right)
    return None


def _reads(side: Scalar, schema: Schema) -> bool:
    return bool(side.columns) and side.columns <= set(schema.names)


def _typed(
    operand: Scalar, operator: type[exp.Binary], value: Scalar, left: Schema, right: Schema
) -> Comparison | None:
    """The comparison, if the order of the values is the order in which they are compared."""
    try:
        types = infer(operand.node, left, {}), infer(value.node, right, {})
    except UnknownType:
        return None
    if not (types[0] == types[1] or all(map(is_numeric, types))) or not _is_ordered(types[1]):
        return None
    return Comparison(Scalar(operand.node, types[0]), operator, Scalar(value.node, types[1]))


def _is_ordered(kind: pa.DataType) -> bool:
    return is_numeric(kind) or kind in (
        pa.bool_(), pa.string(), pa.binary(), pa.date32(), pa.timestamp("us"),
    )  # fmt: skip
