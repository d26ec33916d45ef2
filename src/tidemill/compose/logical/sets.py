"""Set operations on inputs with the same columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import pyarrow as pa

from tidemill.algebra import (
    Difference,
    Intersection,
    MaxUnion,
    Plan,
    Project,
    Scalar,
    StrictDifference,
    Union,
    column,
)
from tidemill.algebra.sets import SetOperation
from tidemill.algebra.types import name_of
from tidemill.analyze.setops import common_type
from tidemill.analyze.trees import cast
from tidemill.compose.bench import Bench
from tidemill.compose.logical.rows import seen
from tidemill.compose.model import wrong
from tidemill.compose.operators import Card, kind_name


@dataclass(frozen=True)
class SetCard:
    """How a set operation is shown; all else follows from its class."""

    node: type[SetOperation]
    title: str
    summary: str
    most: int = 2

    @property
    def kind(self) -> str:
        """Its name in composed plans."""
        return kind_name(self.node)

    @property
    def operator(self) -> Card:
        """The logical operator."""
        return Card(self.kind, self.title, "sets", self.summary, self._build, (), 2, self.most)

    def _build(self, bench: Bench) -> Plan:
        return reduce(self.node, alike([seen(piece.plan) for piece in bench.inputs]))


def alike(plans: list[Plan]) -> list[Plan]:
    """The plans with columns of the same names and types: those of the first, made wider."""
    first = plans[0]
    for number, other in enumerate(plans[1:], 1):
        first = _as_wide(first, other, number)
    return [first, *(_like(first, other) for other in plans[1:])]


def _as_wide(left: Plan, right: Plan, number: int) -> Plan:
    """The left side with types that can hold the values of the right one."""
    if len(left.schema) != len(right.schema):
        sizes = (len(left.schema), len(right.schema))
        message = f"the first input has {sizes[0]} columns, this one {sizes[1]}"
        raise wrong(message, "put a Project below one of them", input=number)
    types = []
    for one, other in zip(left.schema, right.schema, strict=True):
        if (found := common_type(one.type, other.type)) is None:
            names = name_of(one.type), name_of(other.type)
            message = f"column `{one.name}` is {names[0]} in the first input, {names[1]} here"
            raise wrong(message, "convert it with CAST in a Project below", input=number)
        types.append(found)
    return _cast(left, left.schema.names, types)


def _like(first: Plan, other: Plan) -> Plan:
    return _cast(other, first.schema.names, list(first.schema.types))


def _cast(plan: Plan, names: tuple[str, ...], types: list[pa.DataType]) -> Plan:
    if plan.schema.names == names and list(plan.schema.types) == types:
        return plan
    items = []
    for name, wanted, known in zip(names, types, plan.schema, strict=True):
        value = column(known.name, known.type)
        same = known.type == wanted
        items.append((name, value if same else Scalar(cast(value.node, wanted), wanted)))
    return Project(plan, tuple(items))


CARDS = (
    SetCard(Union, "Union", "All rows of its inputs together (UNION ALL).", 20),
    SetCard(
        Difference,
        "Difference",
        "The copies of each row in the left input minus those in the right one (EXCEPT ALL).",
    ),
    SetCard(
        StrictDifference,
        "Strict difference",
        "The rows of the left input that do not occur in the right one.",
    ),
    SetCard(
        Intersection,
        "Intersection",
        "The rows that occur in both inputs, with the smaller number of copies (INTERSECT ALL).",
    ),
    SetCard(
        MaxUnion,
        "Union of maxima",
        "The rows of both inputs, with the larger number of copies.",
    ),
)

OPERATORS = tuple(card.operator for card in CARDS)
