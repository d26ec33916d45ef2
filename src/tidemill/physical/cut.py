"""Cut: the part of a stream that holds within a span of time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from tidemill.algebra.plan import Plan
from tidemill.algebra.schema import Schema
from tidemill.physical.operator import Exec, Operator, ends, payload, starts, with_validity
from tidemill.timeline import BEGIN, OPEN_END


@dataclass(frozen=True)
class CutExec(Exec):
    """Keep of every row what lies in [start, end)."""

    child: Plan
    start: int = BEGIN
    end: int = OPEN_END

    def __post_init__(self) -> None:
        if not self.start < self.end:
            raise ValueError(f"[{self.start}, {self.end}) is empty")

    @cached_property
    def schema(self) -> Schema:
        return self.child.schema

    def details(self) -> str:
        after = f"from={self.start}" if self.start > BEGIN else ""
        before = f"to={self.end}" if self.end < OPEN_END else ""
        return f"{after} {before}".strip()

    def operator(self) -> Operator:
        return _Cut(self)


class _Cut(Operator):
    def __init__(self, node: CutExec) -> None:
        self._start, self._end = node.start, node.end

    def step(
        self, inputs: Sequence[pl.DataFrame], watermarks: Sequence[int]
    ) -> tuple[pl.DataFrame, int]:
        mark = watermark_within(watermarks[0], self._start, self._end)
        return cut(inputs[0], self._start, self._end), mark


def cut(batch: pl.DataFrame, start: int = BEGIN, end: int = OPEN_END) -> pl.DataFrame:
    """What lies in [start, end) of every row.

    >>> rows = pl.DataFrame({"v": ["a", "b"], "valid_from": [1, 7], "valid_to": [9, 8]})
    >>> cut(rows, 5, 7).rows()
    [('a', 5, 7)]
    """
    if batch.height == 0:
        return batch
    first, last = starts(batch), ends(batch)
    kept = (first < end) & (last > start)
    if not kept.all():
        batch, first, last = batch.filter(kept), first[kept], last[kept]
    if (first >= start).all() and (last <= end).all():
        return batch
    return with_validity(payload(batch), np.maximum(first, start), np.minimum(last, end))


def watermark_within(watermark: int, start: int, end: int) -> int:
    """The watermark of what was cut: nothing starts before the span, nor at its end.

    >>> watermark_within(3, 5, 9), watermark_within(7, 5, 9)
    (5, 7)
    >>> watermark_within(9, 5, 9) == OPEN_END
    True
    """
    return OPEN_END if watermark >= end else max(watermark, start)
