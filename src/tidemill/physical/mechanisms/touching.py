"""The loop of coalescing: rows of one value that follow each other without a gap."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tidemill.physical.mechanisms.arrays import Ints
from tidemill.physical.mechanisms.compiled import compiled_for, fixed, part
from tidemill.timeline import OPEN_END

_NUMBERS = np.zeros(0, np.int64)
_FIXED = fixed(_NUMBERS)


class Pieces(NamedTuple):
    """Rows by the slots of their values, and the intervals in which they hold."""

    slots: Ints
    begins: Ints
    ends: Ints

    @staticmethod
    def blank(size: int) -> Pieces:
        return Pieces(*(np.empty(size, dtype=np.int64) for _ in range(3)))

    def take(self, rows: Ints | slice) -> Pieces:
        return Pieces(*(column[rows] for column in self))


def joined(growing: Pieces, rows: Pieces, until: int, longest: int) -> tuple[Pieces, Pieces]:
    """What is done, and what may still grow, given rows by slot, start and end.

    What grows is by slot and end, and so is what is given back.

    >>> rows = Pieces(np.array([0, 0, 1]), np.array([1, 4, 2]), np.array([4, 9, 6]))
    >>> done, growing = joined(Pieces.blank(0), rows, 7, 100)
    >>> [column.tolist() for column in (*done, *growing)]
    [[1], [2], [6], [0], [1], [9]]
    """
    size = len(growing.slots) + len(rows.slots)
    done, kept, heap = (Pieces.blank(size) for _ in range(3))
    parts = Pieces(*map(fixed, growing)), Pieces(*map(fixed, rows))
    done_count, kept_count = join(*parts, until, longest, heap, done, kept)
    return done.take(slice(done_count)), kept.take(slice(kept_count))


@part
def _is_before(heap: Pieces, one: int, other: int) -> bool:
    """What ends first goes first; of equal ends, what came first. `slots` holds their numbers."""
    if heap.ends[one] == heap.ends[other]:
        return bool(heap.slots[one] < heap.slots[other])
    return bool(heap.ends[one] < heap.ends[other])


@part
def _swap(heap: Pieces, one: int, other: int) -> None:
    heap.slots[one], heap.slots[other] = heap.slots[other], heap.slots[one]
    heap.begins[one], heap.begins[other] = heap.begins[other], heap.begins[one]
    heap.ends[one], heap.ends[other] = heap.ends[other], heap.ends[one]


@part
def _push(heap: Pieces, size: int, number: int, begin: int, end: int) -> None:
    heap.slots[size], heap.begins[size], heap.ends[size] = number, begin, end
    at = size
    while at > 0 and _is_before(heap, at, (at - 1) >> 1):
        _swap(heap, at, (at - 1) >> 1)
        at = (at - 1) >> 1


@part
def _pop(heap: Pieces, size: int) -> None:
    """Move the first one behind the others."""
    last, at = size - 1, 0
    _swap(heap, 0, last)
    while 2 * at + 1 < last:
        child = 2 * at + 1
        if child + 1 < last and _is_before(heap, child + 1, child):
            child += 1
        if not _is_before(heap, child, at):
            break
        _swap(heap, at, child)
        at = child


@part
def _put(pieces: Pieces, at: int, slot: int, begin: int, end: int) -> None:
    pieces.slots[at], pieces.begins[at], pieces.ends[at] = slot, begin, end


_READ, _WRITTEN = Pieces(*[_FIXED] * 3), Pieces(*[_NUMBERS] * 3)


@compiled_for(_READ, _READ, 0, 0, _WRITTEN, _WRITTEN, _WRITTEN)
def join(
    growing: Pieces,
    rows: Pieces,
    until: int,
    longest: int,
    heap: Pieces,
    done: Pieces,
    kept: Pieces,
) -> tuple[int, int]:
    """Fill in what is done and what is kept; how many there are of both."""
    old = row = finished = left = 0
    while old < len(growing.slots) or row < len(rows.slots):
        if old == len(growing.slots):
            slot = rows.slots[row]
        elif row == len(rows.slots):
            slot = growing.slots[old]
        else:
            slot = min(growing.slots[old], rows.slots[row])
        size = 0
        while old < len(growing.slots) and growing.slots[old] == slot:
            _push(heap, size, old, growing.begins[old], growing.ends[old])
            size, old = size + 1, old + 1
        while row < len(rows.slots) and rows.slots[row] == slot:
            begin, end = rows.begins[row], rows.ends[row]
            while size > 0 and heap.ends[0] < begin:
                _put(done, finished, slot, heap.begins[0], heap.ends[0])
                _pop(heap, size)
                size, finished = size - 1, finished + 1
            if size > 0 and heap.ends[0] == begin:
                begin = heap.begins[0]
                _pop(heap, size)
                size -= 1
            if end - begin >= longest or end == OPEN_END:
                _put(done, finished, slot, begin, end)
                finished += 1
            else:
                _push(heap, size, len(growing.slots) + row, begin, end)
                size += 1
            row += 1
        while size > 0:
            if heap.ends[0] < until:
                _put(done, finished, slot, heap.begins[0], heap.ends[0])
                finished += 1
            else:
                _put(kept, left, slot, heap.begins[0], heap.ends[0])
                left += 1
            _pop(heap, size)
            size -= 1
    return finished, left
