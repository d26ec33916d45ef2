"""The rows that the streams of a star join keep."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from tidemill.algebra.schema import Schema
from tidemill.physical.mechanisms.arrays import Array, Bools, Ints
from tidemill.physical.mechanisms.rows import RowStore
from tidemill.physical.operator import empty_frame
from tidemill.physical.operators.star.layout import NONE, ROW, SHADOWS, ShedRule, blank

_SLACK = 1024  # places and numbers that may stay unused

# Where rows are named by their numbers.
_ROW_LINKS = ("newer", "older", "sooner", "later")
_STREAM_LINKS = ("soonest", "last")
_KEY_LINKS = ("newest", "oldest")


class Windows:
    """Numbers for all rows, for the compiled part; and their columns, apart from them."""

    STATE = ("state", "_stores")

    def __init__(self, schemas: Sequence[Schema], rule: ShedRule) -> None:
        self.state = blank(rule)
        self._stores = [RowStore(empty_frame(schema)) for schema in schemas]

    def share(self, rows: int) -> None:
        """Set how many rows each stream keeps, before any came."""
        self.state = self.state._replace(rule=self.state.rule._replace(share=rows))

    def arrive(self, stream: int, rows: pl.DataFrame) -> Ints:
        """Store the columns of rows that come; the places where they are."""
        store = self._stores[stream]
        first = len(store)
        store.append(rows)
        return np.arange(first, len(store))

    def columns(self, stream: int, places: Ints) -> pl.DataFrame:
        """The columns of rows at these places."""
        return self._stores[stream].take(places)

    @property
    def kept(self) -> Bools:
        """Which numbers are of rows that are kept."""
        streams = self.state.rows["stream"]
        kept: Bools = (streams >= 0) & (streams < self.state.rule.streams)
        return kept

    @property
    def nbytes(self) -> int:
        state = self.state
        arrays = (state.rows, state.free, state.heaps, state.noted)
        return sum(a.nbytes for a in arrays) + sum(store.nbytes for store in self._stores)

    def make_room(self, coming: int, at_once: int) -> None:
        """Have numbers for rows that come: all, or what is there at most at any instant."""
        rule, room = self.state.rule, len(self.state.rows)
        used = room - int(self.state.memory["free"][0])
        most = rule.streams * rule.share + rule.shadows + at_once
        missing = min(used + coming, most) - room
        if missing > 0:
            more = np.zeros(missing, ROW)
            self._replace_rows(np.concatenate([self.state.rows, more]))
            self._set_free(np.arange(room, room + missing))

    def _replace_rows(self, rows: Array) -> None:
        state, room = self.state, len(rows)
        self.state = state._replace(
            rows=rows,
            free=_with_width(state.free, room),
            heaps=_with_width(state.heaps, room),
            noted=_with_width(state.noted, room),
        )

    def _set_free(self, numbers: Ints) -> None:
        free = int(self.state.memory["free"][0])
        self.state.free[free : free + len(numbers)] = numbers
        self.state.rows["stream"][numbers] = NONE
        self.state.memory["free"] += len(numbers)

    def follow(self, moved: Ints) -> None:
        """Take other numbers for keys; shadows of keys that are gone go with them."""
        state, shadows = self.state, int(self.state.memory["shadows"][0])
        used = state.rows["stream"] != NONE
        state.rows["key"][used] = moved[state.rows["key"][used]]
        numbers = state.noted[SHADOWS, :shadows].copy()
        gone = state.rows["key"][numbers] == NONE
        state.noted[SHADOWS, : np.count_nonzero(~gone)] = numbers[~gone]
        state.memory["shadows"] -= np.count_nonzero(gone)
        self._set_free(numbers[gone])

    def tidy(self, keys: Array) -> None:
        """Let go of columns and numbers that no row needs any more."""
        for stream in range(len(self._stores)):
            self._tidy_columns(stream)
        used = self.state.rows["stream"] != NONE
        if 4 * len(used) > 5 * np.count_nonzero(used) + 4 * _SLACK:
            self._renumber(np.flatnonzero(used), keys)

    def _tidy_columns(self, stream: int) -> None:
        store, kept = self._stores[stream], self.state.rows["stream"] == stream
        if 4 * len(store) > 5 * np.count_nonzero(kept) + 4 * _SLACK:
            places = self.state.rows["place"][kept]
            needed = np.zeros(len(store), np.bool_)
            needed[places] = True
            # Not before a fifth is unused: all rows that stay are moved.
            store.keep(needed)
            self.state.rows["place"][kept] = np.cumsum(needed)[places] - 1

    def _renumber(self, used: Ints, keys: Array) -> None:
        """Give the rows that are used the first numbers."""
        state, count = self.state, len(used)
        moved = np.full(len(state.rows) + 1, NONE, np.int32)  # the last place is for NONE
        moved[used] = np.arange(count)
        rows = state.rows[used]
        for name in _ROW_LINKS:
            rows[name] = moved[rows[name]]
        for name in _STREAM_LINKS:
            state.streams[name] = moved[state.streams[name]]
        for name in _KEY_LINKS:
            keys[name] = moved[keys[name]]
        state.heaps[:] = moved[state.heaps]
        state.noted[SHADOWS] = moved[state.noted[SHADOWS]]
        self._replace_rows(rows)
        self.state.memory["free"] = 0


def _with_width(array: npt.NDArray[np.int32], width: int) -> npt.NDArray[np.int32]:
    """The array with this number of columns: cut off, or filled up with zeros."""
    result = np.zeros((*array.shape[:-1], width), np.int32)
    shared = min(width, array.shape[-1])
    result[..., :shared] = array[..., :shared]
    return result
