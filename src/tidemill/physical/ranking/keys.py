"""Scores as 64-bit integers that sort as the scores do."""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa

from tidemill.physical.arrays import Array, Ints
from tidemill.physical.topk.layout import ABSENT

NULL = ABSENT + 1
"""Behind all scores, but not gone."""

_LOW_BITS = np.int64(2**63 - 1)
_SIGN = np.int64(63)


def is_plain(type: pa.DataType) -> bool:
    """Whether values have keys at all: numbers and times do."""
    kinds = (pa.types.is_integer, pa.types.is_floating, pa.types.is_temporal)
    return any(is_kind(type) for is_kind in kinds)


def keys_of(scores: pl.Series) -> Ints:
    """A key for every score; NaN is the largest number, NULL is behind all.

    >>> keys = keys_of(pl.Series([-1.5, 0.0, None, float("nan"), 2.0]))
    >>> np.argsort(keys).tolist()
    [2, 0, 1, 4, 3]
    """
    if scores.dtype.is_float():
        keys = keys_of_doubles(scores.cast(pl.Float64).fill_null(0.0).to_numpy())
    else:
        keys = scores.to_physical().cast(pl.Int64).fill_null(0).to_numpy()
    keys = np.maximum(keys, NULL + 1)  # two of all numbers are missing
    if scores.null_count():
        keys[scores.is_null().to_numpy()] = NULL
    return keys


def keys_of_doubles(numbers: Array) -> Ints:
    """Integers that sort as doubles do; there is one zero and one NaN."""
    one_each = np.where(np.isnan(numbers), np.nan, numbers + 0.0)
    return _flipped(one_each.view(np.int64))


def doubles_of(keys: Ints) -> Array:
    """The doubles that have these keys.

    >>> doubles_of(keys_of_doubles(np.array([-1.5, 0.25]))).tolist()
    [-1.5, 0.25]
    """
    return _flipped(keys).view(np.float64)


def scores_of(keys: Ints, dtype: pl.DataType) -> pl.Series:
    """The scores that have these keys."""
    numbers = doubles_of(keys) if dtype.is_float() else keys
    return pl.select(pl.when(pl.Series(keys != NULL)).then(pl.Series(numbers))).to_series()


def _flipped(bits: Ints) -> Ints:
    # The bits of a negative double grow with its size.
    flipped: Ints = bits ^ ((bits >> _SIGN) & _LOW_BITS)
    return flipped
