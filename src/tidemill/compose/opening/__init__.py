"""Queries and plans as composed ones."""

from __future__ import annotations

import re
import warnings

from sqlglot import exp

from tidemill.analyze.context import Context
from tidemill.analyze.planner import plan_as_written
from tidemill.compose.model import Composed, Level
from tidemill.compose.opening.logical import LogicalOpening
from tidemill.compose.opening.physical import PhysicalOpening
from tidemill.engine import Engine, Query
from tidemill.engine.named import unknown_query
from tidemill.errors import PlanWarning, TidemillError
from tidemill.sql import QueryStatement, Tidemill, parse_one

_NAME = re.compile(r"\w+")


def open_plan(engine: Engine, query: str, level: Level = "logical") -> Composed:
    """A query, by its name or its text, as a plan that can be edited.

    The logical plan is what the query says; the physical one has the operators that run it.

    >>> engine = Engine(runtime="inprocess")
    >>> engine.stream("bid", [{"item": 1, "price": 5, "at": 3}], time="at")
    >>> for node in open_plan(engine, "SELECT item FROM bid WHERE price > 4").nodes:
    ...     print(node.id, node.kind, node.settings, node.inputs)
    n1 scan {'source': 'bid'} ()
    n2 filter {'condition': 'bid.price > 4'} ('n1',)
    n3 project {'columns': ['bid.item']} ('n2',)
    """
    tree = query_tree(engine, query)
    if level == "physical":
        planned = quietly(engine, tree.sql(dialect=Tidemill))
        domain = planned.planned.domain
        return PhysicalOpening(engine.catalog, domain).composed(planned.job.plan)
    context = Context(engine.catalog)
    plan = plan_as_written(tree, context)
    return LogicalOpening(engine.catalog, context.domain).composed(plan)


def quietly(engine: Engine, sql: str) -> Query:
    """The query of a text; what the planner has to say about it is left to others."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlanWarning)
        query = engine.sql(sql)
    assert query is not None
    return query


def query_tree(engine: Engine, query: str) -> exp.Expr:
    """The tree of a query that is named or written."""
    names = {each.name.casefold(): each.name for each in engine.listing() if each.kind == "query"}
    wanted = query.strip().strip("`")
    known = names.get(wanted.casefold())
    if known is None and _NAME.fullmatch(wanted):
        raise unknown_query(wanted, names.values())
    statement = parse_one(engine.queries.find(known).sql if known else query)
    found = getattr(statement, "query", None)
    if found is None and not isinstance(statement, QueryStatement):
        help = "give the name of a query, or write SELECT ..."
        raise TidemillError("that is no query", help=help)
    tree: exp.Expr = statement.tree if found is None else found
    return tree
