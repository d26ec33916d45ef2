"""Composed plans that run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlglot import exp

from tidemill.compose.checking import CheckedPlan, check
from tidemill.compose.model import Composed
from tidemill.compose.opening import plan_of
from tidemill.engine import Engine, Query
from tidemill.engine.apart import Desk
from tidemill.engine.started import StartedQuery
from tidemill.errors import PlanError, UnsupportedError
from tidemill.sql import PlanText, QueryStatement, Tidemill, parse_one
from tidemill.sql.building import Definition, plan_definition, start_query


def run(
    engine: Engine, composed: Composed | Mapping[str, Any], name: str, partial: bool = False
) -> StartedQuery:
    """Give a composed plan a name, and let it run in the graph of the engine.

    A logical plan runs as its SQL, a physical one as it is.

    >>> engine = Engine(runtime="inprocess")
    >>> engine.sql("CREATE STREAM bid (item BIGINT, price BIGINT, at BIGINT) ORDERED BY at")
    >>> scan = {"id": "a", "kind": "scan", "settings": {"source": "bid"}}
    >>> high = {"id": "b", "kind": "filter", "settings": {"condition": "price > 4"}, "inputs": "a"}
    >>> query = run(engine, {"level": "logical", "nodes": [scan, high]}, "high")
    >>> query.name, query.state
    ('high', 'running')
    """
    checked = runnable(check(engine, composed))
    assert checked.query is not None
    if checked.query.is_fixed:
        checked.query.definition = definition_of(checked).sql
    engine.define(name, checked.query)
    engine.execute(start_query(name, partial))
    return engine.graph.query(name)


def definition_of(checked: CheckedPlan) -> Definition:
    """What stands after AS in a statement that defines a query by a composed plan.

    A logical plan is said as SQL. A physical one is said as it is, so that it stays so.
    """
    if checked.query is not None and checked.query.is_fixed:
        text = json.dumps(checked.composed.to_json(), separators=(",", ":"))
        tree = PlanText(this=exp.Literal.string(text))
        return plan_definition(tree, tree.sql(dialect=Tidemill))
    definition = parse_one(checked.sql or "")
    assert isinstance(definition, QueryStatement)
    return definition


def read_plan(engine: Desk, text: str) -> Query:
    """The query of a plan in a statement, for an engine that reads them.

    >>> engine = Engine(runtime="inprocess", plans=read_plan)
    >>> engine.sql("CREATE STREAM bid (item BIGINT, at BIGINT) ORDERED BY at")
    >>> engine.sql('''CREATE QUERY q AS PLAN '{"level": "physical", "nodes": [
    ...     {"id": "a", "kind": "source", "settings": {"source": "bid"}}]}' ''')
    >>> print(engine.queries.find("q").sql)
    -- composed of physical operators, which stay as they are
    SELECT
      item
    FROM bid
    """
    query = runnable(check(engine, plan_of(text))).query
    assert query is not None
    return query


def runnable(checked: CheckedPlan) -> CheckedPlan:
    """A plan that is complete and can be run; an error that says what is missing if it is not."""
    if not checked.is_complete:
        first = checked.errors[0]
        where = f"node `{first.node}`: " if first.node is not None else ""
        raise PlanError(f"the plan is not complete: {where}{first.message}", help=first.help)
    if checked.query is None:
        message = f"a logical plan runs as SQL, and this one has none: {checked.sql_reason}"
        raise UnsupportedError(message, help="change the plan, or compose a physical one")
    return checked
