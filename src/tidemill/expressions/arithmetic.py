"""Sums, products and quotients: of whole numbers, decimals, numbers with a fraction, and times."""

from __future__ import annotations

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra.types import is_numeric
from tidemill.expressions.casts import cast
from tidemill.expressions.coercion import comparable_type, decimal_of
from tidemill.expressions.decimals import product, quotient, remainder, total
from tidemill.expressions.duckdb_sql import duckdb_type
from tidemill.expressions.intervals import interval_product, time_sum
from tidemill.expressions.translate import Rule, Translator, name_of_node
from tidemill.expressions.typed import (
    BIGINT,
    DOUBLE,
    INT,
    INTERVALS,
    NULL,
    Typed,
    does_not_take,
    stop,
)  # fmt: skip

_SIGNS: dict[type[exp.Expr], str] = {
    exp.Add: "+", exp.Sub: "-", exp.Mul: "*",
    exp.SafeAdd: "+", exp.SafeSubtract: "-", exp.SafeMultiply: "*",
    exp.BitwiseAnd: "&", exp.BitwiseOr: "|",
}  # fmt: skip


def _sum(parts: Translator, node: exp.Expr) -> Typed:
    left, right = parts.of(node.this), parts.of(node.expression)
    if any(_is_time(side.type) for side in (left, right)):
        return time_sum(left, right, node)
    numbers = _numbers(left, right, node)
    return _computed(*numbers, node, _SIGNS[type(node)])


def _product(parts: Translator, node: exp.Expr) -> Typed:
    left, right = parts.of(node.this), parts.of(node.expression)
    if any(side.type in INTERVALS for side in (left, right)):
        return interval_product(left, right, node)
    return _computed(*_numbers(left, right, node), node, "*")


def _try(rule: Rule) -> Rule:
    def safe(parts: Translator, node: exp.Expr) -> Typed:
        found = rule(parts, node)
        return found.become(f"try({found.sql})", found.type)

    return safe


def _computed(left: Typed, right: Typed, node: exp.Expr, sign: str) -> Typed:
    kind = _decimal_or_common(left, right)
    if kind is None:
        found = product(left, right) if sign == "*" else total(left, right, sign)
        return Typed(found.sql, found.type, node)
    one, other = cast(left, kind).sql, cast(right, kind).sql
    sql = f"({one} {sign} {other})"
    return Typed(sql, kind, node)


def _decimal_or_common(left: Typed, right: Typed) -> pa.DataType | None:
    """The type in which both are computed; None if that is a decimal, which has its own rules."""
    if not any(pa.types.is_decimal(side.type) for side in (left, right)):
        return comparable_type([left, right])
    return None if decimal_of(left) is not None and decimal_of(right) is not None else DOUBLE


def _quotient(parts: Translator, node: exp.Expr) -> Typed:
    left, right = parts.of(node.this), parts.of(node.expression)
    if left.type in INTERVALS:
        raise does_not_take("/", [left.type, right.type], node)
    left, right = _numbers(left, right, node)
    if _decimal_or_common(left, right) is None:
        found = quotient(left, right)
    else:
        one, other = cast(left, DOUBLE).sql, cast(right, DOUBLE).sql
        found = Typed(f"{one} / {other}", DOUBLE, node)
    answer = "NULL" if isinstance(node, exp.SafeDivide) else stop("division by zero")
    return Typed(_unless_zero(left, right, found.sql, answer), found.type, node)


def _whole_quotient(parts: Translator, node: exp.Expr) -> Typed:
    left, right = _numbers(parts.of(node.this), parts.of(node.expression), node)
    if not all(pa.types.is_integer(side.type) for side in (left, right)):
        raise does_not_take("DIV", [left.type, right.type], node)
    one, other = cast(left, BIGINT).sql, cast(right, BIGINT).sql
    sql = _unless_zero(left, right, f"{one} // {other}", stop("division by zero"))
    return Typed(sql, BIGINT, node)


def _remainder(parts: Translator, node: exp.Expr) -> Typed:
    left, right = _numbers(parts.of(node.this), parts.of(node.expression), node)
    kind = _decimal_or_common(left, right)
    if kind is None:
        found = remainder(left, right)
    else:
        found = Typed(f"{cast(left, kind).sql} % {cast(right, kind).sql}", kind, node)
    return Typed(_unless_zero(left, right, found.sql, stop("division by zero")), found.type, node)


