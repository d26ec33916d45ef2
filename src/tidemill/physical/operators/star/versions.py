"""The relation of a star join: its rows as versions, found by the keys of every stream."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import polars as pl

from tidemill.algebra.schema import Schema
from tidemill.physical.mechanisms.arrays import Array, Ints, ends_of_runs, starts_of_runs
from tidemill.physical.mechanisms.calendar import Calendar, Entries
from tidemill.physical.mechanisms.hash_index import HashIndex
from tidemill.physical.mechanisms.keys import KeyTable, key_table, key_values
from tidemill.physical.mechanisms.ordering import slot_order
from tidemill.physical.mechanisms.rows import RowStore
from tidemill.physical.operator import (
    empty_frame,
    ends,
    payload,
    starts,
    with_validity,
)
from tidemill.physical.operators.star.layout import NONE, VERSION, no_keys
from tidemill.timeline import OPEN_END, VALID_FROM

Columns = tuple[str, ...]

_FEWEST_TO_FORGET = 1024


class Versions:
    """All rows of a relation that rows of streams may meet, or that some have met.

    `version` is the column by which rows are known that come and go; without, they stay. Those
    that are there at first are listed key by key, so that the versions of a key are together in
    memory; later ones are put before them, at the instant at which they begin.
    """

    STATE = (
        "_tables",
        "_ids",
        "_rows",
        "_opening",
        "_ending",
        "_ended",
        "_edges",
        "keys",
        "edges",
        "versions",
        "version_keys",
    )

    def __init__(self, schema: Schema, keys: Sequence[Columns], version: str | None) -> None:
        self._schema = schema
        self._columns = keys
        self._version = version
        self._clear()

    def _clear(self) -> None:
        n = len(self._columns)
        empty = empty_frame(self._schema)
        self._tables = [key_table(key_values(empty, columns)) for columns in self._columns]
        self._ids = HashIndex()
        self._rows = RowStore(empty)
        self._opening, self._ending = Calendar(), Calendar()
        self._ended = self._edges = 0
        self.keys = no_keys(0)
        self.edges: Array = np.zeros((0, n + 1), np.int32)
        self.versions: Array = np.zeros(0, VERSION)
        self.version_keys: Array = np.zeros((0, n), np.int32)

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def is_changing(self) -> bool:
        return self._version is not None

    def rows(self, numbers: Ints) -> pl.DataFrame:
        """The rows of the relation that versions are of."""
        return self._rows.take(numbers)

    def find(self, stream: int, batch: pl.DataFrame, columns: Columns) -> Ints:
        """The keys of rows of a stream, `NONE` where no version has the same."""
        found = self._tables[stream].find(key_values(batch, columns))
        return np.where(found < 0, NONE, self._number(found, stream))

    def take(self, batch: pl.DataFrame, swept: int) -> None:
        """Take in new rows and ends; nothing counts before the time that was swept."""
        if batch.height == 0:
            return
        batch = batch.drop_nulls([name for columns in self._columns for name in columns])
        if self._version is None:
            self._insert(batch, swept)
            return
        # The end of a version comes as a row of it that holds for no time.
        inserted = starts(batch) < ends(batch)
        late = pl.max_horizontal(VALID_FROM, pl.lit(swept))
        self._insert(batch.filter(inserted).with_columns(late.alias(VALID_FROM)), swept)
        ended = batch.filter(~inserted)
        self._end(_ids(ended, self._version), starts(ended), swept)

    def opening(self, until: int) -> Array:
        """The versions that begin before an instant, with their first edges."""
        due = self._opening.pop(until)
        edges = due.values["edge"] if len(due) else due.slots
        return np.stack([due.slots, edges], axis=1).astype(np.int32)

    def ending(self, until: int) -> Array:
        """The versions that end before an instant."""
        due = self._ending.pop(until)
        self._ended += len(due)
        return due.slots.astype(np.int32)

    def forget(self, oldest: int, swept: int) -> Ints | None:
        """Drop versions that ended before the oldest row came, if they may be the most.

        The new numbers of all keys, `NONE` for those that are gone.
        """
        if self._ended < _FEWEST_TO_FORGET or 2 * self._ended < len(self):
            return None
        kept = np.flatnonzero(self.versions["end"][: len(self)] > oldest)
        rows, versions = self._rows.take(kept), self.versions[kept]
        tables, keys = self._tables, self.keys
        self._clear()
        self._insert(with_validity(rows, versions["begin"], versions["end"]), swept)
        self._ended = int((versions["end"] < swept).sum())
        moved = self._moved(tables, len(keys))
        found = np.flatnonzero(moved != NONE)
        for name in ("newest", "oldest", "rows"):
            self.keys[name][moved[found]] = keys[name][found]
        return moved

    @property
    def nbytes(self) -> int:
        arrays = (self.keys, self.edges, self.versions, self.version_keys)
        tables = sum(table.nbytes for table in self._tables)
        calendars = self._opening.nbytes + self._ending.nbytes
        own = tables + calendars + self._ids.nbytes + self._rows.nbytes
        return own + sum(array.nbytes for array in arrays)

    def _number(self, slots: Ints, stream: int) -> Ints:
        # Every second number is left for the shadow of the key: rows of it that were shed.
        return 2 * (slots * len(self._columns) + stream)

    def _insert(self, batch: pl.DataFrame, swept: int) -> None:
        if self._version is not None:
            _, added = self._ids.find_or_add(_ids(batch, self._version))
            batch = batch[added]
        first, count = len(self), batch.height
        self._rows.append(payload(batch))
        numbers = np.arange(first, first + count)
        self.versions = _with_room(self.versions, len(self))
        self.version_keys = _with_room(self.version_keys, len(self))
        self._add_keys(batch, numbers)
        begin = starts(batch)
        self.versions["begin"][numbers], self.versions["end"][numbers] = begin, ends(batch)
        begun = begin <= swept
        self._list(numbers[begun])
        self._list_later(numbers[~begun], begin[~begun])
        self._list_ends(numbers, swept)

    def _add_keys(self, batch: pl.DataFrame, numbers: Ints) -> None:
        for stream, (table, columns) in enumerate(zip(self._tables, self._columns, strict=True)):
            slots = table.find_or_add(key_values(batch, columns))
            self.version_keys[numbers, stream] = self._number(slots, stream)
        needed = 2 * len(self._tables) * max(len(table.live) for table in self._tables)
        if needed > len(self.keys):
            more = no_keys(max(needed - len(self.keys), len(self.keys)))
            self.keys = np.concatenate([self.keys, more])

    def _list(self, numbers: Ints) -> None:
        """Put versions before the others of their keys, one key after the other."""
        n = len(self._columns)
        keys = self.version_keys[numbers].ravel()
        order = slot_order(keys.astype(np.int64))
        keys = keys[order]
        at = self._new_edges(np.repeat(numbers, n)[order], order % n)
        first = starts_of_runs(keys)
        # The last edge of a key leads on to those that the key had before.
        following = at + 1
        last = ends_of_runs(first)
        following[last] = self.keys["edge"][keys[last]]
        self.edges[at, 0] = following
        self.keys["edge"][keys[first]] = at[first]

    def _list_later(self, numbers: Ints, begin: Ints) -> None:
        n = len(self._columns)
        at = self._new_edges(np.repeat(numbers, n), np.tile(np.arange(n), len(numbers)))
        self._opening.push(Entries(begin, numbers, {"edge": at[::n]}))

    def _new_edges(self, numbers: Ints, streams: Ints) -> Ints:
        """Edges from keys, each of a version and a stream, to those of the other streams."""
        at = np.arange(self._edges, self._edges + len(numbers))
        self._edges += len(numbers)
        self.edges = _with_room(self.edges, self._edges)
        self.edges[at, 1] = numbers
        others = self._others[streams]
        self.edges[at, 2:] = np.take_along_axis(self.version_keys[numbers], others, axis=1)
        return at

    @cached_property
    def _others(self) -> Ints:
        streams = range(len(self._columns))
        others = [[other for other in streams if other != stream] for stream in streams]
        return np.array(others, np.int64).reshape(len(streams), len(streams) - 1)

    def _list_ends(self, numbers: Ints, swept: int) -> None:
        end = self.versions["end"][numbers]
        due = (end < OPEN_END) & (end >= swept)
        self._ending.push(Entries(end[due], numbers[due], {}))

    def _end(self, ids: Array, end: Ints, swept: int) -> None:
        """End versions that are open; what was looked up before stays as it was."""
        numbers = self._ids.find(ids)
        known = numbers >= 0
        numbers, end = numbers[known], end[known]
        still = self.versions["end"][numbers] == OPEN_END
        numbers = numbers[still]
        self.versions["end"][numbers] = np.maximum(end[still], swept)
        self._list_ends(numbers, swept)

    def _moved(self, tables: Sequence[KeyTable], keys: int) -> Ints:
        moved = np.full(keys, NONE, np.int64)
        for stream, (old, new) in enumerate(zip(tables, self._tables, strict=True)):
            slots = np.arange(len(old.live))
            found = new.find(old.rows(slots))
            slots, found = slots[found >= 0], found[found >= 0]
            for shadow in (0, 1):
                moved[self._number(slots, stream) + shadow] = self._number(found, stream) + shadow
        return moved


def _ids(batch: pl.DataFrame, version: str) -> Array:
    return batch[version].to_numpy().view(np.uint64)


def _with_room(array: Array, length: int) -> Array:
    """An array with at least this number of places; those after its content are zero."""
    if length <= len(array):
        return array
    more = np.zeros((max(length, 2 * len(array)) - len(array), *array.shape[1:]), array.dtype)
    return np.concatenate([array, more])
