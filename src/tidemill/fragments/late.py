"""Rows that came too late, as a result of their own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from tidemill.algebra.schema import Schema
from tidemill.physical.operator import Exec, Operator
from tidemill.physical.source import SourceExec


@dataclass(frozen=True)
class LateRowsExec(Exec):
    """The rows of a source behind its watermark. They hold from their time to the watermark."""

    child: SourceExec

    @cached_property
    def schema(self) -> Schema:
        return self.child.scan.columns

    def operator(self) -> Operator:
        raise TypeError("late rows have no operator; the runtime keeps them apart")
