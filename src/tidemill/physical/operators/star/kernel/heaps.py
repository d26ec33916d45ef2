"""Heaps of rows: what goes before another is above it."""

from __future__ import annotations

from tidemill.physical.mechanisms.arrays import Array
from tidemill.physical.mechanisms.compiled import part
from tidemill.physical.operators.star.layout import NONE, StarState


@part
def goes_before(rows: Array, a: int, b: int) -> bool:
    """Whether a row is dropped before another."""
    one, other = rows[a], rows[b]
    if one.priority != other.priority:
        return one.priority < other.priority
    if one.importance != other.importance:
        return one.importance < other.importance
    if one.matches != other.matches:
        return one.matches < other.matches
    if one.arrival != other.arrival:
        return one.arrival < other.arrival
    return one.lot < other.lot


@part
def settle(state: StarState, row: int) -> None:
    """Move a row up or down its heap, to where it belongs."""
    rows = state.rows
    heap, size, at = state.heaps[rows[row].heap], state.sizes[rows[row].heap], rows[row].at
    while at > 0 and goes_before(rows, row, heap[(at - 1) // 2]):
        heap[at] = heap[(at - 1) // 2]
        rows[heap[at]].at = at
        at = (at - 1) // 2
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and goes_before(rows, heap[child + 1], heap[child]):
            child += 1
        if not goes_before(rows, heap[child], row):
            break
        heap[at] = heap[child]
        rows[heap[at]].at = at
        at = child
    heap[at] = row
    rows[row].at = at


@part
def push(state: StarState, heap: int, row: int) -> None:
    """Put a row into a heap."""
    state.rows[row].heap = heap
    state.rows[row].at = state.sizes[heap]
    state.sizes[heap] += 1
    settle(state, row)


@part
def pull(state: StarState, row: int) -> None:
    """Take a row out of its heap, wherever it is."""
    heap, at = state.rows[row].heap, state.rows[row].at
    state.rows[row].heap = NONE
    state.sizes[heap] -= 1
    last = state.heaps[heap, state.sizes[heap]]
    if last != row:
        state.rows[last].at = at
        settle(state, last)
