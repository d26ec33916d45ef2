"""Projections above windows and unions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tidemill.algebra.nodes import (
    CountWindow,
    Project,
    TimeWindow,
)
from tidemill.algebra.plan import Plan
from tidemill.algebra.sets import (
    Union,
)
from tidemill.optimize.expressions import is_total


def push_projects(plan: Plan) -> Plan:
    """Compute columns below unions and windows.

    (Laws 10.9, 10.11 and 10.12.) Windows then hold narrower rows.

    >>> from tidemill.optimize.examples import show
    >>> show(push_projects, "SELECT item + 1 AS next FROM bid WINDOW(RANGE 5)")
    01 Project [next := bid.item + 1]
    02   TimeWindow range=5
    03     Scan bid columns=[item, price]
    =>
    01 TimeWindow range=5
    02   Project [next := bid.item + 1]
    03     Scan bid columns=[item, price]
    """
    match plan:
        case Project(Union(left, right), items):
            return Union(Project(left, items), Project(right, items))
        case Project(TimeWindow(child) as window, items):
            moved = Project(child, items)
            if shows_all_rows(window) or _never_fails(moved):
                return replace(window, child=moved)
        case Project(CountWindow(child) as window, items):
            names = _keeps_order(plan)
            moved = Project(child, items)
            if names is not None and _never_fails(moved) and set(window.partition_by) <= set(names):
                by = tuple(names[name] for name in window.partition_by)
                return replace(window, child=moved, partition_by=by)
    return plan


def shows_all_rows(window: TimeWindow) -> bool:
    """Whether every row is in the window at some instant: none falls between two moves."""
    smallest = window.size if window.bounds is None else window.bounds.low
    changed = (size for _, size in window.changes)
    return smallest is None or min(smallest, *changed, window.slide) == window.slide


def _never_fails(project: Project) -> bool:
    return all(is_total(item, project.child.schema) for _, item in project.items)


def _keeps_order(plan: Project) -> Mapping[str, str] | None:
    """The new names of columns, if rows stay in their order; None if they may not.

    A count window orders the rows of one instant by their columns, from the first on. The order
    stays if the first columns stay, and all others follow from them: rows that become equal
    were neighbours.
    """
    pairs = zip(plan.items, plan.child.schema.names, strict=False)
    names: dict[str, str] = {}
    for (new, item), old in pairs:
        if not (item.is_column and item.node.name == old):
            break
        names[old] = new
    rest = plan.items[len(names) :]
    return names if all(item.columns <= names.keys() for _, item in rest) else None
