"""From the tree of a query to its plan."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from tidemill.algebra import Plan
from tidemill.analyze import select, setops  # noqa: F401  (they register their queries)
from tidemill.analyze.boundedness import growing
from tidemill.analyze.catalog import Catalog
from tidemill.analyze.context import Context
from tidemill.analyze.query import plan_tree
from tidemill.analyze.relation import check_names, check_reserved
from tidemill.errors import PlanError, PlanWarning
from tidemill.sql import Tidemill
from tidemill.timeline import TimeDomain


@dataclass(frozen=True)
class Planned:
    """A plan, the time that its results have, and what the user should know about it."""

    plan: Plan
    domain: TimeDomain | None
    warnings: tuple[PlanWarning, ...]
    depends_on: frozenset[str]


def plan_query(tree: exp.Expr, sql_text: str, catalog: Catalog) -> Planned:
    """Plan a query; `sql_text` is shown with errors that have no place of their own."""
    context = Context(catalog)
    try:
        relation = plan_tree(tree, context, None)
        check_names(relation.outputs)
        check_reserved(relation.outputs)
    except PlanError as error:
        error.sql = error.sql or sql_text
        raise
    plan = relation.close(relation.names)
    _warn_of_growth(plan, tree, context)
    warnings = tuple(context.warnings)
    return Planned(plan, context.domain, warnings, frozenset(context.depends_on))


def _warn_of_growth(plan: Plan, tree: exp.Expr, context: Context) -> None:
    size = "1 HOUR" if context.domain is TimeDomain.MICROSECONDS else "100"
    for operator, window in growing(plan):
        origin = context.origins.get(window)
        shown = "a stream with an UNBOUNDED window"
        if origin is not None and origin.parent is not None:
            shown = f"`{origin.parent.sql(dialect=Tidemill)}`"
        message = f"{operator} keeps every row of {shown} for ever"
        help = f"give the window a size, as in WINDOW(RANGE {size})"
        context.warn(message, origin if origin is not None else tree, help)
