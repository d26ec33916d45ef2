"""Translate expressions from Spark's SQL to DuckDB's, keeping Spark's meaning."""

from __future__ import annotations

import re

import pyarrow as pa
from sqlglot import exp
from sqlglot.expressions import DType

from tidemill.algebra.promises import spelled_out
from tidemill.algebra.scalar import rewrite
from tidemill.algebra.types import name_of

_TIMESTAMPS = (DType.TIMESTAMPTZ, DType.TIMESTAMPLTZ)


def to_duckdb(node: exp.Expr) -> str:
    """The DuckDB text of an expression.

    >>> from sqlglot import parse_one
    >>> to_duckdb(parse_one("a / 2", read="spark"))
    "CASE WHEN 2 = 0 THEN ERROR('division by zero') ELSE a / 2 END"
    """
    return rewrite(spelled_out(node), _adapt).sql(dialect="duckdb")


def duckdb_type(data_type: pa.DataType) -> str:
    """The DuckDB name of a column type.

    >>> duckdb_type(pa.list_(pa.int32())), duckdb_type(pa.timestamp("us"))
    ('INT[]', 'TIMESTAMP')
    """
    sql_type = exp.DataType.build(name_of(data_type), dialect="spark")
    return rewrite(sql_type, _without_time_zone).sql(dialect="duckdb")


def quoted(name: str) -> str:
    """A column name as DuckDB takes it literally.

    >>> print(quoted('a"b'))
    "a""b"
    """
    return exp.to_identifier(name, quoted=True).sql(dialect="duckdb")


def reason(error: Exception) -> str:
    """What DuckDB complains about, in one line.

    >>> reason(ValueError("Invalid Input Error: division by zero"))
    'division by zero'
    """
    return re.sub(r"^([A-Z][A-Za-z]* )+Error: ", "", str(error).splitlines()[0])


def _adapt(node: exp.Expr) -> exp.Expr:
    if isinstance(node, (exp.Div, exp.Mod, exp.IntDiv)):
        return _checked_division(node)
    if isinstance(node, exp.SafeDivide):
        division = exp.Div(this=node.this.copy(), expression=node.expression.copy(), safe=False)
        return _unless_zero(node.expression, exp.null(), division)
    if isinstance(node, exp.Anonymous) and node.name.upper() == "RAISE_ERROR":
        return exp.Anonymous(this="ERROR", expressions=node.expressions)
    return _without_time_zone(node)


def _without_time_zone(node: exp.Expr) -> exp.Expr:
    # The session's time zone is UTC, so both kinds of timestamp hold the same microseconds.
    if isinstance(node, exp.DataType) and node.this in _TIMESTAMPS:
        return exp.DataType(this=DType.TIMESTAMP)
    return node


def _checked_division(node: exp.Div | exp.Mod | exp.IntDiv) -> exp.Expr:
    """DuckDB answers NULL to a division by zero; Spark stops."""
    if isinstance(node, exp.Div):
        node.set("safe", False)  # else sqlglot would guard it with NULLIF
    error = exp.Anonymous(this="ERROR", expressions=[exp.Literal.string("division by zero")])
    return _unless_zero(node.expression, error, node.copy())


def _unless_zero(divisor: exp.Expr, answer: exp.Expr, division: exp.Expr) -> exp.Expr:
    zero = exp.EQ(this=divisor.copy(), expression=exp.Literal.number(0))
    return exp.Case(ifs=[exp.If(this=zero, true=answer)], default=division)
