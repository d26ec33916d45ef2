"""A query that aggregates a join, taken apart: its inputs, and what it wants of their columns.

An outer join is an inner join, and beside it the rows without a partner, with NULL for what they
lack: several *arms* over the same inputs. A plain join has one arm.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from tidemill.algebra.aggregates import AggregateCall
from tidemill.algebra.nodes import Aggregate
from tidemill.algebra.plan import Plan
from tidemill.algebra.scalar import Scalar
from tidemill.algebra.schema import Schema
from tidemill.optimize.early.arguments import computed_below
from tidemill.optimize.early.arms import Arm, is_null, is_one_join
from tidemill.optimize.early.rule import coalesces


@dataclass(frozen=True)
class AggregateJoin:
    """An aggregate over the arms of a join, the inner join first.

    The calls are those of the aggregate, some of them with arguments computed in an input.
    """

    aggregate: Aggregate
    calls: tuple[AggregateCall, ...]
    arms: tuple[Arm, ...]

    @staticmethod
    def of(plan: Plan) -> AggregateJoin | None:
        """The plan as such a query, if it is one that can be rewritten."""
        if not isinstance(plan, Aggregate) or any(call.user for call in plan.calls):
            return None
        arms = list(Arm.all_of(plan.child))
        known = [arm for arm in arms if arm is not None]
        if len(known) < len(arms) or not is_one_join(known):
            return None
        return AggregateJoin(plan, *computed_below(plan.keys, plan.calls, known))

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
        odd = [call.argument for call in self.calls if not self.is_early(call)]
        looked_at = (arm.single_columns for arm in self.arms)
        return self._below(n for n in odd if n is not None).union(*looked_at)

    def is_early(self, call: AggregateCall) -> bool:
        """Whether the call can use partial results: its argument is a column of one input."""
        return self.source(call) is not None and coalesces(call)

    def source(self, call: AggregateCall) -> str | None:
        """The column of an input that the call aggregates, if it is one; NULL where it is not."""
        if call.argument is None:
            return None
        scalars = [arm.resolved(call.argument) for arm in self.arms]
        names = {str(each.node.name) for each in scalars if each.is_column}
        others = [each for each in scalars if not each.is_column]
        return names.pop() if len(names) == 1 and all(map(is_null, others)) else None

    def _below(self, names: Iterable[str]) -> frozenset[str]:
        wanted = list(names)
        return frozenset().union(*(arm.below(wanted) for arm in self.arms))
