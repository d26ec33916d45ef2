"""Granularity: changes only at multiples of a granule."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import polars as pl

from tidemill.algebra.nodes import Granularity
from tidemill.algebra.schema import Schema
from tidemill.physical.adjusting import AdjustableExec, sizes_at
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

    child: Exec
    granule: int

    @cached_property
    def schema(self) -> Schema:
        return self.child.schema

    def details(self) -> str:
        return Granularity(self.child, self.granule, changes=self.changes, knob=self.knob).details()

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
