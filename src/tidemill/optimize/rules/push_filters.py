"""Filters above other operators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from tidemill.algebra import nodes, sets
from tidemill.algebra.over_rows import OverRows
from tidemill.algebra.plan import Plan
from tidemill.algebra.scalar import Scalar, conjunction, conjuncts
from tidemill.algebra.schema import Schema
from tidemill.algebra.unnest import Unnest
from tidemill.optimize.expressions import all_of, inlined, is_repeatable, is_small, is_total
from tidemill.optimize.implied import implied_tests
from tidemill.optimize.rules.push_projects import shows_all_rows

Accept = Callable[[Scalar], bool]


def push_filters(plan: Plan) -> Plan:
    """Filter as early as possible.

    >>> from tidemill.optimize.examples import show
    >>> show(push_filters, "SELECT item FROM bid WINDOW(RANGE 5) WHERE price > 3")
    01 Project [item := bid.item]
    02   Filter bid.price > 3
    03     TimeWindow range=5
    04       Scan bid columns=[item, price]
    =>
    01 Project [item := bid.item]
    02   TimeWindow range=5
    03     Filter bid.price > 3
    04       Scan bid columns=[item, price]
    """
    match plan:
        case nodes.Filter(nodes.Project() as project, predicate):
            return _through_project(plan, project, conjuncts(predicate))
        case nodes.Filter(child, predicate):
            return _into_inputs(plan, child, conjuncts(predicate))
        case nodes.Join() | nodes.SemiJoin() | nodes.AntiJoin():
            return _out_of_condition(plan)
    return plan


def _through_project(plan: Plan, project: nodes.Project, parts: Sequence[Scalar]) -> Plan:
    """Test what the columns are computed from; no user function is to be called twice for it."""
    items = dict(project.items)

    def accept(part: Scalar) -> bool:
        repeatable = all(is_repeatable(items[name]) for name in part.columns)
        if not (part.columns and repeatable):
            return False
        return is_small(inlined(part, items, project.child.schema), project.child.schema)

    moved, kept = _divided(parts, accept)
    if not moved:
        return plan
    below = [inlined(part, items, project.child.schema) for part in moved]
    return _filtered(nodes.Project(_filtered(project.child, below), project.items), kept)


def _into_inputs(plan: Plan, child: Plan, parts: Sequence[Scalar]) -> Plan:
    """Filter the inputs of the operator below; the result then needs no filter."""
    inputs, accept = _way_through(child)
    moved, kept = _divided(parts, lambda part: bool(part.columns) and accept(part))
    if not moved:
        return plan
    if isinstance(child, nodes.SemiJoin | nodes.AntiJoin):
        # Only partners that pass what follows for them can be found for the rows that are left.
        said = [*conjuncts(child.condition), *implied_tests(child, moved)]
        child = replace(child, condition=conjunction(*said))
    sides = [_filtered(side, moved) for side in child.children[:inputs]]
    return _filtered(child.with_children([*sides, *child.children[inputs:]]), kept)


def _way_through(node: Plan) -> tuple[int, Accept]:
    """How many inputs of an operator a filter moves into, and which conditions may.

    Below, a condition sees the rows that the operator would have dropped. If there are such
    rows, it must not be able to fail.
    """

    def total(part: Scalar) -> bool:
        return is_total(part, node.schema)

    match node:
        case sets.SetOperation() if node.facts.drops_rows:
            return 2, total
        case sets.SetOperation():
            # Where copies do not add up, one of the result is tested on both sides.
            return 2, _any if node.facts.adds_copies else is_repeatable
        case nodes.SemiJoin() | nodes.AntiJoin() | nodes.Granularity() | nodes.Dstream():
            return 1, total
        case nodes.Distinct() | nodes.Istream():
            return 1, is_repeatable
        case nodes.Rstream():
            return 1, _any
        case nodes.TimeWindow():
            return 1, _any if shows_all_rows(node) else total
        case (
            nodes.CountWindow(partition_by=by)
            | nodes.SessionWindow(partition_by=by)
            | OverRows(partition_by=by)
        ):
            # Whole partitions stay or go; of others, it counts which rows came before.
            return 1, lambda part: part.columns <= set(by) and total(part)
        case Unnest(kept=kept):
            return 1, lambda part: part.columns <= set(kept) and total(part)
        case nodes.Aggregate(keys=keys):
            return 1, lambda part: part.columns <= set(keys) and is_repeatable(part)
    return 0, _none


def _any(part: Scalar) -> bool:
    return True


def _none(part: Scalar) -> bool:
    return False


def _out_of_condition(plan: nodes.Conditional) -> Plan:
    """Filter the sides of a join by the parts of its condition that look at one side."""
    left, right = plan.left, plan.right
    parts: Sequence[Scalar] = conjuncts(plan.condition)
    if not isinstance(plan, nodes.AntiJoin):  # it keeps the rows that fail the test
        moved, parts = _divided(parts, lambda part: _tests(part, left.schema))
        left = _tested(left, moved)
    moved, parts = _divided(parts, lambda part: _tests(part, right.schema))
    right = _tested(right, moved)
    if left is plan.left and right is plan.right:
        return plan
    return type(plan)(left, right, conjunction(*parts))


def _tests(part: Scalar, side: Schema) -> bool:
    return bool(part.columns) and part.columns <= set(side.names) and is_total(part, side)


def _tested(side: Plan, tests: Sequence[Scalar]) -> Plan:
    """A side of a join that passes the tests; another join takes them into its condition."""
    if isinstance(side, nodes.Join) and tests:
        return replace(side, condition=all_of([*conjuncts(side.condition), *tests]))
    return _filtered(side, tests)


def _filtered(plan: Plan, conditions: Sequence[Scalar]) -> Plan:
    return nodes.Filter(plan, all_of(conditions)) if conditions else plan


def _divided(parts: Sequence[Scalar], accept: Accept) -> tuple[list[Scalar], list[Scalar]]:
    """The conditions that may move, and the others."""
    moved = [part for part in parts if accept(part)]
    return moved, [part for part in parts if not accept(part)]
