"""Scores as 64-bit integers that sort as the scores do."""

from __future__ import annotations

import numpy as np
import polars as pl

from tidemill.physical.mechanisms.arrays import Ints, doubles_of, ordered_bits
from tidemill.physical.operators.topk.layout import ABSENT

NULL = ABSENT + 1
"""Behind all scores, but not gone."""


def keys_of(scores: pl.Series) -> Ints:
    """A key for every score; NaN is the largest number, NULL comes after all.

    >>> keys = keys_of(pl.Series([-1.5, 0.0, None, float("nan"), 2.0]))
    >>> np.argsort(keys).tolist()
    [2, 0, 1, 4, 3]
    """
    if scores.dtype.is_float():
        keys = ordered_bits(scores.cast(pl.Float64).fill_null(0.0).to_numpy())
    else:
        keys = scores.to_physical().cast(pl.Int64).fill_null(0).to_numpy()
    keys = np.maximum(keys, NULL + 1)  # two of all numbers are missing
    if scores.null_count():
        keys[scores.is_null().to_numpy()] = NULL
    return keys


def scores_of(keys: Ints, dtype: pl.DataType) -> pl.Series:
    """The scores that have these keys."""
    numbers = doubles_of(keys) if dtype.is_float() else keys
    return pl.select(pl.when(pl.Series(keys != NULL)).then(pl.Series(numbers))).to_series()
