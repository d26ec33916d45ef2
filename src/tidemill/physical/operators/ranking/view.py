"""The first items of all, from a view that is filled again from sorted lists when it runs dry."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tidemill.physical.mechanisms.arrays import Ints
from tidemill.physical.operators.ranking.kernel.view import (
    NO_LISTS,
    Lists,
    RankingState,
    blank,
    sweep,
)
from tidemill.physical.operators.topk.layout import ABSENT, NONE, TOLD, TopKVersions, no_versions

_SPARE = 3
"""How many times as many items as are asked for a full view has.

In 200,000 rows over windows of 1,000, of which the first 100 objects are asked for, lists are
walked 22,900 times if it is 1, 6 times if it is 2, twice if it is 3. Larger views take longer.
"""

_FIRST_DEPTH = 256


class RankingView:
    """Tells which items are at the first places, as `Firsts` does, but keeps only some in order."""

    STATE = ("_state", "_events")

    def __init__(self, limit: int) -> None:
        self._state = blank(limit, _SPARE * limit)
        self._events = 0  # of earlier calls

    def sweep(
        self, times: Ints, items: Ints, keys: Ints, ties: Ints, lists: Callable[[int], Lists]
    ) -> TopKVersions:
        """Follow events in the order of time; the versions that ended.

        The ties are those of all items; `lists` gives the sorted lists down to a depth.
        """
        self._state = _with_room(self._state, len(ties))
        out, done = no_versions(2 * len(times)), 0
        events, found, depth = (times, items, keys, ties), NO_LISTS, _FIRST_DEPTH
        while True:
            done = sweep(self._state, self._events, *events, found, out, done)
            if not self._state.memory["is_waiting"][0]:
                break
            found, depth = lists(depth), 4 * depth
        self._events += len(times)
        return TopKVersions(*(column[:done].copy() for column in out))

    def cut(self, until: int) -> TopKVersions:
        """All open versions, up to `until`; they continue from there."""
        item = self._state.items[: self.open_count].copy()
        since = self._state.told["since"][item]
        self._state.told["since"][item] = until
        item, since = item[since < until], since[since < until]
        return TopKVersions(item, np.full(len(item), NONE), since, np.full(len(item), until))

    def renumber(self, items: Ints, moved: Ints) -> None:
        """Go on with the new numbers of items; all others have no key."""
        state = _with_room(self._state, len(moved))
        view = np.zeros(1 + min(len(items), int(state.memory["most"][0])), np.int64)
        size = int(state.memory["size"][0])
        view[:size] = moved[state.items[:size]]
        keys, inside, told = state.keys[items], state.inside[items], state.told[items]
        noted = np.zeros(len(items), np.int32)
        self._state = RankingState(state.memory, view, keys, inside, told, noted)

    @property
    def open_count(self) -> int:
        """How many items are at the first places."""
        memory = self._state.memory[0]
        return int(min(memory["limit"], memory["size"]))

    @property
    def recomputed(self) -> int:
        """How often the view was filled again."""
        return int(self._state.memory["recomputed"][0])

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self._state)


def _with_room(state: RankingState, items: int) -> RankingState:
    """The same state, with room for a number of items."""
    extra = items - len(state.keys)
    if extra <= 0:
        return state
    told = np.zeros(extra, TOLD)
    told["told"] = NONE
    room = 1 + min(items, int(state.memory["most"][0])) - len(state.items)
    return RankingState(
        memory=state.memory,
        items=np.concatenate([state.items, np.zeros(room, np.int64)]),
        keys=np.concatenate([state.keys, np.full(extra, ABSENT)]),
        inside=np.concatenate([state.inside, np.zeros(extra, np.bool_)]),
        told=np.concatenate([state.told, told]),
        noted=np.zeros(items, np.int32),
    )
