"""The arms of a join: an outer one is an inner join, and beside it the rows without a partner."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from sqlglot import exp

from tidemill.algebra.nodes import AntiJoin, Filter, Join, Project
from tidemill.algebra.plan import Plan, operands
from tidemill.algebra.scalar import Scalar, column, conjuncts
from tidemill.algebra.sets import Union
from tidemill.optimize.joins.region import join_conditions


@dataclass(frozen=True)
class Arm:
    """A join, or the rows without a partner, below operators on single rows, from the top."""

    between: tuple[Project | Filter, ...]
    base: Join | AntiJoin

    @staticmethod
    def all_of(plan: Plan, above: tuple[Project | Filter, ...] = ()) -> Iterator[Arm | None]:
        """The arms of a plan, None for what is none."""
        if isinstance(plan, Project | Filter):
            yield from Arm.all_of(plan.child, (*above, plan))
        elif isinstance(plan, Union):
            yield from Arm.all_of(plan.left, above)
            yield from Arm.all_of(plan.right, above)
        else:
            yield Arm(above, plan) if isinstance(plan, Join | AntiJoin) else None

    @cached_property
    def inputs(self) -> tuple[Plan, ...]:
        """What is joined, or looked through for partners."""
        sides = (operands(side, Join) for side in (self.base.left, self.base.right))
        return tuple(child for side in sides for child in side)

    @cached_property
    def conditions(self) -> tuple[Scalar, ...]:
        """What the joins ask for."""
        sides = (join_conditions(side) for side in (self.base.left, self.base.right))
        below = (condition for side in sides for condition in side)
        return (*below, *conjuncts(self.base.condition))

    def resolved(self, name: str) -> Scalar:
        """What a column of the result is, in columns of the join."""
        projects = [dict(node.items) for node in self.between if isinstance(node, Project)]
        if not projects:
            return column(name, self.base.schema[name])
        scalar = projects[0][name]
        for items in projects[1:]:
            known = scalar.is_column
            scalar = items[str(scalar.node.name)] if known else scalar.substitute(items)
        return scalar

    def below(self, names: Iterable[str]) -> frozenset[str]:
        """The columns of the inputs that these are, or are computed from."""
        found = set(names)
        for node in self.between:
            if isinstance(node, Project):
                items = dict(node.items)
                found = {
                    used
                    for name in found
                    for used in (items[name].columns if name in items else {name})
                }
        return frozenset(found)

    @cached_property
    def single_columns(self) -> frozenset[str]:
        """Columns that are looked at row by row: by filters, or by computations."""
        computed = [
            scalar.columns
            for node in self.between
            if isinstance(node, Project)
            for _, scalar in node.items
            if not scalar.is_column
        ]
        tested = [node.predicate.columns for node in self.between if isinstance(node, Filter)]
        return self.below(name for used in (*computed, *tested) for name in used)


def is_one_join(arms: Sequence[Arm]) -> bool:
    """Whether these are one inner join, and the rows that find no partner among its inputs."""
    if not arms or not isinstance(arms[0].base, Join):
        return False
    inputs = arms[0].inputs
    return all(
        isinstance(arm.base, AntiJoin)
        and len(arm.inputs) == len(inputs)
        and all(child in inputs for child in arm.inputs)
        for arm in arms[1:]
    )


def is_null(scalar: Scalar) -> bool:
    """Whether an expression is a bare NULL."""
    node = scalar.node
    return isinstance(node.this if isinstance(node, exp.Cast) else node, exp.Null)


def joined_over(base: Join | AntiJoin, inputs: Iterator[Plan]) -> Join | AntiJoin:
    """The joins over other inputs."""

    def side(plan: Plan) -> Plan:
        return joined_over(plan, inputs) if isinstance(plan, Join) else next(inputs)

    return replace(base, left=side(base.left), right=side(base.right))
