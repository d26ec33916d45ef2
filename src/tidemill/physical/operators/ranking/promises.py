"""What streams have promised: how many rows of an object may still come."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tidemill.algebra.ranking import Promise
from tidemill.errors import ExecutionError
from tidemill.physical.mechanisms.arrays import Array, Bools, Ints
from tidemill.physical.mechanisms.ordering import slot_order
from tidemill.physical.operators.ranking.calls import Ranges
from tidemill.physical.operators.ranking.kernel.history import count_rows
from tidemill.physical.operators.ranking.known import KnownObjects
from tidemill.physical.operators.ranking.rows import Objects, RankingRows

_NO_BOUND = 2**62


class Promises:
    """Counts the rows of objects, stream by stream, and holds the streams to what they promised."""

    def __init__(self, streams: Sequence[Promise], window: int | None) -> None:
        self._streams = streams
        self.window = _NO_BOUND if window is None else window
        self._most = np.array([_NO_BOUND if s.most is None else s.most for s in streams])
        self._in_window = np.array([s.in_window for s in streams])
        self._most_ever = np.where(self._in_window, _NO_BOUND, self._most)

    @property
    def are_bounded(self) -> bool:
        """Whether it is known of all streams how many rows of an object may come."""
        return bool((self._most < _NO_BOUND).all())

    @property
    def outlast_windows(self) -> bool:
        """Whether rows count that the window no longer holds."""
        return bool((self._most_ever < _NO_BOUND).any())

    def count(self, objects: Objects, anew: Bools, known: KnownObjects) -> None:
        """Take note of new rows; with some of them objects begin anew."""
        _, _, first, new, bound = objects
        rows = objects.rows
        counted = (rows.item, rows.stream, anew, self._most_ever, known.seen)
        failed = count_rows(first, new, bound, *counted)
        failed = self._one_too_many(rows) if failed < 0 else failed
        if failed >= 0:
            raise self._broken(rows, failed, known)

    def _one_too_many(self, rows: RankingRows) -> int:
        """A row that is one too many in the window, -1 if there is none."""
        limited = np.array([s.in_window and s.most is not None for s in self._streams])
        if not limited.any():
            return -1
        at = np.flatnonzero(limited[rows.stream])
        at = at[slot_order(rows.item[at] * len(self._streams) + rows.stream[at])]
        distance = self._most[rows.stream[at]]
        before = np.arange(len(at)) - distance
        early, late = at[np.maximum(before, 0)], at
        same = (rows.item[early] == rows.item[late]) & (rows.stream[early] == rows.stream[late])
        near = rows.place[late] - rows.place[early] < self.window
        found = np.flatnonzero((before >= 0) & same & near)
        return int(at[found[0]]) if len(found) else -1

    def _broken(self, rows: RankingRows, row: int, known: KnownObjects) -> ExecutionError:
        stream = int(rows.stream[row])
        promise = self._streams[stream]
        keys = known.rows(rows.item[row : row + 1]).row(0, named=True)
        name = ", ".join(f"{key} = {value!r}" for key, value in keys.items())
        scope = " in a window" if promise.in_window else ""
        return ExecutionError(
            f"stream {stream + 1} of a ranking has more rows of the object {name} than the"
            f" {promise.most} that were declared{scope}",
            help="declare how many rows of an object may come, or remove the declaration",
        )

    def seen(self, objects: Objects, known: KnownObjects) -> SeenObjects:
        """Counts of rows in this tick, before the new ones are taken note of."""
        before = known.seen[objects.item]
        before[objects.first == objects.new] = 0
        return SeenObjects(objects, before, self._in_window)

    def coming(self, seen: Ints) -> Array:
        """How many rows of every stream may still come, given how many were seen."""
        left = np.maximum(self._most - seen, 0)
        return np.where(self._most == _NO_BOUND, 0, left).astype(np.float64)


class SeenObjects:
    """How many rows of every stream were seen of objects, up to some row."""

    def __init__(self, objects: Objects, before: Ints, in_window: Bools) -> None:
        self._objects, self._before, self._in_window = objects, before, in_window
        self._number = np.repeat(np.arange(len(objects.first)), objects.bound - objects.first)
        streams = [objects.rows.stream == stream for stream in range(len(in_window))]
        self._totals = [np.concatenate([[0], np.cumsum(is_from)]) for is_from in streams]

    def counts(self, ranges: Ranges, since: Ints) -> Ints:
        """Rows up to the end of ranges, by stream: of all since a row, -1 for the whole past.

        Where the promise is for a window, they are those of the range itself.
        """
        number = self._number[ranges.low]
        seen = np.where(since[:, None] < 0, self._before[number], 0)
        start = np.where(since < 0, self._objects.new[number], since)
        for stream, (totals, in_window) in enumerate(
            zip(self._totals, self._in_window, strict=True)
        ):
            if in_window:
                seen[:, stream] = totals[ranges.high] - totals[ranges.low]
            else:
                seen[:, stream] += totals[ranges.high] - totals[start]
        return seen
