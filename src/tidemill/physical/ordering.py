"""Positions that sort rows: by merging where they come in a few runs, else digit by digit."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tidemill.physical.arrays import Array, Ints
from tidemill.physical.compiled import compiled_for, fixed

_FEW_ROWS = 1024  # so few are sorted by NumPy, sooner than tables of digits are cleared
_FEW_RUNS = 8
_DENSE = 2  # slots for each row that may be counted one by one
_DIGIT = 11  # bits: the places of a digit stay in the nearest cache

_Words = npt.NDArray[np.uint64]
_Places = npt.NDArray[np.int32]

_KEYS = np.zeros(0, np.uint64)
_ORDER = np.zeros(0, np.int32)
_PAIRS = (_KEYS, _ORDER, _KEYS, _ORDER)


def slot_order(slots: Array, within: Ints | None = None) -> Ints:
    """Positions that sort by slot, and by a second column `within` a slot.

    What is equal stays in its old order.

    >>> slot_order(np.array([3, 1, 3, 0]), np.array([8, 5, 7, 9])).tolist()
    [3, 1, 2, 0]
    """
    if len(slots) < _FEW_ROWS:
        return np.lexsort((slots,) if within is None else (within, slots))
    order = np.arange(len(slots), dtype=np.int32) if within is None else _order(within)
    low, high = slots.min(), slots.max()
    if low == high:
        return order.astype(np.int64)
    if int(high) - int(low) < _DENSE * len(slots):
        return _by_count(slots.view(np.int64), order, int(low), int(high))
    return order[_order(slots[order])].astype(np.int64)


def stable_order(values: Array) -> Ints:
    """Positions that sort whole numbers; what is equal stays in its old order.

    >>> stable_order(np.array([-3, 2**62, -3, -(2**62)])).tolist()
    [3, 0, 2, 1]
    """
    if len(values) < _FEW_ROWS:
        return np.argsort(values, kind="stable")
    return _order(values).astype(np.int64)


def _order(values: Array) -> _Places:
    runs = np.flatnonzero(values[1:] < values[:-1]) + 1
    if not len(runs):
        return np.arange(len(values), dtype=np.int32)
    # Counted from the smallest, also negative numbers are in the order of their bits.
    keys = values.view(np.uint64) - values.min().view(np.uint64)
    if len(runs) < _FEW_RUNS:
        return _merged(keys, np.array([0, *runs.tolist(), len(keys)], dtype=np.int64))
    return _by_digits(keys)


def _by_count(slots: Ints, order: _Places, low: int, high: int) -> Ints:
    result = np.empty(len(slots), dtype=np.int64)
    sort_by_count(fixed(slots), order, low, np.zeros(high - low + 1, dtype=np.int32), result)
    return result


def _merged(keys: _Words, bounds: Ints) -> _Places:
    order = np.arange(len(keys), dtype=np.int32)
    other_keys, other_order = np.empty_like(keys), np.empty_like(order)
    while len(bounds) > 2:
        merge_runs(keys, order, other_keys, other_order, bounds)
        keys, order, other_keys, other_order = other_keys, other_order, keys, order
        bounds = np.append(bounds[:-1:2], bounds[-1])
    return order


def _by_digits(keys: _Words) -> _Places:
    order = np.arange(len(keys), dtype=np.int32)
    places = np.empty((-(-int(keys.max()).bit_length() // _DIGIT), 1 << _DIGIT), dtype=np.int64)
    other_keys, other_order = np.empty_like(keys), np.empty_like(order)
    moved = sort_by_digits(keys, order, other_keys, other_order, places)
    return other_order if moved else order


@compiled_for(*_PAIRS, fixed(np.zeros(0, np.int64)))
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


@compiled_for(fixed(np.zeros(0, np.int64)), _ORDER, 0, _ORDER, np.zeros(0, np.int64))
def sort_by_count(slots: Ints, order: _Places, low: int, places: _Places, out: Ints) -> None:
    """Sort by slots, counted from the lowest, which have so many places."""
    for row in range(len(slots)):
        places[slots[row] - low] += 1
    total = 0
    for slot in range(len(places)):
        count = places[slot]
        places[slot] = total
        total += count
    for at in range(len(order)):
        slot = slots[order[at]] - low
        out[places[slot]] = order[at]
        places[slot] += 1
