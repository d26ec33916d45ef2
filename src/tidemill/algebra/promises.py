"""What streams promise about their rows, and the expressions that hold them to it.

Plans show these as functions of their own; `spelled_out` says what they mean in plain SQL.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra.scalar import Scalar, rewrite
from tidemill.algebra.types import is_numeric, name_of

_HELD: Final = "#held"
_CLIPPED: Final = "#clipped"
_PRESENT: Final = "#present"
_TAKE_LITERALS: Final = (pa.float64(), pa.int64(), pa.int32())


@dataclass(frozen=True)
class Range:
    """The values that a column may have: others are an error or, if `clip`, moved inside.

    >>> Range(0, 1)
    Range(low=0, high=1, clip=False)
    """

    low: float
    high: float
    clip: bool = False

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise ValueError(f"{self.low:g} .. {self.high:g} has no values")

    def refused(self, data_type: pa.DataType) -> str | None:
        """Why a column of that type cannot be held to the range; None if it can.

        >>> Range(0, 0.5).refused(pa.int64()), Range(0, 0.5).refused(pa.float64())
        ('its ends are no BIGINT', None)
        """
        if not is_numeric(data_type):
            return f"{name_of(data_type)} is no number"
        whole = self.low == int(self.low) and self.high == int(self.high)
        fits = whole or not pa.types.is_integer(data_type)
        return None if fits else f"its ends are no {name_of(data_type)}"

    def held(self, value: Scalar, name: str) -> Scalar:
        """The value, held to the range; `name` is for the message.

        >>> from tidemill.algebra.scalar import column
        >>> Range(0, 1).held(column("v", pa.float64()), "s.v")
        #HELD(v, 0, 1, 's.v')
        """
        limits = [_number(self.low), _number(self.high)]
        if not self.clip:
            limits.append(exp.Literal.string(name))
        call: exp.Expr = exp.Anonymous(
            this=_CLIPPED if self.clip else _HELD, expressions=[value.node.copy(), *limits]
        )
        if value.type not in _TAKE_LITERALS:
            kind = exp.DataType.build(name_of(value.type), dialect="spark")
            call = exp.Cast(this=call, to=kind)
        return Scalar(call, value.type)

    @staticmethod
    def of(node: exp.Expr) -> Range | None:
        """The range to which an expression was held.

        >>> from tidemill.algebra.scalar import column
        >>> Range.of(Range(-2, 5).held(column("v", pa.float64()), "s.v").node)
        Range(low=-2.0, high=5.0, clip=False)
        """
        if not isinstance(node, exp.Anonymous) or node.name not in (_HELD, _CLIPPED):
            return None
        _, low, high, *_ = node.expressions
        return Range(_value(low), _value(high), node.name == _CLIPPED)


@dataclass(frozen=True)
class Recurrence:
    """A bound on the rows with the same values in some columns: ever, or within some time."""

    most: int
    per: tuple[str, ...]
    within: int | None = None


def present(value: Scalar, name: str) -> Scalar:
    """The value, which must not be NULL.

    >>> from tidemill.algebra.scalar import column
    >>> present(column("id", pa.int64()), "s.id")
    #PRESENT(id, 's.id')
    """
    arguments = [value.node.copy(), exp.Literal.string(name)]
    return Scalar(exp.Anonymous(this=_PRESENT, expressions=arguments), value.type)


def presented(node: exp.Expr) -> exp.Expr:
    """What an expression shows, if it only refuses NULLs; else itself."""
    is_present = isinstance(node, exp.Anonymous) and node.name == _PRESENT
    return node.expressions[0] if is_present else node


def spelled_out(node: exp.Expr) -> exp.Expr:
    """The expression in plain Spark SQL.

    >>> from tidemill.algebra.scalar import column
    >>> value = column("v", pa.float64())
    >>> spelled_out(present(value, "s.v").node).sql()
    'CASE WHEN "v" IS NULL THEN RAISE_ERROR(\\'s.v is NULL\\') ELSE "v" END'
    >>> spelled_out(Range(0, 1, clip=True).held(value, "s.v").node).sql()
    'CASE WHEN "v" < 0 THEN 0 WHEN "v" > 1 THEN 1 ELSE "v" END'
    """
    # Most expressions are plain already: they are asked about far too often to be copied.
    return rewrite(node, _spelled) if any(map(_is_promise, node.walk())) else node


def _is_promise(node: exp.Expr) -> bool:
    return isinstance(node, exp.Anonymous) and node.name in (_HELD, _CLIPPED, _PRESENT)


def _spelled(node: exp.Expr) -> exp.Expr:
    if not _is_promise(node):
        return node
    value, *others = node.expressions
    if node.name == _PRESENT:
        missing = exp.Is(this=value.copy(), expression=exp.null())
        return _case(value, (missing, _stop(exp.Literal.string(f"{others[0].name} is NULL"))))
    low, high = others[:2]
    below = exp.LT(this=value.copy(), expression=low.copy())
    above = exp.GT(this=value.copy(), expression=high.copy())
    if node.name == _CLIPPED:
        return _case(value, (below, low.copy()), (above, high.copy()))
    limits = f" of {others[2].name} is not between {low.sql()} and {high.sql()}"
    text = exp.Cast(this=value.copy(), to=exp.DataType.build("STRING", dialect="spark"))
    words = [exp.Literal.string("value "), text, exp.Literal.string(limits)]
    return _case(value, (exp.or_(below, above), _stop(exp.Concat(expressions=words))))


def _case(otherwise: exp.Expr, *branches: tuple[exp.Expr, exp.Expr]) -> exp.Expr:
    ifs = [exp.If(this=test, true=answer) for test, answer in branches]
    return exp.Case(ifs=ifs, default=otherwise.copy())


def _stop(message: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this="RAISE_ERROR", expressions=[message])


def _number(limit: float) -> exp.Expr:
    text = repr(abs(limit)) if limit != int(limit) else str(abs(int(limit)))
    literal: exp.Expr = exp.Literal.number(text)
    return exp.Neg(this=literal) if limit < 0 else literal


def _value(node: exp.Expr) -> float:
    return -float(node.this.name) if isinstance(node, exp.Neg) else float(node.name)
