"""Plans whose rows all have counterparts in another plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tidemill.algebra import nodes, sets
from tidemill.algebra.plan import Plan
from tidemill.algebra.star import StarJoin
from tidemill.optimize.alike import are_alike
from tidemill.optimize.sharing import opened

_Place = tuple[Plan, str]
_Step = Callable[[Plan, str], _Place | None]


def over_the_same(left: Plan, name: str, right: Plan, other: str) -> Plan | None:
    """The right side over the rows that the left one is made of; None if it is over others.

    At every instant, every value in the column `name` of the left side is then one in the column
    `other` of the right side too. The rows are those of one plan, so they are computed once.

    >>> from tidemill.optimize.examples import plan_of
    >>> here = plan_of("SELECT item, price AS p FROM bid WINDOW(RANGE 5) WHERE item = 7")
    >>> there = plan_of("SELECT b.price AS q FROM bid AS b WINDOW(RANGE 5)")
    >>> print(over_the_same(here, "p", there, "q"))
    01 Project [q := b.price]
    02   Project [b.item := bid.item, b.price := bid.price]
    03     TimeWindow range=5
    04       Scan bid columns=[item, price]
    >>> over_the_same(there, "q", here, "p")
    """
    ways = [(one, own) for one, own in _down(left, name, _of_some) if _is_exact(one)]
    for part, column in _down(right, other, _of_all):
        for one, own in ways:
            if one.schema.names.index(own) == part.schema.names.index(column):
                if opened(one) is opened(part):
                    return right
                if are_alike(one, part):
                    return _replaced(right, part, nodes.Project.renaming(one, part.schema.names))
    return None


def _down(plan: Plan, name: str, step: _Step) -> Iterator[_Place]:
    """The parts of a plan from which a column comes, each with its name there."""
    found: _Place | None = (plan, name)
    while found is not None:
        yield found
        found = step(*found)


def _of_some(plan: Plan, name: str) -> _Place | None:
    """The input that a plan takes values from, maybe not all."""
    match plan:
        case (
            nodes.Filter(child) | nodes.TopK(child) | nodes.SemiJoin(child) | nodes.AntiJoin(child)
        ):
            return child, name
        case sets.SetOperation(left) if plan.facts.sides is not sets.Sides.EITHER:
            return left, name
        case nodes.Join(left, right):
            return (left if name in left.schema else right), name
    return _of_all(plan, name)


def _of_all(plan: Plan, name: str) -> _Place | None:
    """The input whose values a plan all has, however often."""
    match plan:
        case nodes.Distinct(child):
            return child, name
        case nodes.Project(child, items):
            item = dict(items)[name]
            return (child, item.node.name) if item.is_column else None
    return None


def _replaced(plan: Plan, part: Plan, new: Plan) -> Plan:
    """The plan over another part."""
    return plan.fold(lambda node, inputs: new if node is part else node.with_children(inputs))


def _is_exact(plan: Plan) -> bool:
    """Whether a plan has the same rows wherever it is computed."""
    return not any(
        isinstance(part, StarJoin) or (isinstance(part, nodes.TopK) and part.approximate)
        for part in opened(plan).walk()
    )
