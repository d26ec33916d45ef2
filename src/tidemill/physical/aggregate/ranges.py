"""The smallest of the numbers whose ranges cover a position, for all positions at once."""

from __future__ import annotations

import numpy as np

from tidemill.physical.arrays import Ints

NOTHING = np.int64(2**63 - 1)


def smallest_covering(size: int, starts: Ints, ends: Ints, keys: Ints) -> Ints:
    """For each position below `size` the smallest key of a range [start, end) around it.

    A range is two overlapping blocks whose length is a power of two; from the largest blocks
    down, every block hands its key to its two halves.

    >>> smallest_covering(4, np.array([0, 1]), np.array([3, 4]), np.array([5, 3])).tolist()
    [5, 3, 3, 3]
    """
    table = np.full(size, NOTHING)
    lengths = ends - starts
    levels = np.frexp(lengths.astype(np.float64))[1] - 1
    order = np.argsort((-levels).astype(np.int8), kind="stable")
    order = order[lengths[order] > 0]
    levels, starts, ends, keys = levels[order], starts[order], ends[order], keys[order]
    top = int(levels[0]) if len(levels) else 0
    bounds = np.searchsorted(-levels, np.arange(-top, 2))
    for step, level in enumerate(range(top, -1, -1)):
        here = slice(bounds[step], bounds[step + 1])
        np.minimum.at(table, starts[here], keys[here])
        np.minimum.at(table, ends[here] - (1 << level), keys[here])
        if level:
            half = 1 << (level - 1)
            lower = table.copy()
            np.minimum(lower[half:], table[:-half], out=lower[half:])
            table = lower
    return table
