"""Expressions on their way to DuckDB: its text, and the type that Spark gives them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pyarrow as pa
from sqlglot import exp

from tidemill.algebra.types import UnknownType, name_of

BOOLEAN: Final = pa.bool_()
INT: Final = pa.int32()
BIGINT: Final = pa.int64()
FLOAT: Final = pa.float32()
DOUBLE: Final = pa.float64()
STRING: Final = pa.string()
BINARY: Final = pa.binary()
DATE: Final = pa.date32()
TIMESTAMP: Final = pa.timestamp("us")
NULL: Final = pa.null()
# Spark tells intervals apart by their fields. No column holds one.
MONTHS: Final = pa.month_day_nano_interval()
DAYS: Final = pa.duration("s")
TIME: Final = pa.duration("us")
INTERVALS: Final = (MONTHS, DAYS, TIME)


class TypeMismatch(ValueError):
    """Why an expression cannot be evaluated, which part of it, and what to do instead."""

    def __init__(self, reason: str, node: exp.Expr | None = None, help: str | None = None) -> None:
        super().__init__(reason)
        self.node = node
        self.help = help


class NotSupported(TypeMismatch):
    """A part of an expression that Spark knows, and Tidemill does not."""


_LONGEST: Final = 1 << 19


def too_large(node: exp.Expr | None = None) -> TypeMismatch:
    """The error of an expression that no one could wait for."""
    help = "nest fewer functions and casts in each other"
    return TypeMismatch("the expression is too large", node, help)


@dataclass(frozen=True)
class Typed:
    """The text by which DuckDB computes an expression, and its type by Spark's rules."""

    sql: str
    type: pa.DataType
    node: exp.Expr

    def __post_init__(self) -> None:
        # The text of a part may occur several times in the text of the whole.
        if len(self.sql) > _LONGEST:
            raise too_large(self.node)

    def become(self, sql: str, data_type: pa.DataType) -> Typed:
        """Another text for the same part of the query."""
        return Typed(sql, data_type, self.node)


def shown(data_type: pa.DataType) -> str:
    """The name of a type in messages, also of those that no column has.

    >>> shown(INT), shown(DAYS)
    ('INT', 'INTERVAL')
    """
    if data_type in INTERVALS:
        return "INTERVAL"
    try:
        return name_of(data_type)
    except UnknownType:
        return str(data_type)


def does_not_take(name: str, types: list[pa.DataType], node: exp.Expr) -> TypeMismatch:
    """The error of a function or operator with arguments of the wrong types.

    >>> does_not_take("ABS", [STRING], exp.null())
    TypeMismatch('`ABS` does not take STRING')
    """
    names = [shown(each) for each in types]
    listed = " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
    help = "convert an argument with CAST(... AS TYPE), or check their number"
    return TypeMismatch(f"`{name}` does not take {listed or 'no arguments'}", node, help)


def quoted_text(text: str) -> str:
    """A text as DuckDB writes it.

    >>> print(quoted_text("it's"))
    'it''s'
    """
    if "\x00" in text:  # DuckDB would stop reading there
        parts = [quoted_text(part) for part in text.split("\x00")]
        return f"({' || chr(0) || '.join(parts)})"
    return "'" + text.replace("'", "''") + "'"


def stop(message: str) -> str:
    """The text that ends the query with a message.

    >>> stop("no")
    "error('no')"
    """
    return f"error({quoted_text(message)})"
