"""Cutting: the part of rows that lies within a span of time."""

from __future__ import annotations

import numpy as np
import polars as pl

from tidemill.physical.operator import ends, payload, starts, with_validity
from tidemill.timeline import BEGIN, OPEN_END


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
