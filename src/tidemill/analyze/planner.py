"""From the tree of a query to its plan."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sqlglot import exp

from tidemill.algebra import Filter, Plan, Scalar, SortKey
from tidemill.algebra.nodes import Conditional
from tidemill.algebra.scalar import conjuncts
from tidemill.analyze import select, setops  # noqa: F401  (they register their queries
from tidemill.analyze.arrivals import look_up_on_arrival
from tidemill.analyze.boundedness import growing
from tidemill.analyze.context import Context
from tidemill.analyze.ordering import allow_order
from tidemill.analyze.query import plan_tree
from tidemill.analyze.relation import PlannedRelation, check_names, check_reserved
from tidemill.catalog.catalog import Catalog, Derived
from tidemill.catalog.hints import Hints
from tidemill.errors import PlanError, PlanWarning
from tidemill.sql import CreateDerived, Tidemill
from tidemill.timeline import TimeDomain


@dataclass(frozen=True)
class Planned:
    """A plan, the time that its results have, and what the user should know about it.

    People see the rows of an instant in this `order`; the answer itself has none.
    """

    plan: Plan
    domain: TimeDomain | None
    warnings: tuple[PlanWarning, ...]
    depends_on: frozenset[str]
    hints: Hints = field(default_factory=Hints)
    order: tuple[SortKey, ...] = ()


def derived_from_statement(statement: CreateDerived, planned: Planned) -> Derived:
    """The catalog entry of a stream or relation that a query defines."""
    return Derived(
        name=statement.name,
        plan=planned.plan,
        schema=planned.plan.schema,
        domain=planned.domain,
        sql=statement.sql,
        depends_on=planned.depends_on,
        word=statement.kind.lower(),
        hints=planned.hints,
    )


def plan_query(tree: exp.Expr, sql_text: str, catalog: Catalog, is_shown: bool = True) -> Planned:
    """Plan a query; `sql_text` is shown with errors that have no place of their own.

    Of one that `is_shown` to people, rows may have an order.
    """
    context = Context(catalog)
    if is_shown:
        allow_order(tree)
    try:
        relation = _as_written(tree, context)
        plan = look_up_on_arrival(relation.close(relation.names), context.origins)
    except PlanError as error:
        error.sql = error.sql or sql_text
        raise
    _warn_of_growth(plan, tree, context)
    _warn_of_idle_hints(plan, context)
    warnings = tuple(context.warnings)
    depends_on = frozenset(context.depends_on)
    return Planned(plan, context.domain, warnings, depends_on, context.hints, relation.order)


def plan_as_written(tree: exp.Expr, context: Context) -> Plan:
    """The plan of a query, with joins where the query has them."""
    relation = _as_written(tree, context)
    return relation.close(relation.names)


def _as_written(tree: exp.Expr, context: Context) -> PlannedRelation:
    relation = plan_tree(tree, context, None)
    check_names(relation.outputs)
    check_reserved(relation.outputs)
    return relation


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


def _warn_of_idle_hints(plan: Plan, context: Context) -> None:
    """A condition that a hint misspells is no error: the answer is the same."""
    if not context.told_of:
        return
    present = {str(part) for condition in _conditions(plan) for part in _parts(condition)}
    for text, node in context.told_of.items():
        if text not in present:
            help = "write the condition as in WHERE or ON, with its sides in the same order"
            context.warn(f"SELECTIVITY: the query has no condition `{text}`", node, help)


def _conditions(plan: Plan) -> Iterator[Scalar]:
    for node in plan.walk():
        if isinstance(node, Filter):
            yield node.predicate
        elif isinstance(node, Conditional) and node.condition is not None:
            yield node.condition


def _parts(condition: Scalar) -> tuple[Scalar, ...]:
    return condition, *conjuncts(condition)
