"""User-defined aggregates: partial results that can be merged, but not taken back.

The partial results of the rows of a group are the leaves of ranges over its moments. A range is
cut into blocks of a binary tree, so a partial result is merged O(log n) times, and what covers a
moment is what lies on the way from its leaf to the root.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from tidemill.algebra.aggregates import UserAggregate
from tidemill.errors import ExecutionError, TidemillError
from tidemill.physical.mechanisms.arrays import Array, Ints
from tidemill.physical.mechanisms.ledger import Moments, Posted

_NOTHING = object()


class UserState:
    """The partial results of the rows that hold, per slot, and their ends."""

    STATE = ("_live",)

    def __init__(self, function: UserAggregate) -> None:
        self._function = function
        self._live: dict[int, list[tuple[int, Any]]] = defaultdict(list)

    def advance(
        self, values: list[Any], ends: Ints, posted: Posted, moments: Moments, until: int
    ) -> Array:
        """The answer at each moment; None where no row has a value."""
        try:
            return self._advance(values, ends, posted, moments, until)
        except TidemillError:
            raise
        except Exception as error:  # whatever the user's functions raise
            name = self._function.name
            raise ExecutionError(f"the aggregate {name} failed: {error!r}") from error

    def _advance(
        self, values: list[Any], ends: Ints, posted: Posted, moments: Moments, until: int
    ) -> Array:
        new: dict[int, list[tuple[int, int, int, Any]]] = defaultdict(list)
        rows = zip(moments.slots[posted.start], posted.start, posted.end, ends, values, strict=True)
        for slot, start, stop, end, value in rows:
            new[int(slot)].append((int(start), int(stop), int(end), self._function.init(value)))
        answers = np.full(len(moments), None, dtype=object)
        for first, last in zip(moments.first.tolist(), moments.last.tolist(), strict=True):
            slot = int(moments.slots[first])
            self._sweep_slot(slot, new[slot], moments.times[first : last + 1], first, answers)
            self._keep(slot, new[slot], until)
        return answers

    def renumber(self, moved: Ints) -> None:
        """Follow slots to their new numbers."""
        live = {int(moved[slot]): rows for slot, rows in self._live.items() if moved[slot] >= 0}
        self._live = defaultdict(list, live)

    def adopt(self, other: UserState, moved: Ints) -> None:
        """Take the partial results of another one whose slots have moved here."""
        live = ((int(moved[slot]), rows) for slot, rows in other._live.items())
        self._live.update({slot: list(rows) for slot, rows in live if slot >= 0})

    def _sweep_slot(
        self,
        slot: int,
        new: list[tuple[int, int, int, Any]],
        times: Ints,
        first: int,
        answers: Array,
    ) -> None:
        tree = _MergeTree(len(times), self._function)
        for end, partial in self._live[slot]:
            tree.cover(0, int(np.searchsorted(times, end)), partial)
        for start, stop, _, partial in new:
            tree.cover(start - first, stop - first, partial)
        for position, merged in enumerate(tree.leaves()):
            if merged is not _NOTHING:
                answers[first + position] = self._function.eval(merged)

    def _keep(self, slot: int, new: list[tuple[int, int, int, Any]], until: int) -> None:
        rows = self._live[slot] + [(end, partial) for _, _, end, partial in new]
        self._live[slot] = [(end, partial) for end, partial in rows if end > until]
        if not self._live[slot]:
            del self._live[slot]

    @property
    def rows(self) -> int:
        return sum(len(rows) for rows in self._live.values())


class _MergeTree:
    """A binary tree over positions whose nodes hold merged partial results."""

    def __init__(self, size: int, function: UserAggregate) -> None:
        self._size = size
        self._merge = function.merge
        self._nodes: list[Any] = [_NOTHING] * (2 * size)

    def cover(self, start: int, stop: int, partial: Any) -> None:
        """Add a partial result to the positions [start, stop)."""
        low, high = start + self._size, stop + self._size
        while low < high:
            if low & 1:
                self._nodes[low] = self._merged(self._nodes[low], partial)
                low += 1
            if high & 1:
                high -= 1
                self._nodes[high] = self._merged(self._nodes[high], partial)
            low, high = low >> 1, high >> 1

    def leaves(self) -> list[Any]:
        """What covers each position."""
        for node in range(2, 2 * self._size):
            self._nodes[node] = self._merged(self._nodes[node], self._nodes[node >> 1])
        return self._nodes[self._size :]

    def _merged(self, left: Any, right: Any) -> Any:
        if left is _NOTHING:
            return right
        return left if right is _NOTHING else self._merge(left, right)
