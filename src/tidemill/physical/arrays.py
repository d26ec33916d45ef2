"""Small vector routines that the sweeps are made of."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Array = npt.NDArray[Any]

_DIGIT = np.uint64(0xFFFF)
_PACKED_BITS = 62


def stable_order(values: Array) -> Ints:
    """Positions that sort the values, equal ones in their old order.

    >>> stable_order(np.array([3, 1, 3, 0])).tolist()
    [3, 1, 0, 2]
    """
    if len(values) == 0 or bool(np.all(values[1:] >= values[:-1])):
        return np.arange(len(values), dtype=np.int64)
    return np.argsort(values, kind="stable").astype(np.int64, copy=False)


def slot_order(slots: Ints) -> Ints:
    """As `stable_order`, for small non-negative numbers: a radix sort, digit by digit."""
    if len(slots) == 0:
        return np.empty(0, dtype=np.int64)
    rest = slots.astype(np.uint64)
    order = np.arange(len(slots), dtype=np.int64)
    for shift in range(0, max(int(rest.max()).bit_length(), 1), 16):
        digit = ((rest >> np.uint64(shift)) & _DIGIT).astype(np.uint16)
        order = order[np.argsort(digit[order], kind="stable")]
    return order


def starts_of_runs(*sorted_columns: Array) -> Bools:
    """True where a row differs from the row before it in any of the columns.

    >>> starts_of_runs(np.array([1, 1, 2]), np.array([5, 5, 5])).tolist()
    [True, False, True]
    """
    changed = np.zeros(len(sorted_columns[0]), dtype=np.bool_)
    changed[:1] = True
    for column in sorted_columns:
        changed[1:] |= column[1:] != column[:-1]
    return changed


def ends_of_runs(starts: Bools) -> Bools:
    """True at the last row of every run."""
    ends = np.empty_like(starts)
    ends[:-1] = starts[1:]
    ends[-1:] = True
    return ends


def ranges(starts: Ints, lengths: Ints) -> Ints:
    """The numbers of many ranges, one range after the other.

    >>> ranges(np.array([10, 5]), np.array([2, 3])).tolist()
    [10, 11, 5, 6, 7]
    """
    total = int(lengths.sum())
    before = np.cumsum(lengths) - lengths
    return np.arange(total, dtype=np.int64) + np.repeat(starts - before, lengths)


def running_max(values: Ints, starts: Bools) -> Ints:
    """The largest value so far, afresh in every run.

    >>> running_max(np.array([3, 1, 4, 2, 0]), np.array([1, 0, 0, 1, 0], dtype=bool)).tolist()
    [3, 3, 4, 2, 2]
    """
    if len(values) == 0:
        return values
    run = np.cumsum(starts) - 1
    low = int(values.min())
    bits = (int(values.max()) - low).bit_length()
    if bits + int(run[-1]).bit_length() > _PACKED_BITS:
        # Too wide to share a word with the number of the run: work on ranks instead.
        distinct, ranks = np.unique(values, return_inverse=True)
        return distinct[running_max(ranks.astype(np.int64), starts)]
    packed = np.maximum.accumulate((run << bits) | (values - low))
    return (packed & ((1 << bits) - 1)) + low
