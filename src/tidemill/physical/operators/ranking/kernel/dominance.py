"""Which instances of objects can still be among the first."""

from __future__ import annotations

import numpy as np

from tidemill.physical.mechanisms.arrays import Bools, Ints
from tidemill.physical.mechanisms.compiled import compiled_for, part

_NO_INTS, _NO_BOOLS = np.zeros(0, np.int64), np.zeros(0, np.bool_)


@part
def sink(heap: Ints, size: int, at: int, keys: Ints, where: Ints) -> None:
    """Let an item whose key has risen go down in a heap that has the smallest on top."""
    item = heap[at]
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and keys[heap[child + 1]] < keys[heap[child]]:
            child += 1
        if keys[heap[child]] >= keys[item]:
            break
        heap[at] = heap[child]
        where[heap[at]] = at
        at = child
    heap[at] = item
    where[item] = at


@part
def rise(heap: Ints, at: int, keys: Ints, where: Ints) -> None:
    """Let an item that is new at the end of a heap go up."""
    item = heap[at]
    while at > 0 and keys[heap[(at - 1) // 2]] > keys[item]:
        heap[at] = heap[(at - 1) // 2]
        where[heap[at]] = at
        at = (at - 1) // 2
    heap[at] = item
    where[item] = at


@part
def offer(heap: Ints, size: int, item: int, key: int, keys: Ints, where: Ints) -> int:
    """Let an item with its key take part in the largest ones; how many of these there are."""
    if where[item] >= 0:
        if key > keys[item]:
            keys[item] = key
            sink(heap, size, where[item], keys, where)
    elif size < len(heap):
        heap[size], keys[item] = item, key
        rise(heap, size, keys, where)
        return size + 1
    elif key > keys[heap[0]]:
        where[heap[0]] = -1
        heap[0], keys[item] = item, key
        sink(heap, size, 0, keys, where)
    return size


@compiled_for(
    _NO_INTS, _NO_INTS, _NO_INTS, _NO_INTS, _NO_INTS, _NO_INTS, _NO_INTS, _NO_INTS, _NO_BOOLS
)
def undominated(
    newest: Ints,
    places: Ints,
    items: Ints,
    current: Ints,
    best: Ints,
    heap: Ints,
    keys: Ints,
    where: Ints,
    stays: Bools,
) -> None:
    """Mark the instances for which there are fewer than k items that are later and surely larger.

    They are looked at from the newest to the oldest. The heap holds the k largest items so far,
    `keys` their keys and `where` their places in it (-1 at first).
    """
    size, at = 0, 0
    while at < len(newest):
        end = at
        while end < len(newest) and places[newest[end]] == places[newest[at]]:
            row = newest[end]
            # An object's own later instances never count against it: what they are now is not
            # above what this one can be at best.
            stays[row] = size < len(heap) or keys[heap[0]] <= best[row]
            end += 1
        # Only now: instances of one place are of the same age, and do not dominate each other.
        for one in range(at, end):
            row = newest[one]
            size = offer(heap, size, items[row], current[row], keys, where)
        at = end
