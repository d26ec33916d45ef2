"""Granularity: changes only at multiples of a granule."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import polars as pl

from tidemill.algebra.plan import Plan
from tidemill.algebra.schema import Schema
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
class GranularityExec(Exec):
    """Round starts and ends up to multiples of the granule; drop what becomes empty."""

    child: Plan
    granule: int

    @cached_property
    def schema(self) -> Schema:
        return self.child.schema

    def details(self) -> str:
        return f"granule={self.granule}"

    def operator(self) -> Operator:
        return _Granularity(self.granule)


class _Granularity(Stateless):
    def __init__(self, granule: int) -> None:
        self._granule = granule

    def apply(self, batch: pl.DataFrame) -> pl.DataFrame:
        start = round_up(starts(batch), self._granule)
        end = round_up(ends(batch), self._granule)
        result = with_validity(payload(batch), start, end)
        return result.filter(start < end)
