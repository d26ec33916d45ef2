"""Two heaps for every cut: of the first items the last is on top, of the others the first."""

from __future__ import annotations

from tidemill.physical.mechanisms.compiled import part
from tidemill.physical.operators.topk.layout import ABSENT, NONE, TopKState


@part
def goes_before(state: TopKState, cut: int, a: int, b: int) -> bool:
    """Whether an item is placed before another."""
    one, other = state.entries[cut, a], state.entries[cut, b]
    if one.key != other.key:
        return one.key > other.key
    for level in range(state.ties.shape[1]):
        if state.ties[a, level] != state.ties[b, level]:
            return state.ties[a, level] < state.ties[b, level]
    return a < b


@part
def is_above(state: TopKState, heap: int, a: int, b: int) -> bool:
    """Whether an item belongs above another in a heap."""
    if heap % 2:
        return goes_before(state, heap // 2, a, b)
    return goes_before(state, heap // 2, b, a)


@part
def settle(state: TopKState, number: int, item: int) -> None:
    """Move an item up or down its heap, to where it belongs."""
    entries, heap, size = state.entries[number // 2], state.heaps[number], state.sizes[number]
    at = entries[item].at
    while at > 0 and is_above(state, number, item, heap[(at - 1) // 2]):
        heap[at] = heap[(at - 1) // 2]
        entries[heap[at]].at = at
        at = (at - 1) // 2
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and is_above(state, number, heap[child + 1], heap[child]):
            child += 1
        if not is_above(state, number, heap[child], item):
            break
        heap[at] = heap[child]
        entries[heap[at]].at = at
        at = child
    heap[at] = item
    entries[item].at = at


@part
def push(state: TopKState, number: int, item: int) -> None:
    """Put an item into a heap."""
    entry = state.entries[number // 2, item]
    entry.heap = number
    entry.at = state.sizes[number]
    state.sizes[number] += 1
    settle(state, number, item)


@part
def pull(state: TopKState, number: int, item: int) -> None:
    """Take an item out of its heap, wherever it is."""
    entries = state.entries[number // 2]
    entries[item].heap = NONE
    state.sizes[number] -= 1
    last = state.heaps[number, state.sizes[number]]
    if last != item:
        entries[last].at = entries[item].at
        settle(state, number, last)


@part
def change(state: TopKState, cut: int, item: int, key: int) -> None:
    """Give an item another key; it stays on its side of the cut; a new item comes after it."""
    entry = state.entries[cut, item]
    if key == ABSENT:
        if entry.heap != NONE:
            pull(state, entry.heap, item)
        return
    entry.key = key
    if entry.heap == NONE:
        push(state, 2 * cut + 1, item)
    else:
        settle(state, entry.heap, item)
