"""Functions of numbers."""

from __future__ import annotations

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra.types import is_numeric
from tidemill.expressions.casts import cast
from tidemill.expressions.coercion import fitting
from tidemill.expressions.duckdb_sql import duckdb_type
from tidemill.expressions.translate import Rule, Translator, constant_number, simple
from tidemill.expressions.typed import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    FLOAT,
    INT,
    STRING,
    NotSupported,
    Typed,
    TypeMismatch,
    does_not_take,
    stop,
)  # fmt: skip

_MOST_DIGITS = 15


def _number(parts: Translator, node: exp.Expr, name: str) -> Typed:
    found = parts.of(node.this)
    if not is_numeric(found.type):
        raise does_not_take(name, [found.type], node)
    return found


def _absolute(parts: Translator, node: exp.Expr) -> Typed:
    found = _number(parts, node, "ABS")
    if pa.types.is_integer(found.type):  # else the least number would become a wider one
        return Typed(f"CAST(abs({found.sql}) AS {duckdb_type(found.type)})", found.type, node)
    return Typed(f"abs({found.sql})", found.type, node)


def _rounded(parts: Translator, node: exp.Expr) -> Typed:
    found = _number(parts, node, "ROUND")
    digits = constant_number(node.args.get("decimals"), "the number of digits")
    if pa.types.is_decimal(found.type):
        return _rounded_decimal(found, digits, node)
    if pa.types.is_integer(found.type):
        sql = found.sql if digits >= 0 else _rounded_whole(found, digits)
        return Typed(sql, found.type, node)
    if abs(digits) > _MOST_DIGITS:
        raise TypeMismatch(
            f"ROUND takes at most {_MOST_DIGITS} digits", node, "round to fewer digits"
        )
    if found.type == FLOAT:
        return Typed(f"CAST(spark_round({found.sql}, {digits}) AS FLOAT)", FLOAT, node)
    return Typed(f"spark_round({found.sql}, {digits})", DOUBLE, node)


def _rounded_whole(found: Typed, digits: int) -> str:
    by = f"CAST('1{'0' * min(-digits, 20)}' AS HUGEINT)"
    wide = f"CAST({found.sql} AS HUGEINT)"
    return (
        f"CAST(spark_divide({wide}, {by}, CAST(1 AS HUGEINT)) * {by} AS {duckdb_type(found.type)})"
    )


def _rounded_decimal(found: Typed, digits: int, node: exp.Expr) -> Typed:
    precision, scale = found.type.precision, found.type.scale
    whole = precision - scale + 1
    if digits < 0:
        kind = fitting(max(whole, -digits + 1), 0)
    else:
        kind = fitting(whole + min(scale, digits), min(scale, digits))
    sql = f"round({found.sql}, {digits})" if digits < scale else found.sql
    return Typed(f"CAST({sql} AS {duckdb_type(kind)})", kind, node)


def _step(name: str) -> Rule:
    """FLOOR and CEIL: of a decimal another decimal, of other numbers a whole number."""

    def rule(parts: Translator, node: exp.Expr) -> Typed:
        found = _number(parts, node, name.upper())
        digits = node.args.get("decimals")
        if digits is not None:
            raise NotSupported(f"{name.upper()} to a digit", node, "use ROUND, or multiply first")
        if pa.types.is_integer(found.type):
            return Typed(f"CAST({found.sql} AS BIGINT)", BIGINT, node)
        if not pa.types.is_decimal(found.type):
            return Typed(f"spark_whole({name}({found.sql}))", BIGINT, node)
        kind = fitting(found.type.precision - found.type.scale + 1, 0)
        return Typed(f"CAST({name}({found.sql}) AS {duckdb_type(kind)})", kind, node)

    return rule


def _not_a_number(parts: Translator, node: exp.Expr) -> Typed:
    found = _number(parts, node, "ISNAN")
    sql = f"coalesce(isnan(CAST({found.sql} AS DOUBLE)), FALSE)"
    return Typed(sql, BOOLEAN, node)


def _logarithm(parts: Translator, node: exp.Expr) -> Typed:
    """A number that is not above zero has none: NULL, where DuckDB has -Infinity or NaN."""
    if not node.expression:
        value = parts.arg(node.this, DOUBLE, node).sql
        return Typed(f"CASE WHEN {value} > 0 THEN ln({value}) END", DOUBLE, node)
    base, value = (parts.arg(each, DOUBLE, node).sql for each in (node.this, node.expression))
    sql = f"CASE WHEN {base} > 0 AND {value} > 0 THEN ln({value}) / ln({base}) END"
    names = {"2": "log2", "10": "log10"}
    if (name := names.get(node.this.name)) and isinstance(node.this, exp.Literal):
        sql = f"CASE WHEN {value} > 0 THEN {name}({value}) END"
    return Typed(sql, DOUBLE, node)


def _sign(parts: Translator, node: exp.Expr) -> Typed:
    value = parts.arg(node.this, DOUBLE, node).sql
    return Typed(f"spark_sign({value})", DOUBLE, node)


def _nanvl(parts: Translator, node: exp.Expr) -> Typed:
    one, other = (parts.arg(each, DOUBLE, node).sql for each in (node.this, node.expression))
    if parts.of(node.this).type == FLOAT:
        raise does_not_take("NANVL", [FLOAT, parts.of(node.expression).type], node)
    return Typed(f"CASE WHEN isnan({one}) THEN {other} ELSE {one} END", DOUBLE, node)


