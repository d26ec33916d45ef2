"""Constants of conditions, and the parameters that take their places."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra.scalar import Scalar, column_node
from tidemill.algebra.schema import Field, Schema
from tidemill.copying import copied
from tidemill.physical.operators.pick import Constants

_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between)
_LINKS = (exp.And, exp.Or, exp.Not, exp.Paren)
"""What all conditions are computed in, whatever the others say.

Constants in a CASE stay where they are: they may keep something from being computed that fails, and
with those of another query it would fail for all queries of the shape.
"""

_EXACT = 2**53
"""Whole numbers up to here are doubles, too."""

TYPES = {
    str(kind): kind
    for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float64(), pa.string())
}
"""The types of columns with which constants are compared, by name."""


@dataclass
class LiftedConstants:
    """The constants found so far, in their order, and the columns that stand for them."""

    prefix: str
    constants: list[int | float | str] = field(default_factory=list)
    columns: list[Field] = field(default_factory=list)

    def taken_from(self, condition: Scalar, schema: Schema) -> Scalar:
        """The condition with parameters in the places of constants.

        >>> import pyarrow as pa
        >>> from tidemill.algebra.scalar import Scalar
        >>> price = exp.GT(this=column_node("price"), expression=exp.Literal.number(10))
        >>> found = LiftedConstants("c.")
        >>> found.taken_from(Scalar(price, pa.bool_()), Schema.of(price=pa.int64()))
        price > c.p0
        >>> found.constants
        [10]
        """
        whole = copied(condition.node)
        for node in list(whole.walk(bfs=False, prune=lambda node: not isinstance(node, _LINKS))):
            if isinstance(node, _COMPARISONS):
                self._replace(node, schema)
        return Scalar(whole, condition.type)

    def _replace(self, comparison: exp.Expr, schema: Schema) -> None:
        for key, kind in _operands(comparison, schema):
            constant = _constant(comparison.args[key], kind)
            if constant is not None:
                name = f"p{len(self.constants)}"
                self.constants.append(constant)
                self.columns.append(Field(name, kind))
                comparison.set(key, column_node(f"{self.prefix}{name}"))

    @property
    def found(self) -> Constants:
        """All of them."""
        return tuple(self.constants)


def _operands(comparison: exp.Expr, schema: Schema) -> Iterator[tuple[str, pa.DataType]]:
    """What is compared with a column, by the name of its place, and the type of the column."""
    if isinstance(comparison, exp.Between):
        places = [("this", "low"), ("this", "high")]
    else:
        places = [("this", "expression"), ("expression", "this")]
    for one, other in places:
        node = comparison.args.get(one)
        if isinstance(node, exp.Column) and node.name in schema:
            kind = schema[node.name]
            if str(kind) in TYPES:
                yield other, kind


def _constant(node: exp.Expr, kind: pa.DataType) -> int | float | str | None:
    """The value of a literal, if a column of this type can have it."""
    sign, literal = (-1, node.this) if isinstance(node, exp.Neg) else (1, node)
    if not isinstance(literal, exp.Literal):
        return None
    text = str(literal.this)
    if literal.is_string or kind == pa.string():
        return text if literal.is_string and kind == pa.string() and sign == 1 else None
    if pa.types.is_floating(kind):
        value = sign * float(text) + 0.0  # there is one zero
        return value if abs(value) <= _EXACT else None
    return sign * int(text) if text.isdigit() and _fits(sign * int(text), kind) else None


def _fits(value: int, kind: pa.DataType) -> bool:
    limit: int = 1 << (kind.bit_width - 1)
    return -limit <= value < limit
