"""Reference points: rows belong to the plan that answers where they start."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from tidemill.physical.operator import Operator, Own, starts
from tidemill.physical.operators.migrating import MigratingExec, watermark_across


@dataclass(frozen=True)
class ReferencePointExec(MigratingExec):
    """Rows of the old plan that start before `split`, and those of the new that start later.

    Both plans must have the very same rows, not only the same snapshots. So it is for windows,
    joins and what treats each row on its own; it is wrong for aggregates and duplicates.
    """

    def remembers(self, complete: bool) -> tuple[bool, ...]:
        return (False, False)

    def operator(self) -> Operator:
        return _ReferencePoint(self.split)


class _ReferencePoint(Operator):
    def __init__(self, split: int) -> None:
        self._split = split

    def step(
        self, inputs: Sequence[pl.DataFrame], watermarks: Sequence[int]
    ) -> tuple[pl.DataFrame, int]:
        old, new = inputs
        rows = [old.filter(starts(old) < self._split), new.filter(starts(new) >= self._split)]
        return pl.concat(rows), watermark_across(watermarks, self._split)

    def share(self, others: Sequence[Any], own: Sequence[Sequence[Own]]) -> None:
        pass
