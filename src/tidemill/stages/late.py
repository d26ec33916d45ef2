"""Rows that came too late, as a result of their own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from tidemill.algebra.schema import Schema
from tidemill.physical.facts import PacedBy, Partitioning, RowValidity
from tidemill.physical.operator import Operator, SameMeaningExec
from tidemill.physical.operators.source import SourceExec


@dataclass(frozen=True)
class LateRowsExec(SameMeaningExec):
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

    def operator(self) -> Operator:
        raise TypeError("late rows have no operator; the runtime keeps them apart")
