"""Rows that came too late, as a result of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from tidemill.algebra.plan import Plan
from tidemill.algebra.schema import Schema
from tidemill.physical.facts import PacedBy, Partitioning, RowValidity
from tidemill.physical.operator import Exec, Operator
from tidemill.physical.operators.source import SourceExec


@dataclass(frozen=True)
class LateRowsExec(Exec):
    """The rows of a source behind its watermark. They hold from their time to the watermark."""

    child: SourceExec

    together = Partitioning.ANY
    paced_by = PacedBy.OWN

    @cached_property
    def schema(self) -> Schema:
        return self.child.scan.columns

    @cached_property
    def validity(self) -> RowValidity:
        return RowValidity()

    def meaning(self, inputs: Sequence[Plan]) -> Plan:
        return inputs[0]

    def rows_at_once(self, inputs: Sequence[float]) -> float:
        return inputs[0]

    def through(self, missed: int) -> int:
        return missed

    def operator(self) -> Operator:
        raise TypeError("late rows have no operator; the runtime keeps them apart")
