"""Columns, values, functions and conditions to make expressions of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from tidemill.errors import SqlSyntaxError, TidemillError
from tidemill.sql import parse_one
from tidemill.table.expressions import Expr
from tidemill.table.names import column_named
from tidemill.table.trees import Column, Value, columns_of, order_of, query_of, value_of

__all__ = [
    "Functions",
    "all_of",
    "any_of",
    "avg",
    "case",
    "col",
    "count",
    "exists",
    "expr",
    "fn",
    "lit",
    "max",
    "min",
    "sum",
]


def col(name: str) -> Expr:
    """A column by its name, with that of its table if need be: `"b.price"`.

    >>> col("b.price") > 10
    Expr('b.price > 10')
    """
    return Expr(column_named(name))


def lit(value: Any) -> Expr:
    """A value of Python as a literal of its type.

    >>> lit("hall")
    Expr("'hall'")
    """
    return Expr(value_of(value))


def expr(text: str) -> Expr:
    """An expression as SQL writes it.

    >>> expr("CASE WHEN price > 10 THEN 1 END")
    Expr('CASE WHEN price > 10 THEN 1 END')
    """
    tree = parse_one(f"SELECT {text}").tree
    parts = [key for key, part in tree.args.items() if part] if isinstance(tree, exp.Select) else []
    if parts != ["expressions"] or len(tree.expressions) != 1:
        help = "write one expression, such as expr('price * 2')"
        raise SqlSyntaxError(f"expected one expression, found `{text}`", help=help)
    return Expr(tree.expressions[0])


def case(*branches: tuple[Expr, Value], otherwise: Value = None) -> Expr:
    """The value of the first branch whose condition is true.

    >>> case((col("price") > 10, "dear"), otherwise="cheap")
    Expr("CASE WHEN price > 10 THEN 'dear' ELSE 'cheap' END")
    """
    if not branches:
        help = "write case((condition, value), ..., otherwise=value)"
        raise TidemillError("a case without branches", help=help)
    ifs = [exp.If(this=value_of(when), true=value_of(then)) for when, then in branches]
    return Expr(exp.Case(ifs=ifs, default=None if otherwise is None else value_of(otherwise)))


class Functions:
    """Every function of the language, and those of your own, by name; see `fn`."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # what Python and notebooks ask every object for
            raise AttributeError(name)
        return lambda *arguments, **clauses: _call(name.rstrip("_"), arguments, **clauses)


fn = Functions()
"""Functions by name: `fn.upper("item")`; a text is the name of a column, `lit("x")` a value.

Aggregates take `distinct=True`, and those that make lists `order_by=`. Names that Python keeps for
itself end in an underscore: `fn.if_(...)`.

>>> fn.upper("item"), fn.date_trunc(lit("HOUR"), "ts")
(Expr('UPPER(item)'), Expr("DATE_TRUNC('HOUR', ts)"))
"""


def _call(
    name: str,
    arguments: Sequence[Column],
    distinct: bool = False,
    order_by: Column | Sequence[Column] = (),
) -> Expr:
    trees = columns_of(arguments)
    if distinct:
        trees = [exp.Distinct(expressions=trees)]
    keys = order_by if isinstance(order_by, list | tuple) else (order_by,)
    if keys:
        ordered = order_of(keys)
        ordered.set("this", trees[-1])
        trees[-1] = ordered
    return Expr(exp.Anonymous(this=name.upper(), expressions=trees))


def count(*columns: Column, distinct: bool = False) -> Expr:
    """The number of rows, or of those with a value in all of some columns.

    >>> count(), count("item", distinct=True)
    (Expr('COUNT(*)'), Expr('COUNT(DISTINCT item)'))
    """
    return _call("count", columns or ("*",), distinct)


def sum(column: Column, distinct: bool = False) -> Expr:
    """The sum of the values."""
    return _call("sum", (column,), distinct)


def avg(column: Column, distinct: bool = False) -> Expr:
    """The mean of the values."""
    return _call("avg", (column,), distinct)


def min(column: Column) -> Expr:
    """The smallest value."""
    return _call("min", (column,))


def max(column: Column) -> Expr:
    """The largest value."""
    return _call("max", (column,))


def exists(table: Any) -> Expr:
    """Whether a table has a row; it may name columns of the table around it."""
    return Expr(exp.Exists(this=query_of(table)))


def any_of(table: Any) -> Expr:
    """Some row of a table with one column: `col("price") > any_of(asks)`."""
    return Expr(exp.Any(this=query_of(table)))


def all_of(table: Any) -> Expr:
    """Every row of a table with one column: `col("price") > all_of(asks)`."""
    return Expr(exp.All(this=query_of(table)))
