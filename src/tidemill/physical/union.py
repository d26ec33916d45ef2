"""Union: the rows of both inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from tidemill.algebra.schema import Schema
from tidemill.physical.operator import Exec, Operator, Own, together


@dataclass(frozen=True)
class UnionExec(Exec):
    """Pass on what comes from either side."""

    left: Exec
    right: Exec

    @cached_property
    def schema(self) -> Schema:
        return self.left.schema

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
