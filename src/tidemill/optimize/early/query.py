"""A query that aggregates a join, taken apart: its inputs, and what it wants of their columns.

An outer join is an inner join, and beside it the rows without a partner, with NULL for what they
lack: several *arms* over the same inputs. A plain join has one arm.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from sqlglot import exp

from tidemill.algebra.aggregates import AggregateCall
from tidemill.algebra.nodes import Aggregate, AntiJoin, Filter, Join, Project
from tidemill.algebra.plan import Plan, operands
from tidemill.algebra.scalar import Scalar, column, conjuncts
from tidemill.algebra.schema import Schema
from tidemill.algebra.sets import Union
from tidemill.optimize.early.rule import coalesces
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

    def scalar(self, name: str) -> Scalar:
        """What a column of the result is, as far as projections only rename it."""
        for node in self.between:
            if isinstance(node, Project):
                found = dict(node.items)[name]
                if not found.is_column:
                    return found
                name = str(found.node.name)
        return column(name, self.base.schema[name])

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


@dataclass(frozen=True)
class AggregateJoin:
    """An aggregate over the arms of a join, the inner join first."""

    aggregate: Aggregate
    arms: tuple[Arm, ...]

    @staticmethod
    def of(plan: Plan) -> AggregateJoin | None:
        """The plan as such a query, if it is one that can be rewritten."""
        if not isinstance(plan, Aggregate) or any(call.user for call in plan.calls):
            return None
        arms = list(Arm.all_of(plan.child))
        known = [arm for arm in arms if arm is not None]
        if len(known) < len(arms) or not _is_one_join(known):
            return None
        return AggregateJoin(plan, tuple(known))

    @property
    def inputs(self) -> tuple[Plan, ...]:
        """What is joined."""
        return self.arms[0].inputs

    @cached_property
    def schema(self) -> Schema:
        """The columns of all inputs."""
        return self.arms[0].base.schema

    @property
    def conditions(self) -> tuple[Scalar, ...]:
        """What the inner join asks for."""
        return self.arms[0].conditions

    @cached_property
    def join_columns(self) -> frozenset[str]:
        """Columns that conditions of the joins look at."""
        conditions = (condition for arm in self.arms for condition in arm.conditions)
        return frozenset(name for condition in conditions for name in condition.columns)

    @cached_property
    def group_columns(self) -> frozenset[str]:
        """Columns of the inputs that make the groups of the answer."""
        return self._below(self.aggregate.keys)

    @cached_property
    def single_columns(self) -> frozenset[str]:
        """Columns that are looked at row by row otherwise."""
        odd = [call.argument for call in self.aggregate.calls if not self.is_early(call)]
        looked_at = (arm.single_columns for arm in self.arms)
        return self._below(n for n in odd if n is not None).union(*looked_at)

    def is_early(self, call: AggregateCall) -> bool:
        """Whether the call can use partial results: its argument is a column of one input."""
        return self.source(call) is not None and coalesces(call)

    def source(self, call: AggregateCall) -> str | None:
        """The column of an input that the call aggregates, if it is one; NULL where it is not."""
        if call.argument is None:
            return None
        scalars = [arm.scalar(call.argument) for arm in self.arms]
        names = {str(each.node.name) for each in scalars if each.is_column}
        others = [each for each in scalars if not each.is_column]
        return names.pop() if len(names) == 1 and all(map(_is_null, others)) else None

    def _below(self, names: Iterable[str]) -> frozenset[str]:
        wanted = list(names)
        return frozenset().union(*(arm.below(wanted) for arm in self.arms))


def _is_one_join(arms: Sequence[Arm]) -> bool:
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


def _is_null(scalar: Scalar) -> bool:
    node = scalar.node
    return isinstance(node.this if isinstance(node, exp.Cast) else node, exp.Null)
