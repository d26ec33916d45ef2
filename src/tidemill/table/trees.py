"""The syntax trees of what stands in expressions: values, names of columns, tables."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any

from sqlglot import exp

from tidemill.errors import TidemillError
from tidemill.sql.parameters import literal
from tidemill.table.names import column_named
from tidemill.table.precedence import CONJUNCTION, operand

__all__ = [
    "Column",
    "Tree",
    "Value",
    "columns_of",
    "conjunction",
    "order_of",
    "ordered",
    "query_of",
    "tree_of",
    "value_of",
]

Value = Any
"""An expression, or a value of Python that becomes a literal of its type."""

Column = Any
"""An expression, the name of a column, or a value that is not a text."""


@dataclass(frozen=True, eq=False, repr=False)
class Tree:
    """What has a syntax tree already."""

    tree: exp.Expr


def value_of(value: Value) -> exp.Expr:
    """The tree of an operand: a text is a value."""
    if isinstance(value, Tree):
        return value.tree.copy()
    try:
        return literal(value)
    except ValueError as error:
        raise TidemillError(str(error).replace("a parameter", "a value")) from None


def tree_of(column: Column) -> exp.Expr:
    """The tree of what stands where a column is expected: a text is its name."""
    return column_named(column) if isinstance(column, str) else value_of(column)


def columns_of(columns: Iterable[Column]) -> list[exp.Expr]:
    """The trees of several columns."""
    return [tree_of(column) for column in columns]


def conjunction(*conditions: exp.Expr) -> exp.Expr:
    """Conditions that all must be true."""
    if not conditions:
        raise TidemillError("there is no condition", help='write for example col("price") > 10')
    return reduce(_both, conditions)


def _both(left: exp.Expr, right: exp.Expr) -> exp.Expr:
    return exp.And(this=operand(left, CONJUNCTION), expression=operand(right, CONJUNCTION))


def ordered(tree: exp.Expr, desc: bool = False, nulls: str = "first") -> exp.Ordered:
    """A key of an order."""
    return exp.Ordered(this=tree.copy(), desc=desc, nulls_first=nulls == "first")


def order_of(keys: Iterable[Column]) -> exp.Order:
    """ORDER BY some keys, each ascending unless it says otherwise."""
    trees = (tree_of(key) for key in keys)
    terms = [tree if isinstance(tree, exp.Ordered) else ordered(tree) for tree in trees]
    return exp.Order(expressions=terms)


def query_of(table: Any) -> exp.Expr:
    """The query of a table, to stand inside of another."""
    tree = getattr(table, "statement_tree", None)
    if not isinstance(tree, exp.Expr):
        raise TidemillError(f"expected a table, found {table!r}", help="engine.table('bid')")
    return tree
