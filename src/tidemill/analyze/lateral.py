"""LATERAL: a subquery in FROM that mentions entries before it.

As for other subqueries of this kind, it is planned for all values of the mentioned columns at
once, and joined with the entries on them. An aggregate without rows has no row, as always in FROM.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from sqlglot import exp

from tidemill.algebra import Join, Plan
from tidemill.algebra.scalar import column_node
from tidemill.analyze.correlation import Link, trial_link
from tidemill.analyze.joins import Entry, kind_of
from tidemill.analyze.query import plan_tree
from tidemill.analyze.references import References
from tidemill.analyze.scope import Item, Scope
from tidemill.analyze.stage import PlanStage
from tidemill.errors import UnsupportedError
from tidemill.sql import error_at


def plan_lateral(
    references: References, join: exp.Join, before: Entry
) -> tuple[Entry, list[exp.Expr]]:
    """The entry, and the conditions that lead from the entries before to its rows."""
    query = _query(join)
    scope = Scope(before.items, None, before.merged)  # a query around its own is out of sight
    used = _mentioned(references, query, PlanStage(references.context, _pairs(before.items), scope))
    items = [item for item in before.items if used & set(item.plan.schema.names)]
    link = Link(PlanStage(references.context, _pairs(items), scope)) if items else None
    item = References(references.context, references.select, link).item(query)
    equal: list[exp.Expr] = [
        exp.NullSafeEQ(this=column_node(outer), expression=column_node(name))
        for outer, name in item.carried
    ]
    return Entry(item.plan, [replace(item, carried=())], {}), equal


def _query(join: exp.Join) -> exp.Subquery:
    lateral = join.this
    if not isinstance(lateral.this, exp.Subquery) or kind_of(join) in ("RIGHT", "FULL"):
        help = "write JOIN LATERAL (SELECT ...) AS x, or LEFT JOIN LATERAL (...) AS x ON TRUE"
        if isinstance(lateral.this, exp.Table | exp.Func):
            help = "let the function give a list: CROSS JOIN UNNEST(f(x)) AS t(a)"
        raise error_at(UnsupportedError, "LATERAL takes a subquery on the right", lateral, help)
    query: exp.Subquery = lateral.this.copy()
    query.set("alias", lateral.args["alias"].copy() if lateral.args.get("alias") else None)
    return query


def _mentioned(references: References, query: exp.Subquery, stage: PlanStage) -> set[str]:
    """The columns of entries before that the query uses."""
    context = references.context.trial()
    trial = trial_link(stage, context)
    plan_tree(query.this, context, trial)
    return set(trial.used)


def _pairs(items: Sequence[Item]) -> Plan:
    """What the entries have in common with each other does not matter for the values that occur."""
    return reduce(lambda left, right: Join(left, right, None), (item.plan for item in items))
