"""Fuse: one plan until an instant, another from then on, and no seam between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from tidemill.physical.mechanisms.arrays import Bools, Ints, starts_of_runs
from tidemill.physical.mechanisms.cut import cut
from tidemill.physical.mechanisms.keys import canonical, key_table
from tidemill.physical.mechanisms.ordering import slot_order
from tidemill.physical.operator import (
    Operator,
    Own,
    empty_batch,
    ends,
    owned,
    payload,
    starts,
    with_validity,
)
from tidemill.physical.operators.migrating import MigratingExec, watermark_across
from tidemill.timeline import OPEN_END, VALID_FROM


@dataclass(frozen=True)
class FuseExec(MigratingExec):
    """What the old plan says before `split` and the new one from then on, as one stream.

    Rows are cut at the split; a half from the old plan and an equal one from the new are one row
    again. (Rows that merely touch there are left alone: a row of one instant stays one.)
    """

    def operator(self) -> Operator:
        return _Fuse(self)


class _Fuse(Operator):
    """A half of a row waits for the other until the other plan has passed its start.

    By then a plan with the same rows has put the other half out, so nothing comes later than
    from the slower of the two. Halves without a partner pass as they are: that changes no
    snapshot.
    """

    STATE = ("_firsts", "_seconds")

    def __init__(self, node: FuseExec) -> None:
        self._split = node.split
        # Both are kept whole: the start of a half tells for how long to wait.
        self._firsts = self._seconds = empty_batch(node.schema)

    def step(
        self, inputs: Sequence[pl.DataFrame], watermarks: Sequence[int]
    ) -> tuple[pl.DataFrame, int]:
        old, new = inputs
        old, new = old.filter(starts(old) < self._split), new.filter(ends(new) > self._split)
        firsts, before = _divided(old, ends(old) > self._split)
        seconds, after = _divided(new, starts(new) < self._split)
        firsts, seconds = pl.concat([self._firsts, firsts]), pl.concat([self._seconds, seconds])
        result = pl.concat([before, after, *self._joined(firsts, seconds, *watermarks)])
        held = int(starts(self._firsts).min(initial=OPEN_END))
        return result, min(held, watermark_across(watermarks, self._split))

    def _joined(
        self, firsts: pl.DataFrame, seconds: pl.DataFrame, old_mark: int, new_mark: int
    ) -> list[pl.DataFrame]:
        """Rows that were one before they were cut, then those that wait no longer."""
        same, firsts, seconds = _fused(firsts, seconds, [*firsts.columns[:-2], VALID_FROM])
        firsts, self._firsts = _divided(firsts, starts(firsts) < new_mark)
        seconds, self._seconds = _divided(seconds, starts(seconds) < old_mark)
        whole, firsts, seconds = _fused(firsts, seconds, firsts.columns[:-2])
        return [same, whole, cut(firsts, end=self._split), cut(seconds, self._split)]

    def share(self, others: Sequence[Any], own: Sequence[Sequence[Own]]) -> None:
        self._firsts = owned([other._firsts for other in others], [mine[0] for mine in own])
        self._seconds = owned([other._seconds for other in others], [mine[1] for mine in own])

    @property
    def state_rows(self) -> int:
        return self._firsts.height + self._seconds.height

    @property
    def state_bytes(self) -> int:
        return int(self._firsts.estimated_size() + self._seconds.estimated_size())


def _divided(batch: pl.DataFrame, chosen: Bools) -> tuple[pl.DataFrame, pl.DataFrame]:
    return batch.filter(chosen), batch.filter(~chosen)


def _without(batch: pl.DataFrame, positions: Ints) -> pl.DataFrame:
    kept = np.ones(batch.height, dtype=np.bool_)
    kept[positions] = False
    return batch.filter(kept)


def _fused(
    firsts: pl.DataFrame, seconds: pl.DataFrame, by: list[str]
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Halves that agree in some columns as whole rows, and the halves that are left."""
    one, other = _partners(firsts, seconds, by)
    whole = with_validity(payload(firsts[one]), starts(firsts)[one], ends(seconds)[other])
    return whole, _without(firsts, one), _without(seconds, other)


def _partners(firsts: pl.DataFrame, seconds: pl.DataFrame, by: list[str]) -> tuple[Ints, Ints]:
    """Positions of equal rows on both sides; every copy has one partner at most."""
    if not firsts.height or not seconds.height:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    rows = pl.concat([firsts, seconds])
    keys = canonical(rows.select(by))
    slots = key_table(keys).find_or_add(keys) if by else np.zeros(rows.height, np.int64)
    left, right = (_copies(side, rows.height) for side in np.split(slots, [firsts.height]))
    _, one, other = np.intersect1d(left, right, assume_unique=True, return_indices=True)
    return one, other


def _copies(slots: Ints, most: int) -> Ints:
    """Different numbers for the copies of a slot, the same for the n-th copy on either side.

    >>> _copies(np.array([5, 2, 5]), most=10).tolist()
    [50, 20, 51]
    """
    order = slot_order(slots)
    every = np.arange(len(slots), dtype=np.int64)
    first = np.maximum.accumulate(np.where(starts_of_runs(slots[order]), every, 0))
    numbers = np.empty_like(slots)
    numbers[order] = slots[order] * most + every - first
    return numbers
