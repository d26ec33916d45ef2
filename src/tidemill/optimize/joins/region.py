"""Neighbouring joins taken together: their inputs, and what must hold between them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from tidemill.algebra import nodes
from tidemill.algebra.plan import Plan, operands
from tidemill.algebra.scalar import Scalar, column, conjuncts, equality
from tidemill.expressions.equality import equality_of
from tidemill.optimize.expressions import is_total


@dataclass(frozen=True)
class JoinRegion:
    """Inputs that are joined with each other.

    Columns of one of the `classes` must all be equal. `conditions` must hold besides; `checks`
    too, but they may fail for rows that have no partners everywhere, so they come last.
    """

    inputs: tuple[Plan, ...]
    classes: tuple[frozenset[str], ...]
    conditions: tuple[Scalar, ...]
    checks: tuple[Scalar, ...]

    @property
    def is_linked(self) -> bool:
        """Whether one can go from any input to any other by equal columns."""
        names = [set(child.schema.names) for child in self.inputs]
        reached, left = names[:1], names[1:]
        while near := [own for own in left if any(self._meet(own, other) for other in reached)]:
            reached += near
            left = [own for own in left if own not in near]
        return not left

    def _meet(self, one: set[str], other: set[str]) -> bool:
        return any(one & each and other & each for each in self.classes)


def region_of(join: nodes.Join) -> JoinRegion:
    """All joins from here down, up to other operators."""
    inputs = list(operands(join, nodes.Join))
    found: list[frozenset[str]] = []
    conditions: list[Scalar] = []
    checks: list[Scalar] = []
    for part in join_conditions(join):
        pair = _key_pair(part, inputs)
        if pair is not None:
            found.append(pair)
        elif is_total(part, join.schema):
            conditions.append(part)
        else:
            checks.append(part)
    return JoinRegion(tuple(inputs), merged(found), tuple(conditions), tuple(checks))


def join_conditions(plan: Plan) -> Iterator[Scalar]:
    """What neighbouring joins ask for, part by part."""
    if isinstance(plan, nodes.Join):
        yield from join_conditions(plan.left)
        yield from join_conditions(plan.right)
        yield from conjuncts(plan.condition)


def _key_pair(part: Scalar, inputs: list[Plan]) -> frozenset[str] | None:
    """The two columns that a condition wants equal; computed ones are added to their inputs."""
    at = [n for n, child in enumerate(inputs) if part.columns & set(child.schema.names)]
    if len(at) != 2:
        return None
    one, other = at
    found = equality_of(part, inputs[one].schema, inputs[other].schema)
    if found is None or found.null_safe:
        return None
    sides = ((one, found.left), (other, found.right))
    if not all(is_total(side, inputs[number].schema) for number, side in sides):
        return None
    return frozenset(_named(inputs, number, side) for number, side in sides)


def _named(inputs: list[Plan], number: int, side: Scalar) -> str:
    if side.is_column:
        return str(side.node.name)
    name = f"#{side}"
    child = inputs[number]
    if name not in child.schema:
        kept = tuple((field.name, column(field.name, field.type)) for field in child.schema)
        inputs[number] = nodes.Project(child, (*kept, (name, side)))
    return name


def merged(sets: list[frozenset[str]]) -> tuple[frozenset[str], ...]:
    """Sets that have something in common, made one.

    >>> [sorted(part) for part in merged([frozenset("ab"), frozenset("cd"), frozenset("be")])]
    [['a', 'b', 'e'], ['c', 'd']]
    """
    result: list[frozenset[str]] = []
    for each in sets:
        apart = [known for known in result if not known & each]
        touching = [known for known in result if known & each]
        place = result.index(touching[0]) if touching else len(apart)
        result = apart
        result.insert(place, each.union(*touching))
    return tuple(result)


def within(classes: tuple[frozenset[str], ...], plan: Plan) -> tuple[Scalar, ...]:
    """Equalities between columns of one input that follow from those with others."""
    schema = plan.schema
    return tuple(
        equality(column(one, schema[one]), column(other, schema[other]))
        for each in classes
        for one, other in combinations(sorted(each & set(schema.names)), 2)
    )
