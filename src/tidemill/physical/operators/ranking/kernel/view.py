"""A view of the first items of all, kept while scores change; sorted lists fill it again."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tidemill.physical.mechanisms.arrays import Array, Bools, Ints
from tidemill.physical.mechanisms.compiled import compiled_for, part, source_of
from tidemill.physical.operators.topk.kernel.telling import Noted, tell, touch
from tidemill.physical.operators.topk.layout import ABSENT, TOLD, TopKVersions, no_versions

# All that is remembered but what is known of single items: once.
MEMORY = np.dtype(
    [
        ("limit", np.int64),  # how many items are asked for
        ("most", np.int64),  # how many the view may have
        ("size", np.int64),  # how many it has
        ("live", np.int64),  # how many items have a key
        ("at", np.int64),  # the next event
        ("time", np.int64),
        ("noted", np.int64),  # how many items are touched at this time
        ("is_waiting", np.bool_),  # for deeper lists
        ("recomputed", np.int64),  # how often the view was filled again
    ],
    align=True,
)


class RankingState(NamedTuple):
    """The view holds the first items, in order; all others come after its last one."""

    memory: Array
    items: Ints  # of the view
    keys: Ints  # by item
    inside: Bools
    told: Array
    noted: Noted


class Lists(NamedTuple):
    """The first items of lists, each up to its bound, and the best score below every depth."""

    items: Ints
    bounds: Ints
    scores: Ints
    is_whole: bool


@part
def goes_before(state: RankingState, ties: Ints, a: int, b: int) -> bool:
    """Whether an item is placed before another."""
    if state.keys[a] != state.keys[b]:
        return state.keys[a] > state.keys[b]
    for level in range(ties.shape[1]):
        if ties[a, level] != ties[b, level]:
            return ties[a, level] < ties[b, level]
    return False


@part
def place_of(state: RankingState, ties: Ints, item: int) -> int:
    """How many items of the view go before an item."""
    low, high = 0, state.memory[0].size
    while low < high:
        middle = (low + high) // 2
        if goes_before(state, ties, state.items[middle], item):
            low = middle + 1
        else:
            high = middle
    return low


@part
def note(state: RankingState, item: int) -> None:
    """Note an item that must be looked at when the instant is over."""
    memory = state.memory[0]
    memory.noted = touch(state.told, state.noted, memory.noted, item)


@part
def put_in(state: RankingState, ties: Ints, item: int) -> None:
    """Put an item into the view; the last one goes if there are too many."""
    memory, place = state.memory[0], place_of(state, ties, item)
    for at in range(memory.size, place, -1):
        state.items[at] = state.items[at - 1]
    state.items[place] = item
    state.inside[item] = True
    memory.size += 1
    if place < memory.limit:
        note(state, item)
        if memory.size > memory.limit:
            note(state, state.items[memory.limit])
    if memory.size > memory.most:
        memory.size -= 1
        state.inside[state.items[memory.size]] = False


@part
def take_out(state: RankingState, ties: Ints, item: int) -> None:
    """Take an item out of the view."""
    memory, place = state.memory[0], place_of(state, ties, item)
    memory.size -= 1
    for at in range(place, memory.size):
        state.items[at] = state.items[at + 1]
    state.inside[item] = False
    if place < memory.limit <= memory.size:
        note(state, state.items[memory.limit - 1])


@part
def change(state: RankingState, ties: Ints, item: int, key: int) -> None:
    """Give an item another key. If it falls behind the view, others may be before it."""
    memory = state.memory[0]
    if state.inside[item]:
        take_out(state, ties, item)
    memory.live += int(key != ABSENT) - int(state.keys[item] != ABSENT)
    state.keys[item] = key
    if key == ABSENT:
        return
    is_all = memory.size + 1 == memory.live and memory.size < memory.most
    if is_all or reaches_view(state, ties, item):
        put_in(state, ties, item)


@part
def reaches_view(state: RankingState, ties: Ints, item: int) -> bool:
    """Whether an item goes before the last of the view."""
    size = state.memory[0].size
    return size > 0 and goes_before(state, ties, item, state.items[size - 1])


@part
def is_first(state: RankingState, ties: Ints, item: int) -> bool:
    """Whether an item is at one of the places that are asked for."""
    memory = state.memory[0]
    if not state.inside[item] or memory.size <= memory.limit:
        return state.inside[item]
    return goes_before(state, ties, item, state.items[memory.limit])


@part
def is_found(state: RankingState, score: int) -> bool:
    """Whether nothing that has this score, or less, can be missing in the view."""
    memory = state.memory[0]
    if memory.size == memory.live:
        return True
    # Of equal scores the tie decides, so an item that was not found might go before the last.
    return memory.size == memory.most and state.keys[state.items[memory.size - 1]] > score


@part
def offer(state: RankingState, ties: Ints, item: int) -> None:
    """Put an item into the view that is not there and goes before others."""
    if state.keys[item] == ABSENT or state.inside[item]:
        return
    if state.memory[0].size < state.memory[0].most or reaches_view(state, ties, item):
        put_in(state, ties, item)


@part
def fill(state: RankingState, ties: Ints, lists: Lists) -> bool:
    """Walk down all lists at once until the view is full; whether they were deep enough."""
    for depth in range(len(lists.scores)):
        begin = 0
        for bound in lists.bounds:
            if begin + depth < bound:
                offer(state, ties, lists.items[begin + depth])
            begin = bound
        if is_found(state, lists.scores[depth]):
            return True
    return lists.is_whole


def blank(limit: int, most: int) -> RankingState:
    """A view of no items, without room for any."""
    memory = np.zeros(1, MEMORY)
    memory["limit"], memory["most"] = limit, most
    none = np.zeros(0, np.int64)
    told, noted = np.zeros(0, TOLD), np.zeros(0, np.int32)
    return RankingState(memory, none, none, np.zeros(0, np.bool_), told, noted)


_NO_INTS = np.zeros(0, np.int64)
NO_LISTS = Lists(_NO_INTS, _NO_INTS, _NO_INTS, False)


Sweep = Callable[[RankingState, int, Ints, Ints, Ints, Ints, Lists, TopKVersions, int], int]


def _compile(source: int) -> Sweep:
    events = (_NO_INTS, _NO_INTS, _NO_INTS, np.zeros((0, 0), np.int64))

    @compiled_for(blank(0, 0), 0, *events, NO_LISTS, no_versions(0), 0)
    def sweep(
        state: RankingState,
        base: int,
        times: Ints,
        items: Ints,
        keys: Ints,
        ties: Ints,
        lists: Lists,
        out: TopKVersions,
        done: int,
    ) -> int:
        _ = source  # what is kept of a compiled function is known by what it refers to
        memory = state.memory[0]
        while memory.is_waiting or memory.at < len(times):
            if not memory.is_waiting:
                memory.time, memory.noted = times[memory.at], 0
                while memory.at < len(times) and times[memory.at] == memory.time:
                    item = items[memory.at]
                    state.told[item].event = base + memory.at
                    note(state, item)
                    change(state, ties, item, keys[memory.at])
                    memory.at += 1
            if memory.is_waiting or memory.size < min(memory.limit, memory.live):
                memory.is_waiting = not fill(state, ties, lists)
                if memory.is_waiting:
                    return done
                memory.recomputed += 1
            for at in range(memory.noted):
                item = state.noted[at]
                first = is_first(state, ties, item)
                done = tell(state.told, item, first, memory.time, base, out, done)
        memory.at = 0
        return done

    return sweep


sweep = _compile(source_of("tidemill.physical.operators.topk.kernel"))
"""Follow events in the order of time; `base` is the number of the first one.

The ties are those of all items. The versions that ended are written to `out`, behind those that
are done; their number is returned. If the lists are not deep enough, `is_waiting` says so, and
another call goes on from there.
"""
