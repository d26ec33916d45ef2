"""Positions that sort rows: by merging where they come in a few runs, else digit by digit."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tidemill.physical.mechanisms.arrays import Array, Ints
from tidemill.physical.mechanisms.compiled import compiled_for, fixed

_FEW_ROWS = 1024  # so few are sorted by NumPy, sooner than tables of digits are cleared
_FEW_RUNS = 8
_SHORT = 32  # up to this number of rows, a slot is sorted by insertion
_DENSE = 2  # slots for each row that may be counted one by one
_DIGIT = 11  # bits: the places of a digit stay in the nearest cache

_Words = npt.NDArray[np.uint64]
_Places = npt.NDArray[np.int32]

_KEYS = np.zeros(0, np.uint64)
_ORDER = np.zeros(0, np.int32)
_PAIRS = (_KEYS, _ORDER, _KEYS, _ORDER)
_NUMBERS = np.zeros(0, np.int64)
_FIXED = fixed(_NUMBERS)


def slot_order(slots: Array, within: Ints | None = None) -> Ints:
    """Positions that sort by slot, and by a second column `within` a slot.

    What is equal stays in its old order.

    >>> slot_order(np.array([3, 1, 3, 0]), np.array([8, 5, 7, 9])).tolist()
    [3, 1, 2, 0]
    """
    if within is not None:
        return in_slot_order(slots, within)[0]
    if len(slots) < _FEW_ROWS or not _is_dense(slots):
        return stable_order(slots)
    return _by_slot(slots, np.arange(len(slots), dtype=np.int32), slots)[0]


def in_slot_order(slots: Array, within: Ints) -> tuple[Ints, Array, Ints]:
    """Positions that sort by slot and a second column, and both columns in this order.

    >>> [part.tolist() for part in in_slot_order(np.array([2, 1, 2]), np.array([9, 5, 7]))]
    [[1, 2, 0], [1, 2, 2], [5, 7, 9]]
    """
    if len(slots) < _FEW_ROWS:
        order = np.lexsort((within, slots))
        return order, slots[order], within[order]
    if slots.min() == slots.max():
        positions, values = _sorted(within)
        return positions.astype(np.int64), slots, values
    if not _is_dense(slots):
        first = _sorted(within)[0]
        order = first[_sorted(slots[first])[0]].astype(np.int64)
        return order, slots[order], within[order]
    if len(_runs(within)) > _FEW_RUNS:
        # Few rows of a slot are sorted among themselves, sooner than all of them together.
        found = _by_slot(slots, np.arange(len(slots), dtype=np.int32), within)
        if sort_within(*found, _SHORT):
            return found
    return _by_slot(slots, *_sorted(within))


def stable_order(values: Array) -> Ints:
    """Positions that sort whole numbers; what is equal stays in its old order.

    >>> stable_order(np.array([-3, 2**62, -3, -(2**62)])).tolist()
    [3, 0, 2, 1]
    """
    if len(values) < _FEW_ROWS:
        return np.argsort(values, kind="stable")
    return _sorted(values)[0].astype(np.int64)


def _is_dense(slots: Array) -> bool:
    """Whether the rows of every slot can be counted."""
    return int(slots.max()) - int(slots.min()) < _DENSE * len(slots)


def _sorted(values: Array) -> tuple[_Places, Array]:
    """The order of values, and the values in it."""
    # Counted from the smallest, also negative numbers are in the order of their bits.
    low = values.min()
    keys = values.view(np.uint64) - low.view(np.uint64)
    runs = _runs(keys)
    if len(runs) > _FEW_RUNS:
        order, keys = _by_digits(keys)
    else:
        order, keys = _merged(keys, np.append(runs, len(keys)))
    return order, (keys + low.view(np.uint64)).view(values.dtype)


def _runs(values: Array) -> Ints:
    """Where runs of sorted values begin: all, if they are few."""
    begin = np.empty(_FEW_RUNS + 1, dtype=np.int64)
    return begin[: find_runs(fixed(values.view(np.uint64)), begin)]


def _by_slot(slots: Array, order: _Places, values: Array) -> tuple[Ints, Ints, Ints]:
    """By slot, and then in an order that is given, as the values are."""
    low = slots.min()
    places = np.zeros(int(slots.max()) - int(low) + 1, dtype=np.int32)
    columns = fixed(slots.view(np.int64)), order, fixed(values.view(np.int64))
    size = len(slots)
    found = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
    sort_by_count(*columns, int(low.view(np.int64)), places, *found)
    return found


def _merged(keys: _Words, bounds: Ints) -> tuple[_Places, _Words]:
    order = np.arange(len(keys), dtype=np.int32)
    other_keys, other_order = np.empty_like(keys), np.empty_like(order)
    while len(bounds) > 2:
        merge_runs(keys, order, other_keys, other_order, fixed(bounds))
        keys, order, other_keys, other_order = other_keys, other_order, keys, order
        bounds = np.append(bounds[:-1:2], bounds[-1])
    return order, keys


def _by_digits(keys: _Words) -> tuple[_Places, _Words]:
    order = np.arange(len(keys), dtype=np.int32)
    places = np.empty((-(-int(keys.max()).bit_length() // _DIGIT), 1 << _DIGIT), dtype=np.int64)
    other_keys, other_order = np.empty_like(keys), np.empty_like(order)
    moved = sort_by_digits(keys, order, other_keys, other_order, places)
    return (other_order, other_keys) if moved else (order, keys)


@compiled_for(fixed(_KEYS), _NUMBERS)
def find_runs(values: _Words, begin: Ints) -> int:
    """Where runs of sorted values begin, as many as there is room for."""
    begin[0], count = 0, 1
    for row in range(1, len(values)):
        if values[row] < values[row - 1]:
            begin[count] = row
            count += 1
            if count == len(begin):
                break
    return count


@compiled_for(*_PAIRS, _FIXED)
def merge_runs(
    keys: _Words, order: _Places, out_keys: _Words, out_order: _Places, bounds: Ints
) -> None:
    """Merge every two neighbours of runs; the first goes first where both are equal."""
    for run in range(0, len(bounds) - 1, 2):
        left, middle = bounds[run], bounds[run + 1]
        right, stop = middle, bounds[min(run + 2, len(bounds) - 1)]
        for at in range(left, stop):
            from_right = left == middle or (right < stop and keys[right] < keys[left])
            taken = right if from_right else left
            out_keys[at], out_order[at] = keys[taken], order[taken]
            if from_right:
                right += 1
            else:
                left += 1


@compiled_for(*_PAIRS, np.zeros((0, 0), np.int64))
def sort_by_digits(
    keys: _Words, order: _Places, out_keys: _Words, out_order: _Places, places: Array
) -> bool:
    """Sort by one digit after the other, the lowest first; whether the result is in `out`."""
    width = places.shape[1]
    mask, bits = np.uint64(width - 1), np.uint64(_DIGIT)
    places[:, :] = 0
    for row in range(len(keys)):
        rest = keys[row]
        for digit in range(len(places)):
            places[digit, rest & mask] += 1
            rest >>= bits
    moved = False
    for digit in range(len(places)):
        total, most = 0, 0
        for value in range(width):
            count = places[digit, value]
            places[digit, value] = total
            total += count
            most = max(most, count)
        if most == len(keys):
            continue
        shift = np.uint64(digit * _DIGIT)
        for row in range(len(keys)):
            value = (keys[row] >> shift) & mask
            at = places[digit, value]
            places[digit, value] = at + 1
            out_keys[at], out_order[at] = keys[row], order[row]
        keys, out_keys = out_keys, keys
        order, out_order = out_order, order
        moved = not moved
    return moved


@compiled_for(_FIXED, _ORDER, _FIXED, 0, _ORDER, _NUMBERS, _NUMBERS, _NUMBERS)
def sort_by_count(
    slots: Ints,
    order: _Places,
    values: Ints,
    low: int,
    places: _Places,
    out_order: Ints,
    out_slots: Ints,
    out_values: Ints,
) -> None:
    """Sort by slots, counted from the lowest, in a range of this size."""
    for row in range(len(slots)):
        places[slots[row] - low] += 1
    total = 0
    for slot in range(len(places)):
        count = places[slot]
        places[slot] = total
        out_slots[total : total + count] = slot + low
        total += count
    for at in range(len(order)):
        slot = slots[order[at]] - low
        place = places[slot]
        out_order[place], out_values[place] = order[at], values[at]
        places[slot] = place + 1


@compiled_for(_NUMBERS, _NUMBERS, _NUMBERS, 0)
def sort_within(order: Ints, slots: Ints, values: Ints, most: int) -> bool:
    """Sort the values of each slot, unless one has to go too far."""
    first = 0
    for at in range(1, len(order)):
        if slots[at] != slots[at - 1]:
            first = at
            continue
        row, value, place = order[at], values[at], at
        while place > first and values[place - 1] > value:
            order[place], values[place] = order[place - 1], values[place - 1]
            place -= 1
        order[place], values[place] = row, value
        if at - place > most:
            return False
    return True
