"""Constants, operators and conditions."""

from __future__ import annotations

import re

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra.types import from_sql, is_numeric, name_of
from tidemill.expressions.arithmetic import ARITHMETIC
from tidemill.expressions.casts import cast
from tidemill.expressions.coercion import shared_type
from tidemill.expressions.duckdb_sql import duckdb_type
from tidemill.expressions.lists import in_list
from tidemill.expressions.translate import Rule, Translator, name_of_node
from tidemill.expressions.typed import (
    BINARY,
    BOOLEAN,
    DOUBLE,
    INT,
    NULL,
    STRING,
    NotSupported,
    Typed,
    TypeMismatch,
    does_not_take,
    quoted_text,
    shown,
)  # fmt: skip

_SIGNS: dict[type[exp.Expr], str] = {
    exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=",
    exp.NullSafeEQ: "IS NOT DISTINCT FROM", exp.NullSafeNEQ: "IS DISTINCT FROM",
    exp.EqualNull: "IS NOT DISTINCT FROM",
}  # fmt: skip
_FEW_CHOICES = 4
"""Of more, DuckDB makes a table."""

_LONG_NUMBER = 20
"""Digits that no BIGINT has. Python does not even read numbers of some thousands."""

# Names of dates, which Spark knows.
_MOVING = frozenset({"now", "today", "yesterday", "tomorrow", "epoch"})


def _literal(_: Translator, node: exp.Expr) -> Typed:
    assert isinstance(node, exp.Literal)
    return number(node, "") if not node.is_string else Typed(quoted_text(node.this), STRING, node)


def number(node: exp.Literal, sign: str) -> Typed:
    """A number as Spark reads it: whole if it has no point, a decimal if it has no exponent.

    >>> number(exp.Literal.number("0.10"), "-").type
    Decimal128Type(decimal128(2, 2))
    """
    text = node.name
    if re.search("[eE]", text):
        return Typed(f"CAST({sign}{text} AS DOUBLE)", DOUBLE, node)
    whole, _, fraction = text.partition(".")
    if "." not in text and len(text.lstrip("0")) < _LONG_NUMBER:
        value = int(sign + (text.lstrip("0") or "0"))
        for kind, bits, name in ((INT, 31, "INT"), (pa.int64(), 63, "BIGINT")):
            if -(2**bits) <= value < 2**bits:
                return Typed(f"CAST({value} AS {name})", kind, node)
    scale = len(fraction)
    precision = max(len((whole + fraction).lstrip("0")), scale, 1)
    if precision > 38:
        raise TypeMismatch("a number has at most 38 digits", node, "write it as 1e39")
    digits = f"'{sign}{text}'"
    return Typed(
        f"CAST({digits} AS DECIMAL({precision}, {scale}))", pa.decimal128(precision, scale), node
    )


def _null(_: Translator, node: exp.Expr) -> Typed:
    return Typed("NULL", NULL, node)


def _boolean(_: Translator, node: exp.Expr) -> Typed:
    return Typed("TRUE" if node.this else "FALSE", BOOLEAN, node)


def _raw(_: Translator, node: exp.Expr) -> Typed:
    return Typed(quoted_text(node.this), STRING, node)


def _bytes(_: Translator, node: exp.Expr) -> Typed:
    return Typed(f"unhex('{node.this}')", BINARY, node)


def _paren(parts: Translator, node: exp.Expr) -> Typed:
    return parts.of(node.this)


def _cast(parts: Translator, node: exp.Expr) -> Typed:
    to = node.args["to"]
    if isinstance(node.this, exp.Array) and not node.this.expressions:
        return _empty_array(node, from_sql(to))
    found = parts.of(node.this)
    if node.this.is_string and node.this.name.strip().lower() in _MOVING:
        raise NotSupported(f"the date `{node.this.name}`", node, "write the date: '2024-12-31'")
    try:
        done = cast(found, from_sql(to), safe=isinstance(node, exp.TryCast))
    except TypeMismatch as mismatch:
        raise TypeMismatch(str(mismatch), node, mismatch.help) from None
    return Typed(done.sql, done.type, node)


def _empty_array(node: exp.Expr, to: pa.DataType) -> Typed:
    """An array without elements has a type only by a CAST."""
    if not pa.types.is_list(to):
        raise TypeMismatch(f"cannot cast an array to {name_of(to)}", node, "CAST it to an ARRAY")
    return Typed(f"CAST([] AS {duckdb_type(to)})", to, node)


def _compared(parts: Translator, node: exp.Expr) -> Typed:
    left, right = parts.of(node.this), parts.of(node.expression)
    one, other = _comparable([left, right], node)
    return Typed(f"({one} {_SIGNS[type(node)]} {other})", BOOLEAN, node)


def _comparable(sides: list[Typed], node: exp.Expr) -> list[str]:
    shared = shared_type(sides, node)
    return [cast(side, shared).sql for side in sides]


def _between(parts: Translator, node: exp.Expr) -> Typed:
    value = parts.of(node.this)
    low, high = parts.of(node.args["low"]), parts.of(node.args["high"])
    a, b = _comparable([value, low], node)
    c, d = _comparable([value, high], node)
    return Typed(f"({a} >= {b} AND {c} <= {d})", BOOLEAN, node)


