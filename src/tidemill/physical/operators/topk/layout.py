"""What the compiled part of top-k works on: items in heaps, and their versions so far."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tidemill.physical.mechanisms.arrays import Array, Ints

ABSENT = np.iinfo(np.int64).min
"""The key of an item that leaves."""

NONE = -1

# An item as one cut sees it.
ENTRY = np.dtype(
    [
        ("key", np.int64),
        ("heap", np.int32),
        ("at", np.int32),  # in the heap
    ],
    align=True,
)

# The version of an item that was given out. Events are counted over all calls.
TOLD = np.dtype(
    [
        ("event", np.int64),  # the last one
        ("told", np.int64),  # the one of the version that is open
        ("since", np.int64),
        ("touched", np.bool_),  # at the instant that is looked at
    ],
    align=True,
)


class TopKState(NamedTuple):
    """All arrays of a running top-k; the compiled part changes them in place.

    A cut divides the items into the first ones, as many as its limit, and the others. There is a
    cut behind the last place that is asked for and, if there is an offset, one before the first.
    """

    limits: Ints  # of the cuts
    entries: Array  # by cut and item
    heaps: npt.NDArray[np.int32]  # two of each cut: its first items, the others
    sizes: Ints  # of the heaps
    ties: Ints  # by item; of several the first that differs decides
    told: Array  # by item


class TopKVersions(NamedTuple):
    """Items that were among the first in [since, end), with the key that an event gave them.

    The event is a position in the call that returns the version, -1 for one of earlier calls.
    """

    item: Ints
    event: Ints
    since: Ints
    end: Ints


def blank(limits: list[int], depth: int) -> TopKState:
    """A state without items, and without room for any; `depth` is the number of ties."""
    cuts = len(limits)
    return TopKState(
        limits=np.array(limits, np.int64),
        entries=np.zeros((cuts, 0), ENTRY),
        heaps=np.zeros((2 * cuts, 0), np.int32),
        sizes=np.zeros(2 * cuts, np.int64),
        ties=np.zeros((0, depth), np.int64),
        told=np.zeros(0, TOLD),
    )


def with_room(state: TopKState, items: int) -> TopKState:
    """The same state, with room for at least as many items."""
    room = state.told.shape[0]
    if items <= room:
        return state
    extra = max(items, 2 * room) - room
    entries = np.zeros((len(state.limits), extra), ENTRY)
    entries["heap"] = NONE
    told = np.zeros(extra, TOLD)
    told["told"] = NONE
    heaps = np.zeros((len(state.heaps), extra), np.int32)
    ties = np.zeros((extra, state.ties.shape[1]), np.int64)
    return state._replace(
        entries=np.concatenate([state.entries, entries], axis=1),
        heaps=np.concatenate([state.heaps, heaps], axis=1),
        ties=np.concatenate([state.ties, ties]),
        told=np.concatenate([state.told, told]),
    )


def without_room(state: TopKState, items: Ints) -> TopKState:
    """The state with these items numbered anew, in this order; the others have left."""
    state = with_room(state, int(items.max(initial=NONE)) + 1)
    moved = np.full(len(state.told), NONE, np.int32)
    moved[items] = np.arange(len(items), dtype=np.int32)
    return state._replace(
        entries=state.entries[:, items].copy(),
        heaps=moved[state.heaps[:, : len(items)]],
        ties=state.ties[items],
        told=state.told[items],
    )


def no_versions(room: int) -> TopKVersions:
    """Versions that are still to be written."""
    return TopKVersions(*(np.empty(room, np.int64) for _ in TopKVersions._fields))
