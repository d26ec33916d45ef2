"""Planning of any query; each kind of query registers how it is done."""

from __future__ import annotations

from functools import singledispatch

from sqlglot import exp

from tidemill.analyze.context import Context
from tidemill.analyze.correlation import Link
from tidemill.analyze.relation import PlannedRelation
from tidemill.errors import UnsupportedError
from tidemill.sql import error_at


@singledispatch
def plan_tree(tree: exp.Expr, context: Context, link: Link | None) -> PlannedRelation:
    """Plan a query; `link` leads to the query around it."""
    message = f"{tree.key.upper()} is not supported here"
    raise error_at(UnsupportedError, message, tree, "write a SELECT")
