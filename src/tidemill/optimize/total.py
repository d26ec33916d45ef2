"""Expressions that have a value for every row: none of their parts can fail.

What is not known here counts as something that may fail: None is its type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra.schema import Schema
from tidemill.algebra.types import UnknownType, from_sql, is_numeric

_WIDE_DECIMAL = 28  # digits from which a comparison with other numbers may not fit
_COMPARISONS = (
    exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ,
)  # fmt: skip
_Rule = Callable[[exp.Expr, Schema], pa.DataType | None]
_CHOICES = (exp.Coalesce, exp.Nullif, exp.Greatest, exp.Least)


def total_type(node: exp.Expr, schema: Schema) -> pa.DataType | None:
    """The type of the expression, roughly; None if it may fail for some row.

    >>> from sqlglot import parse_one
    >>> columns = Schema.of(a=pa.int64(), f=pa.float64())
    >>> total_type(parse_one("f * 2"), columns), total_type(parse_one("a * 2"), columns)
    (DataType(double), None)
    """
    if isinstance(node, exp.Column):
        return schema[node.name]
    for kinds, rule in _RULES:
        if isinstance(node, kinds):
            return rule(node, schema)
    return None


def _literal(node: exp.Expr, schema: Schema) -> pa.DataType | None:
    if isinstance(node, exp.Null):
        return pa.null()
    if isinstance(node, exp.Boolean):
        return pa.bool_()
    if node.args["is_string"]:
        return pa.string()
    return pa.int32() if node.name.isdigit() else pa.decimal128(18, 9)


def _inner(node: exp.Expr, schema: Schema) -> pa.DataType | None:
    return total_type(node.this, schema)


def _logical(node: exp.Expr, schema: Schema) -> pa.DataType | None:
    parts = [total_type(part, schema) for part in node.iter_expressions()]
    return pa.bool_() if all(part in (pa.bool_(), pa.null()) for part in parts) else None


def _compared(node: exp.Expr, schema: Schema) -> pa.DataType | None:
    parts = [total_type(part, schema) for part in node.iter_expressions()]
    return pa.bool_() if _common(parts) is not None else None


def _is(node: exp.Expr, schema: Schema) -> pa.DataType | None:
    known = isinstance(node.expression, exp.Null | exp.Boolean)
    return pa.bool_() if known and total_type(node.this, schema) is not None else None


def _chosen(node: exp.Expr, schema: Schema) -> pa.DataType | None:
    return _common(total_type(part, schema) for part in node.iter_expressions())


def _case(node: exp.Expr, schema: Schema) -> pa.DataType | None:
    if node.this is not None:
        return None
    tests = [total_type(branch.this, schema) for branch in node.args["ifs"]]
    values = [branch.args["true"] for branch in node.args["ifs"]]
    values.append(node.args.get("default") or exp.null())
    if any(test != pa.bool_() for test in tests):
        return None
    return _common(total_type(value, schema) for value in values)


def _text(result: pa.DataType) -> _Rule:
    """A function of texts (and of numbers that are written out)."""

    def rule(node: exp.Expr, schema: Schema) -> pa.DataType | None:
        for part in node.iter_expressions():
            if total_type(part, schema) != pa.string() and not _is_whole(part):
                return None
        return result

    return rule


def _is_whole(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and not node.is_string and node.name.isdigit()


def _arithmetic(node: exp.Expr, schema: Schema) -> pa.DataType | None:
    """Doubles have infinities; whole numbers and decimals overflow."""
    sides = [total_type(part, schema) for part in node.iter_expressions()]
    if any(side is None or not is_numeric(side) for side in sides):
        return None
    return pa.float64() if any(pa.types.is_floating(side) for side in sides) else None


def _division(node: exp.Expr, schema: Schema) -> pa.DataType | None:
    divisor = node.expression.unnest()
    side = total_type(node.this, schema)
    if not (_is_whole(divisor) and int(divisor.name) > 0) or side is None:
        return None
    if isinstance(node, exp.Mod):
        return side if pa.types.is_integer(side) else None
    return pa.float64() if pa.types.is_integer(side) or pa.types.is_floating(side) else None


def _cast(node: exp.Expr, schema: Schema) -> pa.DataType | None:
    try:
        target = from_sql(node.args["to"])
    except UnknownType:
        return None
    if isinstance(node.this, exp.Literal | exp.Null):
        return target  # it fails while planning, or never
    source = total_type(node.this, schema)
    return target if source is not None and _widens(source, target) else None


def _widens(source: pa.DataType, target: pa.DataType) -> bool:
    if source == target or pa.types.is_string(target):
        return not pa.types.is_nested(source)
    if pa.types.is_integer(source) and pa.types.is_integer(target):
        return bool(source.bit_width <= target.bit_width)
    if pa.types.is_floating(source) and pa.types.is_floating(target):
        return bool(source.bit_width <= target.bit_width)
    return bool(pa.types.is_integer(source) and pa.types.is_floating(target))


def _common(types: Iterable[pa.DataType | None]) -> pa.DataType | None:
    """The type of values that can be compared without a cast that may fail."""
    result: pa.DataType | None = pa.null()
    for each in types:
        if each is None or result is None:
            return None
        if pa.types.is_null(result):
            result = each
        elif not pa.types.is_null(each) and each != result:
            result = _wider(result, each)
    return result


def _wider(one: pa.DataType, other: pa.DataType) -> pa.DataType | None:
    if not (is_numeric(one) and is_numeric(other)):
        return None
    if any(pa.types.is_decimal(t) and t.precision > _WIDE_DECIMAL for t in (one, other)):
        return None
    ranks = [_rank(one), _rank(other)]
    return one if ranks[0] >= ranks[1] else other


def _rank(kind: pa.DataType) -> tuple[int, int]:
    family = 0 if pa.types.is_integer(kind) else 1 if pa.types.is_decimal(kind) else 2
    return family, kind.bit_width


_RULES: Final[
    list[tuple[tuple[type[exp.Expr], ...], Callable[[exp.Expr, Schema], pa.DataType | None]]]
] = [
    ((exp.Literal, exp.Boolean, exp.Null), _literal),
    ((exp.Paren,), _inner),
    ((exp.And, exp.Or, exp.Not), _logical),
    ((*_COMPARISONS, exp.Between, exp.In, exp.Like), _compared),
    ((exp.Is,), _is),
    (_CHOICES, _chosen),
    ((exp.Case,), _case),
    ((exp.Upper, exp.Lower, exp.Trim, exp.Concat, exp.Substring), _text(pa.string())),
    ((exp.Length,), _text(pa.int32())),
    ((exp.Add, exp.Sub, exp.Mul, exp.Neg), _arithmetic),
    ((exp.Div, exp.Mod), _division),
    ((exp.Cast,), _cast),
]