def _of_double(template: str, count: int = 1) -> Rule:
    return simple(template, [DOUBLE] * count, DOUBLE)


def _positive_rest(parts: Translator, node: exp.Expr) -> Typed:
    """PMOD: the rest of a division, between zero and the divisor."""
    if len(node.expressions) != 2:
        raise does_not_take("PMOD", [parts.of(each).type for each in node.expressions], node)
    value, by = node.expressions
    rest = parts.of(exp.Mod(this=_closed(value), expression=_closed(by)))
    divisor, kind = cast(parts.of(by), rest.type).sql, duckdb_type(rest.type)
    more = f"CAST({rest.sql} + {divisor} AS {kind})"
    sql = f"CASE WHEN {rest.sql} < 0 AND {divisor} > 0 THEN {more} ELSE {rest.sql} END"
    return Typed(sql, rest.type, node)


def _closed(node: exp.Expr) -> exp.Expr:
    return exp.Paren(this=node.copy())


def _positive(parts: Translator, node: exp.Expr) -> Typed:
    if len(node.expressions) != 1:
        raise does_not_take("POSITIVE", [parts.of(each).type for each in node.expressions], node)
    return _number(parts, exp.Neg(this=node.expressions[0]), "POSITIVE")


def _bit(parts: Translator, node: exp.Expr) -> Typed:
    found, place = parts.of(node.this), parts.arg(node.expression, INT, node).sql
    if not pa.types.is_integer(found.type):
        raise does_not_take("GETBIT", [found.type], node)
    value, width = cast(found, BIGINT).sql, found.type.bit_width
    sql = (
        f"CASE WHEN {place} < 0 OR {place} >= {width} THEN {stop('there is no such bit')}"
        f" WHEN {place} = 63 THEN CAST({value} < 0 AS TINYINT)"
        f" ELSE CAST(({value} & (CAST(1 AS BIGINT) << {place})) <> 0 AS TINYINT) END"
    )
    return Typed(sql, pa.int8(), node)


NAMED: dict[str, Rule] = {
    "pmod": _positive_rest,
    "bin": simple("bin({0})", [BIGINT], STRING),
    "log1p": _of_double("spark_log1p({0})"),
    "expm1": _of_double("spark_expm1({0})"),
    "hypot": _of_double("spark_hypot({0}, {1})", 2),
    "positive": _positive,
}

RULES: dict[type[exp.Expr], Rule] = {
    exp.Abs: _absolute,
    exp.Round: _rounded,
    exp.Floor: _step("floor"),
    exp.Ceil: _step("ceil"),
    exp.Sign: _sign,
    exp.IsNan: _not_a_number,
    exp.Nanvl: _nanvl,
    exp.Pow: _of_double("pow({0}, {1})", 2),
    exp.Sqrt: _of_double("sqrt({0})"),
    exp.Cbrt: _of_double("cbrt({0})"),
    exp.Exp: _of_double("exp({0})"),
    exp.Ln: _logarithm,
    exp.Log: _logarithm,
    exp.Pi: _of_double("pi()", 0),
    exp.Rint: _of_double("spark_rint({0})"),
    exp.Sin: _of_double("sin({0})"),
    exp.Cos: _of_double("cos({0})"),
    exp.Tan: _of_double("tan({0})"),
    exp.Asin: _of_double("asin({0})"),
    exp.Acos: _of_double("acos({0})"),
    exp.Atan: _of_double("atan({0})"),
    exp.Atan2: _of_double("atan2({0} + 0.0, {1} + 0.0)", 2),
    exp.Asinh: _of_double("asinh({0})"),
    exp.Acosh: _of_double("acosh({0})"),
    exp.Atanh: _of_double("atanh({0})"),
    exp.Getbit: _bit,
    exp.BitmapBitPosition: simple(
        "CASE WHEN {0} > 0 THEN ({0} - 1) % 32768 ELSE -({0} % 32768) END", [BIGINT], BIGINT
    ),
    exp.BitmapBucketNumber: simple(
        "CASE WHEN {0} > 0 THEN ({0} - 1) // 32768 + 1 ELSE {0} // 32768 END", [BIGINT], BIGINT
    ),
    exp.WidthBucket: simple(
        "spark_bucket({0}, {1}, {2}, {3})", [DOUBLE, DOUBLE, DOUBLE, BIGINT], BIGINT
    ),
    exp.Sinh: _of_double("sinh({0})"),
    exp.Cosh: _of_double("cosh({0})"),
    exp.Tanh: _of_double("tanh({0})"),
    exp.Cot: _of_double("(1 / tan({0}))"),
    exp.Csc: _of_double("(1 / sin({0}))"),
    exp.Sec: _of_double("(1 / cos({0}))"),
    exp.Factorial: simple(
        "CASE WHEN {0} BETWEEN 0 AND 20 THEN CAST(factorial({0}) AS BIGINT) END", [INT], BIGINT
    ),
    exp.Degrees: _of_double("degrees({0})"),
    exp.Radians: _of_double("radians({0})"),
    exp.BitwiseCount: simple("CAST(bit_count({0}) AS INT)", [BIGINT], INT),
}
