"""Composed plans that run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tidemill.compose.checking import Checked, check
from tidemill.compose.model import Composed
from tidemill.compose.texts import quoted
from tidemill.engine import Engine
from tidemill.engine.running import StartedQuery
from tidemill.errors import PlanError, UnsupportedError


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
    if checked.query is not None and checked.query.is_fixed:
        engine.define(name, checked.query)
    else:
        engine.sql(f"CREATE QUERY {quoted(name)} AS\n{checked.sql}")
    engine.sql(f"START QUERY {quoted(name)}{' PARTIAL' if partial else ''}")
    return engine.graph.query(name)


def runnable(checked: Checked) -> Checked:
    """A plan that is complete and can be run; an error that says what is missing if it is not."""
    if not checked.is_complete:
        first = checked.errors[0]
        where = f"node `{first.node}`: " if first.node is not None else ""
        raise PlanError(f"the plan is not complete: {where}{first.message}", help=first.help)
    if checked.query is None:
        message = f"a logical plan runs as SQL, and this one has none: {checked.sql_reason}"
        raise UnsupportedError(message, help="change the plan, or compose a physical one")
    return checked
