"""Sums and largest values of ranges of rows; cheap as long as neither bound goes back."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tidemill.physical.mechanisms.arrays import Bools, Ints
from tidemill.physical.mechanisms.compiled import compiled_for, part

Doubles = npt.NDArray[np.float64]

PARTS = 64  # more doubles of which none reaches into the next do not exist


@part
def add(parts: Doubles, count: int, number: float) -> int:
    """Add a number to a sum that is kept exactly, as doubles that do not overlap."""
    kept = 0
    for at in range(count):
        other = parts[at]
        if abs(number) < abs(other):
            number, other = other, number
        total = number + other
        lost = other - (total - number)
        if lost != 0.0:
            parts[kept] = lost
            kept += 1
        number = total
    parts[kept] = number
    return kept + 1


@part
def rounded(parts: Doubles, count: int) -> float:
    """The double next to an exact sum; a half goes to the even one."""
    if count == 0:
        return 0.0
    at = count - 1
    total, lost = float(parts[at]), 0.0
    while at > 0 and lost == 0.0:
        at -= 1
        before, number = total, parts[at]
        total = before + number
        lost = number - (total - before)
    if at > 0 and ((lost < 0.0 and parts[at - 1] < 0.0) or (lost > 0.0 and parts[at - 1] > 0.0)):
        # What is left over decides: it was a half only as far as `lost` can tell.
        double = lost * 2.0
        other = total + double
        if double == other - total:
            total = other
    return total


@part
def with_terms(parts: Doubles, count: int, terms: Doubles, spare: Doubles) -> float:
    """A sum and some more numbers, rounded once."""
    for at in range(count):
        spare[at] = parts[at]
    for term in terms:
        if term != 0.0:
            count = add(spare, count, term)
    return rounded(spare, count)


_NO_DOUBLES, _NO_INTS, _NO_BOOLS = np.zeros(0), np.zeros(0, np.int64), np.zeros(0, np.bool_)


@compiled_for(_NO_DOUBLES, _NO_INTS, _NO_INTS, np.zeros((0, 0)), np.zeros((2, PARTS)), _NO_DOUBLES)
def sums_of_ranges(
    numbers: Doubles, low: Ints, high: Ints, terms: Doubles, scratch: Doubles, sums: Doubles
) -> None:
    """The sum of finite numbers of every range, and of its terms, rounded once."""
    parts, spare = scratch[0], scratch[1]
    count, begin, end = 0, 0, 0
    for at in range(len(low)):
        if low[at] < begin or low[at] >= end or high[at] < end:
            count, begin, end = 0, low[at], low[at]
        while end < high[at]:
            count = add(parts, count, numbers[end])
            end += 1
        while begin < low[at]:
            count = add(parts, count, -numbers[begin])
            begin += 1
        sums[at] = with_terms(parts, count, terms[at], spare)


@compiled_for(_NO_INTS, _NO_BOOLS, _NO_INTS, _NO_INTS, _NO_INTS, _NO_INTS)
def largest_of_ranges(
    numbers: Ints, present: Bools, low: Ints, high: Ints, queue: Ints, largest: Ints
) -> None:
    """The largest number that is present in every range; what was there where none is."""
    front, back = 0, 0  # of the queue, in which each row is larger than all after it
    begin, end = 0, 0
    for at in range(len(low)):
        if low[at] < begin or low[at] >= end or high[at] < end:
            front, back, end = 0, 0, low[at]
        begin = low[at]
        while end < high[at]:
            if present[end]:
                while back > front and numbers[queue[back - 1]] <= numbers[end]:
                    back -= 1
                queue[back] = end
                back += 1
            end += 1
        while front < back and queue[front] < low[at]:
            front += 1
        if front < back:
            largest[at] = numbers[queue[front]]
