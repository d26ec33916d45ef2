"""What happens to objects: their rows come and go."""

from __future__ import annotations

import numpy as np

from tidemill.physical.mechanisms.arrays import Bools, Ints
from tidemill.physical.mechanisms.compiled import compiled_for

_NO_INTS = np.zeros(0, np.int64)
_NO_TABLE = np.zeros((0, 0), np.int64)


@compiled_for(_NO_INTS, _NO_INTS, _NO_INTS, _NO_INTS, _NO_INTS, 0, _NO_TABLE)
def follow(
    first: Ints, new: Ints, bound: Ints, times: Ints, ends: Ints, until: int, events: Ints
) -> int:
    """Events (time, object, first row, bound of rows): rows that an object has since then.

    Rows are in the order of objects and time. The rows of an object begin at `first`, those that
    come now at `new`, and stop at `bound`.
    """
    count = 0
    for number in range(len(first)):
        low, high, stop = first[number], new[number], bound[number]
        while True:
            time = until
            if low < high:
                time = ends[low]
            if high < stop and times[high] < time:
                time = times[high]
            if time >= until:
                break
            was_empty = low == high
            while high < stop and times[high] <= time:
                high += 1
            while low < high and ends[low] <= time:
                low += 1
            if low < high or not was_empty:
                events[0, count], events[1, count] = time, number
                events[2, count], events[3, count] = low, high
                count += 1
    return count


@compiled_for(*[_NO_INTS] * 5, np.zeros(0, np.bool_), _NO_INTS, _NO_TABLE)
def count_rows(
    first: Ints,
    new: Ints,
    bound: Ints,
    items: Ints,
    streams: Ints,
    anew: Bools,
    most: Ints,
    seen: Ints,
) -> int:
    """Count the rows that come, by item and stream; a row that is one too many, or -1.

    With the first row of all and those that are marked, an object begins anew.
    """
    for number in range(len(first)):
        counts = seen[items[first[number]]]
        for row in range(new[number], bound[number]):
            if row == first[number] or anew[row]:
                counts[:] = 0
            counts[streams[row]] += 1
            if counts[streams[row]] > most[streams[row]]:
                return row
    return -1