def _unless_zero(left: Typed, right: Typed, division: str, answer: str) -> str:
    """DuckDB answers NULL or infinity to a division by zero; Spark stops, unless 0 divides NULL."""
    divisor = right.node.unnest()
    divisor = divisor.this if isinstance(divisor, exp.Neg) else divisor
    if isinstance(divisor, exp.Literal) and float(divisor.name) != 0:
        return f"({division})"
    zero = f"{right.sql} = 0" + ("" if answer == "NULL" else f" AND {left.sql} IS NOT NULL")
    return f"CASE WHEN {zero} THEN {answer} ELSE {division} END"


def _bits(parts: Translator, node: exp.Expr) -> Typed:
    left, right = _numbers(parts.of(node.this), parts.of(node.expression), node)
    kind = comparable_type([left, right])
    if kind is None or not pa.types.is_integer(kind):
        raise does_not_take(name_of_node(node), [left.type, right.type], node)
    one, other = cast(left, kind).sql, cast(right, kind).sql
    if isinstance(node, exp.BitwiseXor):
        return Typed(f"xor({one}, {other})", kind, node)
    return Typed(f"({one} {_SIGNS[type(node)]} {other})", kind, node)


def _bits_inverted(parts: Translator, node: exp.Expr) -> Typed:
    found = parts.of(node.this)
    if not pa.types.is_integer(found.type):
        raise does_not_take("~", [found.type], node)
    return Typed(f"(~{found.sql})", found.type, node)


def _shift(parts: Translator, node: exp.Expr) -> Typed:
    """Java shifts by the last five or six bits of the count, and keeps the sign."""
    value, count = parts.of(node.this), parts.of(node.expression)
    if not (pa.types.is_integer(value.type) and pa.types.is_integer(count.type)):
        raise does_not_take(name_of_node(node), [value.type, count.type], node)
    kind = BIGINT if value.type == BIGINT else INT
    by = f"({cast(count, INT).sql} & {kind.bit_width - 1})"
    # Powers of two, as DuckDB shifts no bit out of a number.
    power = f"CAST(pow(2, {by}) AS HUGEINT)"
    wide = f"CAST({value.sql} AS HUGEINT)"
    if isinstance(node, exp.BitwiseRightShift):
        return Typed(f"CAST(spark_floored({wide}, {power}) AS {duckdb_type(kind)})", kind, node)
    span = 2**kind.bit_width
    low = f"((({wide} & {span - 1}) * {power}) & {span - 1})"
    signed = f"CASE WHEN {low} >= {span // 2} THEN {low} - {span} ELSE {low} END"
    if kind == BIGINT:  # the product may need more bits than DuckDB has
        raise does_not_take(name_of_node(node), [value.type, count.type], node)
    return Typed(f"CAST({signed} AS {duckdb_type(kind)})", kind, node)


def _numbers(left: Typed, right: Typed, node: exp.Expr) -> tuple[Typed, Typed]:
    """Both sides, if they are numbers; a NULL is one of the other's kind."""
    types = [left.type, right.type]
    for each in types:
        if not (is_numeric(each) or each == NULL):
            raise does_not_take(name_of_node(node), types, node)
    if left.type == NULL:
        left = cast(left, INT if right.type == NULL else right.type)
    if right.type == NULL:
        right = cast(right, left.type)
    return left, right


def _is_time(data_type: pa.DataType) -> bool:
    return data_type in INTERVALS or pa.types.is_date(data_type) or pa.types.is_timestamp(data_type)


ARITHMETIC: dict[type[exp.Expr], Rule] = {
    exp.Add: _sum, exp.Sub: _sum, exp.Mul: _product, exp.Div: _quotient, exp.Mod: _remainder,
    exp.SafeAdd: _try(_sum), exp.SafeSubtract: _try(_sum), exp.SafeMultiply: _try(_product),
    exp.SafeDivide: _quotient, exp.IntDiv: _whole_quotient, exp.BitwiseAnd: _bits,
    exp.BitwiseOr: _bits, exp.BitwiseXor: _bits, exp.BitwiseNot: _bits_inverted,
    exp.BitwiseLeftShift: _shift, exp.BitwiseRightShift: _shift,
}  # fmt: skip
