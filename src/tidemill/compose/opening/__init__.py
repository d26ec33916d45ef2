"""Queries and plans as composed ones."""

from __future__ import annotations

import json
import re

from sqlglot import exp

from tidemill.analyze.context import Context
from tidemill.analyze.planner import plan_as_written
from tidemill.compose.checking import check
from tidemill.compose.model import Composed, Level
from tidemill.compose.opening.logical import LogicalOpening
from tidemill.compose.opening.physical import PhysicalOpening
from tidemill.compose.quiet import quietly
from tidemill.engine.apart import Desk
from tidemill.engine.named import unknown_query
from tidemill.errors import TidemillError, UnsupportedError
from tidemill.sql import PlanText, QueryStatement, Tidemill, parse, parse_one

_NAME = re.compile(r"\w+")


def open_plan(engine: Desk, query: str, level: Level = "logical") -> Composed:
    """A query, by its name or its text, as a plan that can be edited.

    The logical plan is what the query says; the physical one has the operators that run it.

    >>> from tidemill import Engine
    >>> engine = Engine(runtime="inprocess")
    >>> engine.stream("bid", [{"item": 1, "price": 5, "at": 3}], time="at")
    >>> for node in open_plan(engine, "SELECT item FROM bid WHERE price > 4").nodes:
    ...     print(node.id, node.kind, node.settings, node.inputs)
    n1 scan {'source': 'bid'} ()
    n2 filter {'condition': 'bid.price > 4'} ('n1',)
    n3 project {'columns': ['bid.item']} ('n2',)
    """
    tree = query_tree(engine, query)
    if isinstance(tree, PlanText):
        return _opened_plan(engine, tree.name, level)
    if level == "physical":
        planned = quietly(engine, tree.sql(dialect=Tidemill))
        domain = planned.planned.domain
        return PhysicalOpening(engine.catalog, domain).composed(planned.job.plan)
    context = Context(engine.catalog)
    plan = plan_as_written(tree, context)
    return LogicalOpening(engine.catalog, context.domain).composed(plan)


def plan_of(text: str) -> Composed:
    """A composed plan that stands in a statement."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TidemillError(f"the plan is not JSON: {error}", help="compose it again") from None
    return Composed.from_json(data)


def _opened_plan(engine: Desk, text: str, level: Level) -> Composed:
    """A plan that was composed, as it was; at another level, what it means."""
    composed = plan_of(text)
    if composed.level == level:
        return composed
    meaning = check(engine, composed).sql
    if meaning is None or not parse(meaning):
        help = f"open it at the {composed.level} level"
        raise UnsupportedError("no SQL has the meaning of this plan", help=help)
    return open_plan(engine, meaning, level)


def named(query: str) -> str | None:
    """The name that a text is, if it can be one.

    >>> named("hot"), named("SELECT item FROM bid")
    ('hot', None)
    """
    name = query.strip().strip("`")
    return name if _NAME.fullmatch(name) else None


def query_tree(engine: Desk, query: str) -> exp.Expr:
    """The tree of a query that is named or written."""
    names = {each.casefold(): each for each in engine.queries.names}
    wanted = named(query)
    known = names.get((wanted or query).casefold())
    if known is None and wanted is not None:
        raise unknown_query(wanted, names.values())
    if known is not None:
        found = engine.queries.find(known)
        text = f"CREATE QUERY q AS {found.definition}" if found.definition else found.sql
    else:
        text = query
    statement = parse_one(text)
    inner = getattr(statement, "query", None)
    if inner is None and not isinstance(statement, QueryStatement):
        help = "give the name of a query, or write SELECT ..."
        raise TidemillError("this is not a query", help=help)
    tree: exp.Expr = statement.tree if inner is None else inner
    return tree
