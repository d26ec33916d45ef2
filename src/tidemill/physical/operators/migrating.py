"""Handing over: two plans with the same snapshots, the second of which answers from an instant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from tidemill.algebra.plan import Plan
from tidemill.algebra.schema import Schema
from tidemill.physical.facts import PacedBy, Partitioning, RowValidity
from tidemill.physical.mechanisms.cut import watermark_within
from tidemill.physical.operator import Exec
from tidemill.timeline import BEGIN, OPEN_END


@dataclass(frozen=True)
class MigratingExec(Exec):
    """The old plan before `split`, the new one from then on."""

    old: Exec
    new: Exec
    split: int

    together = Partitioning.OWN
    paced_by = PacedBy.ALL

    def __post_init__(self) -> None:
        if self.old.schema != self.new.schema:
            raise ValueError("plans that follow each other must have the same columns")

    @cached_property
    def schema(self) -> Schema:
        return self.old.schema

    def details(self) -> str:
        return f"split={self.split}"

    @cached_property
    def validity(self) -> RowValidity:
        return RowValidity(self.old.validity.chronon and self.new.validity.chronon)

    def meaning(self, inputs: Sequence[Plan]) -> Plan:
        return inputs[-1]  # both have the same snapshots

    def rows_at_once(self, inputs: Sequence[float]) -> float:
        return inputs[0]

    def through(self, missed: int) -> int:
        return missed


def watermark_across(watermarks: Sequence[int], split: int) -> int:
    """The watermark of both plans: before the split the old one counts, then the new one.

    >>> [watermark_across(marks, 10) for marks in ((3, 1), (10, 8), (12, 11))]
    [3, 10, 11]
    """
    old, new = watermarks
    return min(watermark_within(old, BEGIN, split), watermark_within(new, split, OPEN_END))
