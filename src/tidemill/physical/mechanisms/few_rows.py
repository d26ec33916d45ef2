"""Rows of a frame by number: the ways that cost least where there are few.

Thousands of operators get a handful of rows in a tick. Then the time goes into the calls, not into
the rows: a slice is twenty times as cheap as looking a row up.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from tidemill.physical.mechanisms.arrays import Bools, Ints

_SMALL = 4096
"""Rows of a frame that one of its rows may keep in memory: a slice holds on to all of it."""


def taken(frame: pl.DataFrame, rows: Ints) -> pl.DataFrame:
    """The rows with these numbers, in this order.

    >>> taken(pl.DataFrame({"a": [5, 6, 7]}), np.array([2, 0]))["a"].to_list()
    [7, 5]
    """
    if len(rows) == 1 and frame.height <= _SMALL:
        return frame.slice(int(rows[0]), 1)
    return frame[pl.Series(rows.astype(np.uint32))]


def kept(frame: pl.DataFrame, mask: Bools) -> pl.DataFrame:
    """The rows where the mask is true.

    >>> kept(pl.DataFrame({"a": [5, 6, 7]}), np.array([True, False, True]))["a"].to_list()
    [5, 7]
    """
    rows = np.flatnonzero(mask)
    return frame if len(rows) == frame.height else taken(frame, rows)


def beside(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """The columns of frames of one height, or without columns.

    >>> beside([pl.DataFrame({"a": [5]}), pl.DataFrame({"b": [6]})]).rows()
    [(5, 6)]
    """
    first, *others = [frame for frame in frames if frame.width] or [pl.DataFrame()]
    return first.hstack([column for frame in others for column in frame.get_columns()])
