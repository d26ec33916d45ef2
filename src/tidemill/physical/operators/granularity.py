"""Granularity: changes only at multiples of a granule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import polars as pl

from tidemill.algebra.nodes import Granularity
from tidemill.algebra.plan import Plan
from tidemill.physical.adjusting import AdjustableExec, sizes_at
from tidemill.physical.facts import PacedBy, Partitioning, RowValidity
from tidemill.physical.operator import (
    Exec,
    Operator,
    Stateless,
    ends,
    payload,
    starts,
    with_validity,
)
from tidemill.timeline import round_up


@dataclass(frozen=True)
class GranularityExec(AdjustableExec):
    """Round starts and ends up to multiples of the granule; drop what becomes empty.

    It is the granule in force where a row starts that both are rounded to.
    """

    SIZE: ClassVar = "granule"

    granule: int

    together = Partitioning.ANY
    paced_by = PacedBy.ALL
    same_rows = True
    keeps_columns = True

    def details(self) -> str:
        return Granularity(self.child, self.granule, changes=self.changes, knob=self.knob).details()

    @cached_property
    def validity(self) -> RowValidity:
        below = self.child.validity
        finest = self.granule == 1 and self.is_fixed
        return RowValidity(finest and below.chronon, self.is_fixed and below.end_order)

    def meaning(self, inputs: Sequence[Plan]) -> Plan:
        return Granularity(inputs[0], self.granule, bounds=self.bounds, changes=self.changes)

    def through(self, missed: int) -> int:
        granules = [self.size_at(start) or 1 for start in self.last_starts(missed)]
        return max(int(round_up(np.array([missed]), granule)[0]) for granule in granules)

    def operator(self) -> Operator:
        return _Granularity(self)


class _Granularity(Stateless):
    def __init__(self, node: GranularityExec) -> None:
        self._node = node

    def take_over(self, node: Exec) -> None:
        assert isinstance(node, GranularityExec)
        self._node = node

    def apply(self, batch: pl.DataFrame) -> pl.DataFrame:
        granule = sizes_at(starts(batch), self._node.granule, self._node.changes)
        start, end = round_up(starts(batch), granule), round_up(ends(batch), granule)
        result = with_validity(payload(batch), start, end)
        return result.filter(start < end)
