"""Merge: equal rows that follow each other in a batch become one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from tidemill.physical.facts import PacedBy, Partitioning, RowValidity
from tidemill.physical.mechanisms.arrays import lasts_of
from tidemill.physical.mechanisms.keys import same_rows
from tidemill.physical.operator import (
    InstantExec,
    Operator,
    OverExec,
    SameMeaningExec,
    Stateless,
    ends,
    payload,
    starts,
    with_validity,
)
from tidemill.timeline import VALID_FROM


@dataclass(frozen=True)
class MergeExec(SameMeaningExec, OverExec, InstantExec):
    """Make one row of equal ones whose validities touch, where one row per key holds at a time.

    Unlike coalescing, it does not wait for the next batch.
    """

    keys: tuple[str, ...] = ()

    together = Partitioning.OWN
    paced_by = PacedBy.ALL

    def details(self) -> str:
        return f"by=[{', '.join(self.keys)}]" if self.keys else ""

    @cached_property
    def validity(self) -> RowValidity:
        return RowValidity(end_order=not self.keys)

    def operator(self) -> Operator:
        return _Merge(self.keys)


class _Merge(Stateless):
    def __init__(self, keys: tuple[str, ...]) -> None:
        self._order = [*keys, VALID_FROM]

    def apply(self, batch: pl.DataFrame) -> pl.DataFrame:
        if batch.height < 2:
            return batch
        batch = batch.sort(self._order)
        rows, start, end = payload(batch), starts(batch), ends(batch)
        again = same_rows(rows[1:], rows[:-1]) & (start[1:] == end[:-1])
        first = np.flatnonzero(np.append(True, ~again))
        return with_validity(rows[first], start[first], end[lasts_of(first, len(start))])
