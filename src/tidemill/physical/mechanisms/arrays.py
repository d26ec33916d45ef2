"""Small vector routines that the sweeps are made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Array = npt.NDArray[Any]

_PACKED_BITS = 62


def is_sorted(values: Array) -> bool:
    """Whether no value is smaller than the one before it."""
    return bool(np.all(values[1:] >= values[:-1]))


def ordered_bits(doubles: Array) -> Ints:
    """Whole numbers in the order of doubles: there is one zero, and one NaN, which comes last.

    >>> ordered_bits(np.array([2.5, -0.0, 0.0, np.nan, -np.inf])).argsort().tolist()
    [4, 1, 2, 0, 3]
    """
    return _flipped(np.where(np.isnan(doubles), np.nan, doubles + 0.0).view(np.int64))


def doubles_of(bits: Ints) -> Array:
    """The doubles that ordered bits were made from.

    >>> doubles_of(ordered_bits(np.array([2.5, -1.0]))).tolist()
    [2.5, -1.0]
    """
    return _flipped(bits).view(np.float64)


def _flipped(bits: Ints) -> Ints:
    return bits ^ ((bits >> 63) & np.int64(2**63 - 1))


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


def distinct(values: Ints) -> Ints:
    """The values in order, each once. (NumPy's own way takes several times as long.)

    >>> distinct(np.array([3, 1, 3])).tolist()
    [1, 3]
    """
    ordered = values if is_sorted(values) else np.sort(values)
    return ordered[starts_of_runs(ordered)]


def ends_of_runs(starts: Bools) -> Bools:
    """True at the last row of every run."""
    ends = np.empty_like(starts)
    ends[:-1] = starts[1:]
    ends[-1:] = True
    return ends


def lasts_of(starts: Ints, length: int) -> Ints:
    """The last positions of runs, given the first ones and the length of all together.

    >>> lasts_of(np.array([0, 2, 3]), 7).tolist()
    [1, 2, 6]
    """
    lasts = np.empty_like(starts)
    lasts[:-1] = starts[1:] - 1
    lasts[-1:] = length - 1
    return lasts


def ranges(starts: Ints, lengths: Ints) -> Ints:
    """The numbers of many ranges, one range after the other.

    >>> ranges(np.array([10, 5]), np.array([2, 3])).tolist()
    [10, 11, 5, 6, 7]
    """
    total = int(lengths.sum())
    before = np.cumsum(lengths) - lengths
    numbers: Ints = np.arange(total, dtype=np.int64) + np.repeat(starts - before, lengths)
    return numbers


def blocks(counts: Ints, most: int) -> Iterator[slice]:
    """Slices in which the counts add up to about `most`; a larger count is never cut.

    >>> list(blocks(np.array([2, 2, 9, 1]), 4))
    [slice(0, 2, None), slice(2, 4, None)]
    """
    block = (np.cumsum(counts) - 1) // most
    for number in np.unique(block).tolist():
        yield slice(*np.searchsorted(block, [number, number + 1]).tolist())


def bisect(values: Ints, low: Ints, high: Ints, bound: Ints | int) -> Ints:
    """In each range [low, high) of sorted values, the first position not below the bound.

    >>> bisect(np.array([1, 5, 9, 2, 4]), np.array([0, 3]), np.array([3, 5]), 5).tolist()
    [1, 5]
    """
    result = low.copy()
    rows = np.flatnonzero(low < high)  # where the search is not over
    low, high, bound = low[rows], high[rows], np.broadcast_to(bound, result.shape)[rows]
    while len(rows):
        middle = (low + high) >> 1
        below = values[middle] < bound
        low, high = np.where(below, middle + 1, low), np.where(below, high, middle)
        result[rows] = low
        rest = np.flatnonzero(low < high)
        rows, low, high, bound = rows[rest], low[rest], high[rest], bound[rest]
    return result


def running_max(values: Ints, starts: Bools) -> Ints:
    """The largest value so far, afresh in every run.

    >>> running_max(np.array([3, 1, 4, 2, 0]), np.array([1, 0, 0, 1, 0], dtype=bool)).tolist()
    [3, 3, 4, 2, 2]
    >>> running_max(np.array([0, 2**62, 1]), np.array([1, 0, 0], dtype=bool)).tolist()
    [0, 4611686018427387904, 4611686018427387904]
    """
    if len(values) == 0:
        return values
    run = np.cumsum(starts) - 1
    low = int(values.min())
    bits = (int(values.max()) - low).bit_length()
    if bits + int(run[-1]).bit_length() > _PACKED_BITS:
        return _running_max_by_doubling(values, run)
    packed = np.maximum.accumulate((run << bits) | (values - low))
    return (packed & ((1 << bits) - 1)) + low


def _running_max_by_doubling(values: Ints, run: Ints) -> Ints:
    """As `running_max`, where value and number of the run do not fit into one word."""
    best = values.copy()
    reach, longest = 1, int(np.bincount(run).max())
    while reach < longest:
        same = run[reach:] == run[:-reach]
        np.maximum(best[reach:], best[:-reach], out=best[reach:], where=same)
        reach *= 2
    return best
