"""Row numbers: tell equal rows apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl
import pyarrow as pa

from tidemill.algebra.nodes import Project
from tidemill.algebra.plan import Plan
from tidemill.algebra.scalar import column
from tidemill.algebra.schema import Field, Schema
from tidemill.physical.facts import PacedBy, Partitioning, RowValidity
from tidemill.physical.operator import Exec, Operator, Own, Stateless

_BITS = 40  # rows of a partition up to 2^40: beyond, their numbers would meet those of the next


@dataclass(frozen=True)
class RowNumberExec(Exec):
    """Add a column with a number of its own for every row."""

    child: Exec
    name: str

    together = Partitioning.OWN
    paced_by = PacedBy.ALL

    @cached_property
    def schema(self) -> Schema:
        return Schema((Field(self.name, pa.int64()), *self.child.schema.fields))

    def details(self) -> str:
        return self.name

    @property
    def unsaid(self) -> str | None:
        return "numbers of rows"

    @cached_property
    def validity(self) -> RowValidity:
        return self.child.validity

    def meaning(self, inputs: Sequence[Plan]) -> Plan:
        # In the words of the cost model: the algebra does not know where numbers come from.
        items = [(field.name, column(field.name, field.type)) for field in self.schema]
        return Project(inputs[0], tuple(items))

    def rows_at_once(self, inputs: Sequence[float]) -> float:
        return inputs[0]

    def through(self, missed: int) -> int:
        return missed

    def operator(self) -> Operator:
        return _RowNumber(self.name)


class _RowNumber(Stateless):
    STATE = ("_next",)

    def __init__(self, name: str) -> None:
        self._name = name
        self._next = 0

    def start(self, partition: int) -> None:
        self._next = partition << _BITS

    def share(self, others: Sequence[Any], own: Sequence[Sequence[Own]]) -> None:
        # Behind all numbers that any partition has given.
        self._next += max(other._next & ((1 << _BITS) - 1) for other in others)

    def apply(self, batch: pl.DataFrame) -> pl.DataFrame:
        numbers = pl.int_range(self._next, self._next + batch.height, eager=True)
        self._next += batch.height
        return batch.select(numbers.alias(self._name), pl.all())
