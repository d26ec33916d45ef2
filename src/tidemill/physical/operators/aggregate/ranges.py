"""The smallest of the numbers whose ranges cover a position, for all positions at once."""

from __future__ import annotations

import numpy as np

from tidemill.physical.mechanisms.arrays import Array, Ints
from tidemill.physical.mechanisms.compiled import compiled_for, fixed, part

NOTHING = np.int64(2**63 - 1)

_LEVELS = 64
_NUMBERS = np.zeros(0, np.int64)
_FIXED = fixed(_NUMBERS)


def smallest_covering(size: int, starts: Ints, ends: Ints, keys: Ints) -> Ints:
    """For each position below `size` the smallest key of a range [start, end) around it.

    A range is two overlapping blocks whose length is a power of two; from the largest blocks
    down, every block hands its key to its two halves.

    >>> smallest_covering(4, np.array([0, 1]), np.array([3, 4]), np.array([5, 3])).tolist()
    [5, 3, 3, 3]
    """
    table = np.full(size, NOTHING)
    order, bounds = np.empty(len(keys), np.int32), np.zeros(_LEVELS + 1, np.int64)
    cover(fixed(starts), fixed(ends), fixed(keys), order, bounds, table)
    return table


@part
def _level(length: int) -> int:
    """The largest power of two that is not larger than a length; -1 for none."""
    level = -1
    while length > 0:
        length >>= 1
        level += 1
    return level


@part
def _by_level(starts: Ints, ends: Ints, order: Array, bounds: Ints) -> None:
    """The ranges in the order of their levels, and where those of each level begin."""
    for row in range(len(starts)):
        bounds[_level(ends[row] - starts[row]) + 2] += 1
    for level in range(1, len(bounds)):
        bounds[level] += bounds[level - 1]
    for row in range(len(starts)):
        level = _level(ends[row] - starts[row]) + 1
        order[bounds[level]] = row
        bounds[level] += 1


@compiled_for(_FIXED, _FIXED, _FIXED, np.zeros(0, np.int32), _NUMBERS, _NUMBERS)
def cover(starts: Ints, ends: Ints, keys: Ints, order: Array, bounds: Ints, table: Ints) -> None:
    """Fill in the table; `bounds` are zeros at first, one more than there are levels."""
    _by_level(starts, ends, order, bounds)
    for level in range(len(bounds) - 3, -1, -1):
        for at in range(bounds[level], bounds[level + 1]):
            row = order[at]
            last = ends[row] - (1 << level)
            table[starts[row]] = min(table[starts[row]], keys[row])
            table[last] = min(table[last], keys[row])
        half = (1 << level) >> 1
        if half and bounds[level] < len(order):
            for at in range(len(table) - 1, half - 1, -1):
                table[at] = min(table[at], table[at - half])
