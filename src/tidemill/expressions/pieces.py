"""Rows in pieces, for expressions that may take long for a few of them.

DuckDB looks whether it was interrupted after every 2048 rows. That is too late where a row makes
megabytes.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import polars as pl
from sqlglot import exp

from tidemill.algebra.scalar import Scalar
from tidemill.deadline import is_limited

_GROWING: Final = (
    exp.Repeat,
    exp.Space,
    exp.Pad,
    exp.Replace,
    exp.GenerateSeries,
    exp.Lambda,
    exp.Anonymous,
)
"""What can make a large value of a small one; functions of users might."""

_FIRST: Final = 16
_SECONDS: Final = 0.05
"""Pieces become larger as long as they take less."""


def may_grow(scalar: Scalar) -> bool:
    """Whether an expression may take long for one row."""
    return scalar.node.find(*_GROWING) is not None


def in_pieces(frame: pl.DataFrame, compute: Callable[[pl.DataFrame], pl.DataFrame]) -> pl.DataFrame:
    """What is computed for the rows, piece by piece if somebody may end it."""
    if frame.height <= _FIRST or not is_limited():
        return compute(frame)
    found, at, size = list[pl.DataFrame](), 0, _FIRST
    while at < frame.height:
        began = time.monotonic()
        found.append(compute(frame[at : at + size]))
        at += size
        if time.monotonic() - began < _SECONDS:
            size *= 4
        elif size > 1:
            size //= 2
    return pl.concat(found)
