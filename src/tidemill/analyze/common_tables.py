"""WITH: queries that have a name inside one statement."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlglot import exp

from tidemill.analyze.context import CommonTable, Context
from tidemill.analyze.correlation import Link
from tidemill.errors import UnsupportedError
from tidemill.sql import error_at


@contextmanager
def common_tables(tree: exp.Expr, context: Context, link: Link | None) -> Iterator[None]:
    """Plan something with the queries of the tree's WITH in sight."""
    clause = tree.args.get("with_")
    tables = dict(context.common_tables)
    if clause is not None and clause.args.get("recursive"):
        help = "write the steps out as queries of their own"
        raise error_at(UnsupportedError, "WITH RECURSIVE is not supported", clause, help)
    for table in clause.expressions if clause is not None else ():
        # A query sees those before it, so that its own name can be a stream inside it.
        known = CommonTable(_renamed(table), dict(tables), sees_around=link is not None)
        tables[table.alias.casefold()] = known
    with context.seeing(tables):
        yield


def _renamed(table: exp.CTE) -> exp.Expr:
    """The query; with a column list, `SELECT * FROM (query) AS name(columns)`."""
    query: exp.Expr = table.this
    if not table.args["alias"].args.get("columns"):
        return query
    rows = exp.Subquery(this=query, alias=table.args["alias"].copy())
    return exp.Select(expressions=[exp.Star()], from_=exp.From(this=rows))
