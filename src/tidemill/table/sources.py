"""What a table begins with: a name, rows that are spelled out, a list, or a piece of SQL."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from tidemill.errors import SqlSyntaxError, TidemillError
from tidemill.sql import parse_one
from tidemill.table.blocks import block, is_bare
from tidemill.table.names import identifier
from tidemill.table.table import TableExpr
from tidemill.table.trees import Column, Value, tree_of, value_of

__all__ = ["named_table", "table_expr", "unnest", "values"]


def named_table(name: str) -> TableExpr:
    """A stream, relation, view or query by its name.

    >>> named_table("bid").select("item").sql
    'SELECT item FROM bid'
    """
    return TableExpr(block(exp.Table(this=identifier(name))))


def table_expr(text: str) -> TableExpr:
    """A query, or an entry of FROM, as SQL writes it.

    >>> table_expr("OBJECTS(bid, ask BY item)").sql
    'SELECT * FROM OBJECTS(bid, ask BY item)'
    """
    words = text.split(maxsplit=1)
    is_query = words and words[0].upper() in ("SELECT", "WITH")
    tree = parse_one(text if is_query else f"SELECT * FROM {text}").tree
    if not isinstance(tree, exp.Query) or not (is_query or is_bare(tree)):
        help = "write SELECT ..., or what may stand in FROM"
        raise SqlSyntaxError(f"expected a query or a table, found `{text}`", help=help)
    return TableExpr(tree)


def unnest(column: Column, ordinality: bool = False) -> TableExpr:
    """A row for each element of a list; `.alias("u", "word")` names it and its columns.

    >>> named_table("bid").join(unnest("tags").alias("u", "tag"), how="cross").sql
    'SELECT * FROM bid CROSS JOIN UNNEST(tags) AS u(tag)'
    """
    return TableExpr(block(exp.Unnest(expressions=[tree_of(column)], offset=ordinality or None)))


def values(rows: Sequence[Sequence[Value]], *columns: str, name: str = "v") -> TableExpr:
    """Rows that are spelled out, with names for their columns; they hold at all times.

    >>> values([("lamp", 1)], "item", "n").sql
    "SELECT * FROM VALUES ('lamp', 1) AS v(item, n)"
    """
    if not rows:
        raise TidemillError("there are no rows", help='write values([("lamp", 1)], "item", "n")')
    tuples = [exp.Tuple(expressions=[value_of(each) for each in row]) for row in rows]
    names = [identifier(column) for column in columns]
    alias = exp.TableAlias(this=identifier(name), columns=names)
    return TableExpr(block(exp.Values(expressions=tuples, alias=alias)))
