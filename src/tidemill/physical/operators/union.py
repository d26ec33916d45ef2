"""Union: the rows of both inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from tidemill.algebra.plan import Plan
from tidemill.algebra.schema import Schema
from tidemill.algebra.sets import Union
from tidemill.physical.facts import PacedBy, Partitioning, RowValidity
from tidemill.physical.operator import Exec, InstantExec, Operator, Own, together


@dataclass(frozen=True)
class UnionExec(InstantExec):
    """Pass on what comes from either side."""

    left: Exec
    right: Exec

    together = Partitioning.OWN
    paced_by = PacedBy.ALL
    same_rows = True

    @cached_property
    def schema(self) -> Schema:
        return self.left.schema

    def remembers(self, complete: bool) -> tuple[bool, ...]:
        return (False, False)

    @cached_property
    def validity(self) -> RowValidity:
        return RowValidity(self.left.validity.chronon and self.right.validity.chronon)

    def meaning(self, inputs: Sequence[Plan]) -> Plan:
        return Union(*inputs)

    def rows_at_once(self, inputs: Sequence[float]) -> float:
        return sum(inputs)

    def operator(self) -> Operator:
        return _Union()


class _Union(Operator):
    def step(
        self, inputs: Sequence[pl.DataFrame], watermarks: Sequence[int]
    ) -> tuple[pl.DataFrame, int]:
        return together(inputs), min(watermarks)

    def share(self, others: Sequence[Any], own: Sequence[Sequence[Own]]) -> None:
        pass

    def rest(self, watermarks: Sequence[int]) -> int | None:
        return min(watermarks)
