"""The type of an expression by Spark's rules."""

from __future__ import annotations

from functools import lru_cache

import duckdb
import pyarrow as pa
from sqlglot import exp

from tidemill.algebra.schema import Schema
from tidemill.algebra.types import UnknownType
from tidemill.expressions.connection import connection
from tidemill.expressions.duckdb_sql import duckdb_type, quoted, reason
from tidemill.expressions.expansion import is_too_large
from tidemill.expressions.functions import Functions
from tidemill.expressions.translate import translate
from tidemill.expressions.typed import INTERVALS, TypeMismatch, too_large


def infer(node: exp.Expr, schema: Schema, functions: Functions) -> pa.DataType:
    """The type of an expression over the columns of a schema.

    >>> from sqlglot import parse_one
    >>> infer(parse_one("LENGTH(name)", read="spark"), Schema.of(name=pa.string()), {})
    DataType(int32)
    >>> infer(parse_one("price * 2", read="spark"), Schema.of(price=pa.decimal128(10, 2)), {})
    Decimal128Type(decimal128(12, 2))
    """
    if isinstance(node, exp.Column):
        return schema[node.name]
    found = translate(node, schema, functions).type
    if found in INTERVALS:
        raise UnknownType("INTERVAL")
    return found


def check(node: exp.Expr, schema: Schema, functions: Functions) -> None:
    """Fail unless DuckDB takes the text of the expression."""
    text = translate(node, schema, functions).sql
    if is_too_large(text):
        raise too_large(node)
    columns = [
        f"CAST(NULL AS {duckdb_type(field.type)}) AS {quoted(field.name)}" for field in schema
    ]
    query = f"SELECT {text} AS result FROM (SELECT {', '.join(columns) or '1 AS dual'})"
    # The names of user functions belong to a thread, so what they answer is not kept.
    (_bind if functions else _bind_once)(query)


def fits(node: exp.Expr, schema: Schema) -> bool:
    """Whether an expression without user functions is not too large to be computed."""
    try:
        return not is_too_large(translate(node, schema, {}).sql)
    except TypeMismatch:
        return False


def _bind(query: str) -> None:
    try:
        connection().sql(query)
    except duckdb.Error as error:
        raise TypeMismatch(reason(error)) from error


_bind_once = lru_cache(maxsize=4096)(_bind)
