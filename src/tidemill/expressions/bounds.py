"""Range conditions between the inputs of a join: what each says of a value of one of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra.scalar import Scalar, conjuncts
from tidemill.algebra.schema import Schema
from tidemill.errors import TidemillError
from tidemill.expressions.typing import infer


@dataclass(frozen=True)
class Bound:
    """The `value` of an input is at most, or at least, the `other` of a partner plus an `offset`.

    Of a strict comparison, and where numbers are rounded, this is a little more than it says.
    """

    input: int
    value: Scalar
    partner: int
    other: Scalar
    offset: float
    is_upper: bool

    @property
    def turned(self) -> Bound:
        """The same of the partner."""
        return Bound(
            self.partner, self.other, self.input, self.value, -self.offset, not self.is_upper
        )


def bounds_of(conditions: Sequence[Scalar], inputs: Sequence[Schema]) -> tuple[Bound, ...]:
    """All that range conditions say of values of one input, given those of another.

    >>> from sqlglot import parse_one
    >>> inputs = [Schema.of(x=pa.int64()), Schema.of(y=pa.int64())]
    >>> near = Scalar(parse_one("x BETWEEN y - 5 AND y + 5"), pa.bool_())
    >>> for bound in bounds_of([near], inputs):
    ...     print(bound.value, "<=" if bound.is_upper else ">=", bound.other, bound.offset)
    y <= x 5.0
    x >= y -5.0
    x <= y 5.0
    y >= x -5.0
    """
    found: list[Bound] = []
    for condition in conditions:
        for part in conjuncts(condition):
            for small, large in _comparisons(part.node.unnest()):
                bound = _bound(small, large, inputs)
                found += [] if bound is None else [bound, bound.turned]
    return tuple(found)


def chosen(bounds: Sequence[Bound], number: int, known: Sequence[int]) -> list[Bound]:
    """The bounds of the value by which rows of an input are best ordered for partners in those
    that are known: of one with bounds on both sides, if there is any."""
    usable = [each for each in bounds if each.input == number and each.partner in known]
    by_value: dict[str, list[Bound]] = {}
    for bound in usable:
        by_value.setdefault(str(bound.value), []).append(bound)
    sides = {value: len({each.is_upper for each in group}) for value, group in by_value.items()}
    return by_value[max(sides, key=lambda value: sides[value])] if sides else []


def _comparisons(node: exp.Expr) -> Iterator[tuple[exp.Expr, exp.Expr]]:
    """Pairs whose first element is not larger than the second."""
    match node:
        case exp.LT() | exp.LTE():
            yield node.left, node.right
        case exp.GT() | exp.GTE():
            yield node.right, node.left
        case exp.Between() if not node.args.get("symmetric"):
            yield node.args["low"], node.this
            yield node.this, node.args["high"]


def _bound(small: exp.Expr, large: exp.Expr, inputs: Sequence[Schema]) -> Bound | None:
    one, other = _reader(small, inputs), _reader(large, inputs)
    if one is None or other is None or one == other:
        return None
    try:
        low, high = (_typed(n, inputs[at]) for n, at in ((small, one), (large, other)))
    except TidemillError:
        return None
    if not _are_comparable(low.type, high.type):
        return None
    (low, less), (high, more) = (
        _without_offset(side, inputs[at]) for side, at in ((low, one), (high, other))
    )
    return Bound(one, low, other, high, more - less, is_upper=True)


def _reader(node: exp.Expr, inputs: Sequence[Schema]) -> int | None:
    """The only input that an expression looks at."""
    names = Scalar(node, pa.null()).columns
    if not names or any(node.find_all(exp.Anonymous)):
        return None  # a user function may answer differently the next time
    readers = (at for at, schema in enumerate(inputs) if all(name in schema for name in names))
    return next(readers, None)


def _typed(node: exp.Expr, schema: Schema) -> Scalar:
    return Scalar(node, infer(node, schema, {}))


def _are_comparable(one: pa.DataType, other: pa.DataType) -> bool:
    """Whether values compare as the numbers that stand for them do."""
    if _is_number(one) and _is_number(other):
        return True
    return bool(one == other and (pa.types.is_timestamp(one) or pa.types.is_date32(one)))


def _is_number(kind: pa.DataType) -> bool:
    kinds = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
    return any(is_kind(kind) for is_kind in kinds)


def _without_offset(side: Scalar, schema: Schema) -> tuple[Scalar, float]:
    """A sum with a number as the rest and the number. (Single precision rounds too much.)"""
    node = side.node.unnest()
    if not isinstance(node, exp.Add | exp.Sub) or pa.types.is_float32(side.type):
        return side, 0.0
    sign = -1.0 if isinstance(node, exp.Sub) else 1.0
    number = _number(node.right)
    rest = node.left
    if number is None and sign > 0:
        number, rest = _number(node.left), node.right
    inner = None if number is None else _typed(rest, schema)
    if number is None or inner is None or not _is_number(inner.type):
        return side, 0.0
    if pa.types.is_float32(inner.type):
        return side, 0.0
    below, more = _without_offset(replace(inner, node=inner.node.unnest()), schema)
    return below, more + sign * number


def _number(node: exp.Expr) -> float | None:
    node = node.unnest()
    if isinstance(node, exp.Neg):
        below = _number(node.this)
        return None if below is None else -below
    is_number = isinstance(node, exp.Literal) and not node.is_string
    return float(node.this) if is_number else None
