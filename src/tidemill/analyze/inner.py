"""Planning a subquery, with or without columns of the query around it."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from tidemill.analyze.correlation import Domain, Link, trial_link
from tidemill.analyze.functions import find_aggregate
from tidemill.analyze.query import plan_tree
from tidemill.analyze.relation import PlannedRelation
from tidemill.analyze.stage import PlanStage
from tidemill.catalog.catalog import Catalog

_NOT_SIMPLE = ("group", "having", "distinct", "limit", "offset", "order", "with_", "qualify")


@dataclass(frozen=True)
class Inner:
    """A planned subquery, and the conditions that join it with the query around it."""

    relation: PlannedRelation
    conditions: list[exp.Expr]
    domain: Domain | None = None


def plan_inner(tree: exp.Expr, stage: PlanStage) -> Inner:
    """Plan a subquery of an expression over a stage."""
    context = stage.context
    trial_context = context.trial()
    trial = trial_link(stage, trial_context)
    plan_tree(tree, trial_context, trial)
    if not trial.used or (_is_simple(tree, context.catalog) and not trial.is_deep):
        relation = plan_tree(tree, context, Link(stage))
        return Inner(relation, list(relation.moved))
    domain = Domain.of(stage, trial.used, context)
    return Inner(plan_tree(tree, context, Link(stage, domain)), domain.matches(), domain)


def _is_simple(tree: exp.Expr, catalog: Catalog) -> bool:
    """Whether the conditions of WHERE can move out of the query without changing its rows."""
    if isinstance(tree, exp.Subquery) and tree.is_wrapper:
        return _is_simple(tree.this, catalog)
    return (
        isinstance(tree, exp.Select)
        and not any(tree.args.get(clause) for clause in _NOT_SIMPLE)
        and not any(find_aggregate(item, catalog) for item in tree.expressions)
        and not any(item.find(exp.Window) for item in tree.expressions)
    )


def is_single_row(tree: exp.Expr, catalog: Catalog) -> bool:
    """Whether the query aggregates all its rows into one."""
    if isinstance(tree, exp.Subquery) and tree.is_wrapper:
        return is_single_row(tree.this, catalog)
    if not isinstance(tree, exp.Select) or tree.args.get("group") or tree.args.get("offset"):
        return False
    having = tree.args.get("having")
    return having is not None or any(find_aggregate(item, catalog) for item in tree.expressions)
