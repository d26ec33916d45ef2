"""Columns that tell the rows of an instant apart."""

from __future__ import annotations

from collections.abc import Iterable

from tidemill.algebra import nodes, sets
from tidemill.algebra.plan import Plan
from tidemill.algebra.scalar import Scalar
from tidemill.algebra.unnest import Unnest
from tidemill.optimize.equalities import Classes, equal_columns, known_equalities
from tidemill.optimize.sharing import opened

Key = frozenset[str]
_MOST = 8  # keys that are followed; each join may multiply them


def unique_keys(plan: Plan) -> frozenset[Key]:
    """Sets of columns that no two rows of an instant agree in; none if none is known.

    With the empty set among them, there is at most one row at every instant.

    >>> from tidemill.optimize.examples import plan_of
    >>> grouped = plan_of("SELECT item AS i, COUNT(*) AS n FROM bid WINDOW(RANGE 5) GROUP BY item")
    >>> [sorted(key) for key in unique_keys(grouped)]
    [['i']]
    """
    plan = opened(plan)
    everything = frozenset(plan.schema.names)
    match plan:
        case nodes.Aggregate():
            return frozenset({frozenset(plan.keys)})
        case nodes.Distinct(child):
            return unique_keys(child) or frozenset({everything})
        case nodes.TopK(child, _, limit):
            return frozenset({frozenset[str]()}) if limit == 1 else unique_keys(child)
        case nodes.CountWindow(rows=1, is_fixed=True):
            return frozenset({frozenset(plan.partition_by)})
        case nodes.TimeWindow() | nodes.CountWindow() | nodes.SessionWindow():
            return frozenset()  # rows of several instants come together
        case nodes.Project(child, items):
            return _renamed(unique_keys(child), items)
        case nodes.Join():
            return _joined(plan)
        case Unnest():
            return _of_elements(plan)
        case nodes.Unary(child):
            return unique_keys(child)
        case sets.SetOperation():
            return _of_sets(plan)
        case nodes.SemiJoin() | nodes.AntiJoin():
            return unique_keys(plan.left)
    return frozenset()


def _of_elements(plan: Unnest) -> frozenset[Key]:
    """Elements of a row are told apart by their place alone."""
    if plan.ordinal is None:
        return frozenset()
    whole = (key for key in unique_keys(plan.child) if key <= set(plan.kept))
    return frozenset(key | {plan.ordinal} for key in whole)


def _of_sets(plan: sets.SetOperation) -> frozenset[Key]:
    if plan.facts.adds_copies:
        return frozenset()
    match plan.facts.sides:
        case sets.Sides.EITHER:
            distinct = is_distinct(plan.left) and is_distinct(plan.right)
            return frozenset({frozenset(plan.schema.names)} if distinct else ())
        case sets.Sides.BOTH:
            return unique_keys(plan.left) | unique_keys(plan.right)
        case sets.Sides.LEFT:
            return unique_keys(plan.left)


def is_distinct(plan: Plan) -> bool:
    """Whether no row occurs twice at an instant, as far as is known."""
    return bool(unique_keys(plan))


def finds_one(condition: Scalar | None, left: Plan, right: Plan) -> bool:
    """Whether a row of the left side has at most one partner on the right at every instant."""
    pairs = equal_columns(condition, left.schema + right.schema)
    tied = {name for pair in pairs if _is_across(pair, left, right) for name in pair}
    return any(key <= tied for key in unique_keys(right))


def _is_across(pair: tuple[str, str], left: Plan, right: Plan) -> bool:
    return sum(name in left.schema for name in pair) == 1 == sum(n in right.schema for n in pair)


def _joined(plan: nodes.Join) -> frozenset[Key]:
    left, right = unique_keys(plan.left), unique_keys(plan.right)
    if finds_one(plan.condition, plan.left, plan.right) and left:
        return left
    if finds_one(plan.condition, plan.right, plan.left) and right:
        return right
    return _few(one | other for one in left for other in right)


def _renamed(keys: frozenset[Key], items: tuple[tuple[str, Scalar], ...]) -> frozenset[Key]:
    names = {item.node.name: name for name, item in items if item.is_column}
    return _few(
        frozenset(names[part] for part in key) for key in keys if all(part in names for part in key)
    )


def _few(keys: Iterable[Key]) -> frozenset[Key]:
    return frozenset(sorted(keys, key=lambda key: (len(key), sorted(key)))[:_MOST])


def keeps_rows_apart(plan: nodes.Project) -> bool:
    """Whether different rows stay different: what is left out follows from what is kept."""
    classes = Classes(known_equalities(plan.child))
    kept = {item.node.name for _, item in plan.items if item.is_column}
    known = {name for column in kept for name in classes.of(column)}
    return set(plan.child.schema.names) <= known or any(
        key <= known for key in unique_keys(plan.child)
    )
