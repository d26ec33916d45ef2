"""What streams have promised: how many rows of an object may still come."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tidemill.algebra.ranking import Promise
from tidemill.errors import ExecutionError
from tidemill.physical.arrays import Array, Ints, slot_order
from tidemill.physical.ranking.calls import Ranges
from tidemill.physical.ranking.kernel.history import count_rows
from tidemill.physical.ranking.known import Known
from tidemill.physical.ranking.rows import Objects, Rows

_NO_BOUND = 2**62


class Promises:
    """Counts the rows of objects, stream by stream, and holds the streams to what they promised."""

    def __init__(self, streams: Sequence[Promise], window: int | None) -> None:
        self._streams = streams
        self._window = _NO_BOUND if window is None else window
        self._most = np.array([_NO_BOUND if s.most is None else s.most for s in streams])
        self._most_ever = np.where([s.in_window for s in streams], _NO_BOUND, self._most)

    @property
    def are_bounded(self) -> bool:
        """Whether it is known of all streams how many rows of an object may come."""
        return bool((self._most < _NO_BOUND).all())

    def count(self, objects: Objects, known: Known) -> None:
        """Take note of new rows."""
        _, _, first, new, bound = objects
        rows = objects.rows
        places, window = rows.place, self._window
        counted = (rows.item, rows.stream, places, window, self._most_ever, known.seen)
        failed = count_rows(first, new, bound, *counted)
        failed = self._one_too_many(rows) if failed < 0 else failed
        if failed >= 0:
            raise self._broken(rows, failed, known)

    def _one_too_many(self, rows: Rows) -> int:
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
        near = rows.place[late] - rows.place[early] < self._window
        found = np.flatnonzero((before >= 0) & same & near)
        return int(at[found[0]]) if len(found) else -1

    def _broken(self, rows: Rows, row: int, known: Known) -> ExecutionError:
        stream = int(rows.stream[row])
        promise = self._streams[stream]
        keys = known.rows(rows.item[row : row + 1]).row(0, named=True)
        name = ", ".join(f"{key} = {value!r}" for key, value in keys.items())
        scope = " in a window" if promise.in_window else ""
        return ExecutionError(
            f"stream {stream + 1} of a ranking brings more rows of the object {name} than the"
            f" {promise.most} that were declared{scope}",
            help="declare how many rows of an object may come, or remove the declaration",
        )

    def seen(self, rows: Rows, ranges: Ranges, known: Known) -> Ints:
        """How many rows of every stream count for instances: all since the object is known.

        Where the promise is for a window, these are the rows since the instance began.
        """
        seen = known.seen[rows.item[ranges.low]]
        for number, stream in enumerate(self._streams):
            if stream.in_window:
                totals = np.concatenate([[0], np.cumsum(rows.stream == number)])
                seen[:, number] = totals[ranges.high] - totals[ranges.low]
        return seen

    def coming(self, seen: Ints) -> Array:
        """How many rows of every stream may still come, given how many were seen."""
        left = np.maximum(self._most - seen, 0)
        return np.where(self._most == _NO_BOUND, 0, left).astype(np.float64)
