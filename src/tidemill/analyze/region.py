"""Regions of inner joins: inputs that are joined, whatever the order, and the conditions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from tidemill.algebra import Filter, Join, Plan, Project, Scalar, Schema, column
from tidemill.algebra.scalar import conjunction, conjuncts


@dataclass(frozen=True)
class Region:
    """Inputs, conditions that their combinations meet, and the columns of the result.

    `original` is the plan that the region was taken from, with the same inputs.
    """

    inputs: Sequence[Plan]
    conjuncts: Sequence[Scalar]
    schema: Schema
    original: Plan | None = field(default=None, compare=False)

    def rebuilt(self) -> Plan:
        """The plan of the region: joined from left to right, equalities as early as possible.

        Other conditions come at the end: they see no rows that they did not see before.
        """
        if self.original is not None:
            return _replaced(self.original, iter(self.inputs))
        pool = list(self.conjuncts)
        plan = self.inputs[0]
        for other in self.inputs[1:]:
            names = {*plan.schema.names, *other.schema.names}
            here = [part for part in pool if is_equality(part) and part.columns <= names]
            pool = [part for part in pool if part not in here]
            plan = Join(plan, other, conjunction(*here))
        rest = conjunction(*pool)
        plan = plan if rest is None else Filter(plan, rest)
        if plan.schema.names == self.schema.names:
            return plan
        return Project(plan, tuple((f.name, column(f.name, f.type)) for f in self.schema))


def region_of(plan: Plan) -> Region:
    """The largest region of inner joins and filters below a plan.

    >>> import pyarrow as pa
    >>> from tidemill.algebra import Scan
    >>> a, b = (Scan(name, name, Schema.of(k=pa.int64())) for name in "ab")
    >>> region = region_of(Join(a, b, None))
    >>> [node.label for node in region.inputs]
    ['Scan a columns=[k]', 'Scan b columns=[k]']
    """
    inputs: list[Plan] = []
    found: list[Scalar] = []
    _collect(plan, inputs, found)
    return Region(inputs, found, plan.schema, plan)


def is_equality(part: Scalar) -> bool:
    """Whether a condition compares two things of different inputs for equality."""
    return isinstance(part.node, exp.EQ | exp.NullSafeEQ) and len(part.columns) > 1


def _collect(plan: Plan, inputs: list[Plan], found: list[Scalar]) -> None:
    match plan:
        case Filter(child, predicate):
            _collect(child, inputs, found)
            found.extend(conjuncts(predicate))
        case Join(left, right, condition):
            _collect(left, inputs, found)
            _collect(right, inputs, found)
            found.extend(conjuncts(condition))
        case _:
            inputs.append(plan)


def _replaced(plan: Plan, inputs: Iterator[Plan]) -> Plan:
    if isinstance(plan, Filter | Join):
        return plan.with_children([_replaced(child, inputs) for child in plan.children])
    return next(inputs)
