"""Arithmetic on decimals: exact, then rounded half up to the digits that Spark gives the result."""

from __future__ import annotations

import pyarrow as pa

from tidemill.expressions.casts import cast
from tidemill.expressions.coercion import decimal_of, fitting
from tidemill.expressions.duckdb_sql import duckdb_type
from tidemill.expressions.typed import Typed

_SHORT = 18


def total(left: Typed, right: Typed, sign: str) -> Typed:
    """The sum or the difference.

    >>> from sqlglot import exp
    >>> price = Typed("p", pa.decimal128(10, 2), exp.null())
    >>> total(price, price, "+").type
    Decimal128Type(decimal128(11, 2))
    """
    one, other = _decimals(left, right)
    (p1, s1), (p2, s2) = _digits(one), _digits(other)
    scale = max(s1, s2)
    kind = fitting(max(p1 - s1, p2 - s2) + scale + 1, scale)
    return left.become(_in(kind, f"{one.sql} {sign} {other.sql}"), kind)


def product(left: Typed, right: Typed) -> Typed:
    """The product.

    >>> from sqlglot import exp
    >>> price = Typed("p", pa.decimal128(10, 2), exp.null())
    >>> product(price, Typed("2", pa.int32(), exp.Literal.number(2))).type
    Decimal128Type(decimal128(12, 2))
    """
    one, other = _decimals(left, right)
    (p1, s1), (p2, s2) = _digits(one), _digits(other)
    kind = fitting(p1 + p2 + 1, s1 + s2)
    if p1 + p2 > _SHORT >= p1:  # DuckDB keeps to 64 bits if both have them
        one = one.become(_in(pa.decimal128(_SHORT + 1, s1), one.sql), one.type)
    return left.become(_in(kind, f"{one.sql} * {other.sql}"), kind)


def quotient(left: Typed, right: Typed) -> Typed:
    """The quotient: DuckDB would divide them as numbers with a fraction."""
    one, other = _decimals(left, right)
    (p1, s1), (p2, s2) = _digits(one), _digits(other)
    scale = max(6, s1 + p2 + 1)
    kind = fitting(p1 - s1 + s2 + scale, scale)
    shift = kind.scale - s1 + s2
    # The caller answers for zero; but of constants DuckDB computes also what is not asked for.
    a, b = _unscaled(one), f"nullif({_unscaled(other)}, 0)"
    if shift < 0:  # too many digits for the result: cut the dividend's own
        b, shift = f"({b} * CAST('1{'0' * -shift}' AS HUGEINT))", 0
    divided = f"spark_divide({a}, {b}, CAST('1{'0' * shift}' AS HUGEINT))"
    return left.become(_scaled(divided, kind), kind)


def remainder(left: Typed, right: Typed) -> Typed:
    """The remainder, which has the sign of the dividend."""
    one, other = _decimals(left, right)
    (p1, s1), (p2, s2) = _digits(one), _digits(other)
    scale = max(s1, s2)
    kind = fitting(min(p1 - s1, p2 - s2) + scale, scale)
    wide = duckdb_type(pa.decimal128(38, scale))
    sql = f"CAST({one.sql} AS {wide}) % CAST({other.sql} AS {wide})"
    return left.become(_in(kind, sql), kind)


def _decimals(left: Typed, right: Typed) -> tuple[Typed, Typed]:
    kinds = decimal_of(left), decimal_of(right)
    assert kinds[0] is not None
    assert kinds[1] is not None
    return cast(left, kinds[0]), cast(right, kinds[1])


def _digits(part: Typed) -> tuple[int, int]:
    return part.type.precision, part.type.scale


def _in(kind: pa.DataType, sql: str) -> str:
    return f"CAST({sql} AS {duckdb_type(kind)})"


def _unscaled(part: Typed) -> str:
    """The digits of a decimal as a whole number."""
    precision, scale = _digits(part)
    if scale == 0:
        return f"CAST({part.sql} AS HUGEINT)"
    if precision + scale < 38:
        return f"CAST({part.sql} * CAST('1{'0' * scale}' AS DECIMAL({scale + 1}, 0)) AS HUGEINT)"
    return f"CAST(replace(CAST({part.sql} AS VARCHAR), '.', '') AS HUGEINT)"


def _scaled(sql: str, kind: pa.DataType) -> str:
    if kind.scale == 0:
        return _in(kind, sql)
    unit = f"CAST('0.{'0' * (kind.scale - 1)}1' AS DECIMAL({kind.scale}, {kind.scale}))"
    return _in(kind, f"CAST({sql} AS DECIMAL(38, 0)) * {unit}")
