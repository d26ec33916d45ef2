"""How many different values columns have."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import TYPE_CHECKING

from sqlglot import exp

from tidemill.algebra import nodes, sets
from tidemill.algebra.plan import Memo, Plan
from tidemill.algebra.scalar import Scalar
from tidemill.optimize.sharing import Shared

if TYPE_CHECKING:
    from tidemill.optimize.cost.estimates import Estimator


EQUALITIES = (exp.EQ, exp.NullSafeEQ)


class Values:
    """The size of the domain of columns, over all time: None where nothing is known."""

    def __init__(self, estimator: Estimator) -> None:
        self._estimator = estimator
        self._known: Memo[Plan, dict[str, float | None]] = Memo(lambda plan: {})

    def of(self, plan: Plan, column: str) -> float | None:
        """Different values of a column of the plan."""
        known = self._known(plan)
        if column not in known:
            known[column] = self._of(plan, column)
        return known[column]

    def _of(self, plan: Plan, column: str) -> float | None:
        match plan:
            case Shared():
                return self.of(plan.part, column)
            case nodes.Scan():
                known = self._estimator.statistics.of(plan.source).distinct
                return known.get(column.removeprefix(f"{plan.alias}."))
            case nodes.Project():
                # Numbers that an operator gives to rows stand for themselves, without a source.
                item = dict(plan.items).get(column)
                return None if item is None else self.of_scalar(plan.child, item)
            case nodes.Filter():
                return self._filtered(plan, column)
            case nodes.Aggregate():
                return self.of(plan.child, column) if column in plan.keys else None
            case sets.SetOperation() if plan.facts.sides is not sets.Sides.LEFT:
                # One side's values are taken to be among the other's.
                either = plan.facts.sides is sets.Sides.EITHER
                found = (self.of(side, column) for side in plan.children)
                return _largest(found) if either else _smallest(found)
        return self._matched(plan, column)

    def of_scalar(self, plan: Plan, scalar: Scalar) -> float | None:
        """Different values of an expression: at most one per combination of its columns."""
        parts = [self.of(plan, name) for name in scalar.columns]
        known = [part for part in parts if part is not None]
        return prod(known) if len(known) == len(parts) else None

    def _filtered(self, plan: nodes.Filter, column: str) -> float | None:
        """Conditions on the column alone leave a share of its values."""
        values = self.of(plan.child, column)
        for part in self._estimator.conjuncts(plan.predicate):
            if part.columns != {column}:
                continue
            if _fixes(part):
                return 1.0
            if values is not None:
                values = max(1.0, values * self._estimator.selectivity(part, plan.child))
        return values

    def _matched(self, plan: Plan, column: str) -> float | None:
        """Of one of the inputs; equality with another column leaves the smaller domain."""
        values = self._of_input(plan, column)
        condition = getattr(plan, "condition", None)
        if condition is None or isinstance(plan, nodes.AntiJoin):
            return values
        for part in self._estimator.conjuncts(condition):
            if isinstance(part.node, EQUALITIES) and column in part.columns:
                for other in part.columns - {column}:
                    values = _smallest([values, self._of_input(plan, other)])
        return values

    def _of_input(self, plan: Plan, column: str) -> float | None:
        for child in plan.children:
            if column in child.schema:
                return self.of(child, column)
        return None


def _fixes(part: Scalar) -> bool:
    """Whether the condition leaves one value: column = literal."""
    node = part.node
    if not isinstance(node, EQUALITIES):
        return False
    sides = (node.this, node.expression)
    return any(isinstance(side, exp.Column) for side in sides)


def _largest(values: Iterable[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)


def _smallest(values: Iterable[float | None]) -> float | None:
    return min((value for value in values if value is not None), default=None)
