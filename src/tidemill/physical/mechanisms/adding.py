"""The loops of the ledger: where keys change, and what their totals are from then on."""

from __future__ import annotations

import numpy as np

from tidemill.physical.mechanisms.arrays import Array, Ints
from tidemill.physical.mechanisms.compiled import compiled_for, fixed

_NUMBERS = np.zeros(0, np.int64)
_FIXED = fixed(_NUMBERS)


def found_moments(event_slots: Ints, event_times: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """The moments of events that are in order by key and time: events of one instant make one.

    Where the events of each begin, and behind the last one; their slots and times; and the first
    moment of every key.
    """
    size = len(event_slots)
    begin, slots, times, first = (np.empty(size + 1, dtype=np.int64) for _ in range(4))
    columns = fixed(event_slots), fixed(event_times)
    moments, keys = find_moments(*columns, begin, slots, times, first)
    begin[moments] = size
    return begin[: moments + 1], slots[:moments], times[:moments], first[:keys]


def added_up(amounts: Array, order: Ints, begin: Ints, first: Ints, before: Array) -> Array:
    """The totals of keys from each of their moments on, given those before the first."""
    totals = np.empty(len(begin) - 1, dtype=before.dtype)
    if before.dtype == np.int64:
        # Small numbers stay small: they are read in another order than they are stored.
        small = amounts.dtype == np.int8
        numbers = fixed(amounts if small else amounts.astype(np.int64, copy=False))
        add = add_up_small if small else add_up
        add(numbers, fixed(order), fixed(begin), fixed(first), fixed(before), totals)
    elif len(totals):
        # Whole numbers of any size: they are objects, which only NumPy adds up.
        change = np.add.reduceat(amounts[order], begin[:-1])
        change[first] += before
        change[first[1:]] -= np.add.reduceat(change, first)[:-1]
        totals[:] = np.cumsum(change)
    return totals


@compiled_for(_FIXED, _FIXED, *[_NUMBERS] * 4)
def find_moments(
    event_slots: Ints,
    event_times: Ints,
    begin: Ints,
    slots: Ints,
    times: Ints,
    first: Ints,
) -> tuple[int, int]:
    """Fill in the moments; how many there are, and of how many keys."""
    moments = keys = 0
    for event in range(len(event_slots)):
        slot, time = event_slots[event], event_times[event]
        is_new_key = event == 0 or slots[moments - 1] != slot
        if is_new_key or times[moments - 1] != time:
            if is_new_key:
                first[keys] = moments
                keys += 1
            begin[moments], slots[moments], times[moments] = event, slot, time
            moments += 1
    return moments, keys


def _add_up(
    amounts: Array, order: Ints, begin: Ints, first: Ints, before: Ints, totals: Ints
) -> None:
    """Fill in the totals."""
    for key in range(len(first)):
        stop = first[key + 1] if key + 1 < len(first) else len(totals)
        total = before[key]
        for moment in range(first[key], stop):
            for event in range(begin[moment], begin[moment + 1]):
                total += amounts[order[event]]
            totals[moment] = total


add_up = compiled_for(*[_FIXED] * 5, _NUMBERS)(_add_up)
add_up_small = compiled_for(fixed(np.zeros(0, np.int8)), *[_FIXED] * 4, _NUMBERS)(_add_up)
