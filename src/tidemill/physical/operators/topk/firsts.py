"""The first of items whose keys change."""

from __future__ import annotations

import numpy as np

from tidemill.physical.mechanisms.arrays import Bools, Ints
from tidemill.physical.operators.topk.kernel.sweep import sweep
from tidemill.physical.operators.topk.layout import (
    ABSENT,
    NONE,
    TopKVersions,
    blank,
    no_versions,
    with_room,
    without_room,
)

__all__ = ["ABSENT", "Firsts", "TopKVersions"]


class Firsts:
    """Keeps items in order, the largest key first, and tells which are at the first places.

    >>> firsts = Firsts(limit=1)
    >>> times, items, keys = np.array([3, 5, 7]), np.array([0, 1, 1]), np.array([10, 20, 5])
    >>> versions = firsts.sweep(times, items, keys, np.zeros(3, np.int64), 9)
    >>> list(zip(*(column.tolist() for column in versions)))
    [(0, 0, 3, 5), (1, 1, 5, 7)]
    >>> list(zip(*(column.tolist() for column in firsts.cut(9))))
    [(0, -1, 7, 9)]
    """

    STATE = ("_state", "_events", "_until")

    def __init__(self, limit: int, offset: int = 0, depth: int = 1) -> None:
        self._state = blank([offset + limit, offset] if offset else [limit], depth)
        self._events = 0  # of earlier calls
        self._until = np.iinfo(np.int64).min

    def sweep(self, times: Ints, items: Ints, keys: Ints, ties: Ints, until: int) -> TopKVersions:
        """Follow events before `until`, in the order of time; the versions that ended.

        At its time an event gives an item a key and, among equal keys, a tie (the smaller goes
        first), or takes the item away (ABSENT). There may be several ties for every event, as
        many as `depth` says. What comes and goes within an instant is not seen. A version ends
        when its item is no longer among the first, or has another event.
        """
        if len(times) == 0:
            return no_versions(0)
        if not self._until <= times[0] <= times[-1] < until:
            raise ValueError(f"events in [{times[0]}, {times[-1]}] after {self._until}, to {until}")
        self._until = until
        self._state = with_room(self._state, int(items.max()) + 1)
        # An event ends the version of its item and of one more at every cut.
        room = len(times) * (1 + len(self._state.limits))
        noted, out = np.empty(room, np.int32), no_versions(room)
        ties = ties.reshape(len(times), self._state.ties.shape[1])
        done = sweep(self._state, self._events, times, items, keys, ties, noted, out)
        self._events += len(times)
        return TopKVersions(*(column[:done].copy() for column in out))

    def cut(self, until: int) -> TopKVersions:
        """All open versions, up to `until`; they continue from there."""
        first = self._state.heaps[0, : self._state.sizes[0]].astype(np.int64)
        told = self._state.told
        item = first[told["told"][first] != NONE]
        since = told["since"][item]
        told["since"][item] = until
        item, since = item[since < until], since[since < until]
        return TopKVersions(item, np.full(len(item), NONE), since, np.full(len(item), until))

    @property
    def now(self) -> tuple[Ints, Ints]:
        """The items that are the first now, those of the offset too, and their keys."""
        items = self._state.heaps[0, : self._state.sizes[0]].astype(np.int64)
        return items, self._state.entries["key"][0, items]

    def reorder(self, items: Ints, keys: Ints, ties: Ints) -> None:
        """Give all items other keys and ties that put them in the same order."""
        self._state.entries["key"][:, items] = keys
        self._state.ties[items] = ties

    def keep(self, items: Ints) -> None:
        """Number these items anew, in this order; all others have left."""
        self._state = without_room(self._state, items)

    @property
    def present(self) -> Bools:
        """Which items have a key."""
        present: Bools = self._state.entries["heap"][0] != NONE
        return present

    @property
    def count(self) -> int:
        """How many items have a key."""
        return int(self._state.sizes[:2].sum())

    def retie(self, ties: Ints) -> None:
        """Give all items other ties that put them in the same order."""
        count = min(len(ties), len(self._state.ties))
        self._state.ties[:count] = ties[:count]

    @property
    def open_count(self) -> int:
        """How many items are at the first places."""
        return int(self._state.sizes[0] - self._state.sizes[2:3].sum())

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self._state)