def _in(parts: Translator, node: exp.Expr) -> Typed:
    if node.args.get("query") is not None or not node.expressions:
        raise NotSupported("", node)
    if len(node.expressions) > _FEW_CHOICES and (found := in_list(parts, node)) is not None:
        return found
    sides = [parts.of(each) for each in (node.this, *node.expressions)]
    value, *choices = _comparable(sides, node)
    return Typed(f"({value} IN ({', '.join(choices)}))", BOOLEAN, node)


def _is(parts: Translator, node: exp.Expr) -> Typed:
    value, other = parts.of(node.this), node.expression
    if isinstance(other, exp.Null):
        return Typed(f"({value.sql} IS NULL)", BOOLEAN, node)
    if value.type not in (BOOLEAN, NULL):
        raise does_not_take("IS", [value.type], node)
    truth = parts.of(other).sql
    return Typed(f"({cast(value, BOOLEAN).sql} IS NOT DISTINCT FROM {truth})", BOOLEAN, node)


def _joined(parts: Translator, node: exp.Expr) -> Typed:
    sides = [_truth(parts, side, node) for side in (node.this, node.expression)]
    return Typed(f"({sides[0]} {node.key.upper()} {sides[1]})", BOOLEAN, node)


def _not(parts: Translator, node: exp.Expr) -> Typed:
    return Typed(f"(NOT {_truth(parts, node.this, node)})", BOOLEAN, node)


def _truth(parts: Translator, node: exp.Expr, around: exp.Expr) -> str:
    found = parts.of(node)
    if found.type not in (BOOLEAN, NULL):
        raise does_not_take(name_of_node(around), [found.type], around)
    return cast(found, BOOLEAN).sql


def _case(parts: Translator, node: exp.Expr) -> Typed:
    branches = node.args["ifs"]
    default = node.args.get("default") or exp.null()
    values, shared = parts.together([*(each.args["true"] for each in branches), default], node)
    tests = [_test(parts, node, branch) for branch in branches]
    pairs = zip(tests, values[:-1], strict=True)
    whens = " ".join(f"WHEN {test} THEN {value.sql}" for test, value in pairs)
    return Typed(f"CASE {whens} ELSE {values[-1].sql} END", shared, node)


def _test(parts: Translator, node: exp.Expr, branch: exp.Expr) -> str:
    if node.this is None:
        return _truth(parts, branch.this, node)
    one, other = _comparable([parts.of(node.this), parts.of(branch.this)], branch)
    return f"{one} = {other}"


def _if(parts: Translator, node: exp.Expr) -> Typed:
    otherwise = node.args.get("false") or exp.null()
    values, shared = parts.together([node.args["true"], otherwise], node)
    test = _truth(parts, node.this, node)
    return Typed(f"CASE WHEN {test} THEN {values[0].sql} ELSE {values[1].sql} END", shared, node)


def _nvl2(parts: Translator, node: exp.Expr) -> Typed:
    values, shared = parts.together([node.args["true"], node.args["false"]], node)
    test = f"{parts.of(node.this).sql} IS NOT NULL"
    return Typed(f"CASE WHEN {test} THEN {values[0].sql} ELSE {values[1].sql} END", shared, node)


def _several(name: str) -> Rule:
    def rule(parts: Translator, node: exp.Expr) -> Typed:
        values, shared = parts.together([node.this, *node.expressions], node)
        if name != "coalesce" and (pa.types.is_nested(shared) or len(values) < 2):
            raise does_not_take(name.upper(), [each.type for each in values], node)
        return Typed(f"{name}({', '.join(each.sql for each in values)})", shared, node)

    return rule


def _nullif(parts: Translator, node: exp.Expr) -> Typed:
    value, other = parts.of(node.this), parts.of(node.expression)
    one, two = _comparable([value, other], node)
    return Typed(f"CASE WHEN {one} = {two} THEN NULL ELSE {value.sql} END", value.type, node)


def _negative(parts: Translator, node: exp.Expr) -> Typed:
    inner = node.this.unnest()
    if isinstance(inner, exp.Literal) and not inner.is_string and inner is node.this:
        found = number(inner, "-")
        return Typed(found.sql, found.type, node)
    found = parts.of(node.this)
    if found.type in (NULL, STRING) or not (
        is_numeric(found.type) or pa.types.is_duration(found.type)
    ):
        raise does_not_take("-", [found.type], node)
    if pa.types.is_integer(found.type):  # else the least number would become a wider one
        return found.become(f"(CAST(0 AS {shown(found.type)}) - {found.sql})", found.type)
    return found.become(f"(-{found.sql})", found.type)


RULES: dict[type[exp.Expr], Rule] = {
    exp.Literal: _literal, exp.Null: _null, exp.Boolean: _boolean, exp.RawString: _raw,
    exp.HexString: _bytes, exp.Paren: _paren, exp.Cast: _cast, exp.TryCast: _cast,
    exp.Between: _between, exp.In: _in, exp.Is: _is, exp.And: _joined, exp.Or: _joined,
    exp.Not: _not, exp.Case: _case, exp.If: _if, exp.Nvl2: _nvl2, exp.Nullif: _nullif,
    exp.Coalesce: _several("coalesce"), exp.Greatest: _several("greatest"),
    exp.Least: _several("least"), exp.Neg: _negative, exp.Negative: _negative,
    **dict.fromkeys(_SIGNS, _compared), **ARITHMETIC,
}  # fmt: skip
