"""The type of an expression: DuckDB's binder, corrected to Spark's rules."""

from __future__ import annotations

from functools import lru_cache

import duckdb
import pyarrow as pa
from sqlglot import exp

from tidemill.algebra.scalar import rewrite
from tidemill.algebra.schema import Schema
from tidemill.algebra.types import name_of, normalize
from tidemill.expressions.connection import connection, register, registered
from tidemill.expressions.duckdb_sql import duckdb_type, quoted, reason, to_duckdb
from tidemill.expressions.functions import Functions, UserFunction

# DuckDB answers BIGINT where Spark answers INT.
_INT_FUNCTIONS = (
    exp.Length, exp.Year, exp.Month, exp.Day, exp.DayOfMonth, exp.DayOfWeek, exp.DayOfYear,
    exp.Hour, exp.Minute, exp.Second, exp.Quarter, exp.WeekOfYear, exp.StrPosition,
    exp.DateDiff, exp.ArraySize,
)  # fmt: skip
_MAX_PRECISION = 38


class TypeMismatch(ValueError):
    """DuckDB's reason why an expression cannot be evaluated."""


def infer(node: exp.Expr, schema: Schema, functions: Functions) -> pa.DataType:
    """The type of an expression over the columns of a schema.

    >>> from sqlglot import parse_one
    >>> infer(parse_one("LENGTH(name)", read="spark"), Schema.of(name=pa.string()), {})
    DataType(int32)
    >>> infer(parse_one("price * 2", read="spark"), Schema.of(price=pa.decimal128(10, 2)), {})
    Decimal128Type(decimal128(21, 2))
    """
    node = node.unnest()
    if isinstance(node, exp.Column):
        return schema[node.name]
    if isinstance(node, exp.Anonymous) and node.name.lower() in functions:
        register_calls(node, schema, functions)
        return functions[node.name.lower()].type
    if isinstance(node, _INT_FUNCTIONS):
        bound_type(node, schema, functions)
        return pa.int32()
    bound = bound_type(node, schema, functions)
    if pa.types.is_integer(bound):  # there is no decimal in it
        return bound
    if isinstance(node, (exp.Add, exp.Sub, exp.Mul, exp.Div)):
        sides = [infer(side, schema, functions) for side in (node.left, node.right)]
        return _decimal_arithmetic(node, *sides) or bound
    return bound


def bound_type(node: exp.Expr, schema: Schema, functions: Functions) -> pa.DataType:
    """The type that DuckDB gives the expression."""
    replaced = register_calls(node, schema, functions)
    columns = [
        f"CAST(NULL AS {duckdb_type(field.type)}) AS {quoted(field.name)}" for field in schema
    ]
    source = f"(SELECT {', '.join(columns) or '1 AS dual'})"
    query = f"SELECT {to_duckdb(replaced)} AS result FROM {source} LIMIT 0"
    # The names of user functions belong to a thread, so what they answer is not cached.
    return _described(query) if functions else _described_once(query)


def _described(query: str) -> pa.DataType:
    try:
        table = connection().sql(query).to_arrow_table()
    except duckdb.Error as error:
        raise TypeMismatch(reason(error)) from error
    return normalize(table.schema.field(0).type)


_described_once = lru_cache(maxsize=4096)(_described)


def register_calls(node: exp.Expr, schema: Schema, functions: Functions) -> exp.Expr:
    """Give every call of a user function the name under which DuckDB knows it."""

    def swap(call: exp.Expr) -> exp.Expr:
        if not isinstance(call, exp.Anonymous) or call.name.lower() not in functions:
            return call
        function = functions[call.name.lower()]
        arguments = [_argument_type(part, schema, functions) for part in call.expressions]
        pairs = zip(call.expressions, arguments, strict=True)
        parts = [_in_type(part, kind) for part, kind in pairs]
        return exp.Anonymous(this=register(function, arguments), expressions=parts)

    return rewrite(node, swap)


def _in_type(node: exp.Expr, kind: pa.DataType) -> exp.Expr:
    """An argument in its type by Spark's rules, which DuckDB may see differently."""
    if isinstance(node, exp.Column):
        return node.copy()
    sql_type = exp.DataType.build(name_of(kind), dialect="spark")
    return exp.Cast(this=node.copy(), to=sql_type)


def _argument_type(node: exp.Expr, schema: Schema, functions: Functions) -> pa.DataType:
    found = infer(node, schema, _known(functions))
    return pa.int32() if pa.types.is_null(found) else found


def _known(functions: Functions) -> Functions:
    """User functions, also under the names that nested calls were already given."""
    known: dict[str, UserFunction] = dict(functions)
    known.update(registered())
    return known


def _decimal_arithmetic(
    node: exp.Expr, left: pa.DataType, right: pa.DataType
) -> pa.DataType | None:
    """Spark's precision and scale for arithmetic on decimals; None if there is no decimal."""
    if not (pa.types.is_decimal(left) or pa.types.is_decimal(right)):
        return None
    sides = [_as_decimal(left), _as_decimal(right)]
    if sides[0] is None or sides[1] is None:
        return None
    (p1, s1), (p2, s2) = sides[0], sides[1]
    if isinstance(node, exp.Mul):
        precision, scale = p1 + p2 + 1, s1 + s2
    elif isinstance(node, exp.Div):
        scale = max(6, s1 + p2 + 1)
        precision = p1 - s1 + s2 + scale
    else:
        scale = max(s1, s2)
        precision = max(p1 - s1, p2 - s2) + scale + 1
    return _fitting(precision, scale)


def _fitting(precision: int, scale: int) -> pa.DataType:
    """Cut a decimal to 38 digits, sparing the digits before the point."""
    if precision <= _MAX_PRECISION:
        return pa.decimal128(precision, scale)
    whole = precision - scale
    return pa.decimal128(_MAX_PRECISION, max(_MAX_PRECISION - whole, min(scale, 6)))


def _as_decimal(data_type: pa.DataType) -> tuple[int, int] | None:
    if pa.types.is_decimal(data_type):
        return data_type.precision, data_type.scale
    if pa.types.is_integer(data_type):
        return {8: 3, 16: 5, 32: 10, 64: 20}[data_type.bit_width], 0
    return None
