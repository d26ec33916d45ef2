"""Sorted lists: the rows of every stream by what they bring to a call."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
import polars as pl

from tidemill.algebra.ranking import Ranked
from tidemill.physical.mechanisms.arrays import (
    Bools,
    Ints,
    distinct,
    doubles_of,
    ends_of_runs,
    starts_of_runs,
)
from tidemill.physical.mechanisms.ordering import slot_order
from tidemill.physical.operators.ranking.calls import Ranges
from tidemill.physical.operators.ranking.kernel.view import Lists
from tidemill.physical.operators.ranking.keys import NULL, keys_of, scores_of
from tidemill.physical.operators.ranking.known import KnownObjects
from tidemill.physical.operators.ranking.queue import Queue
from tidemill.physical.operators.ranking.rows import Objects, ScoreColumn
from tidemill.physical.operators.ranking.scoring import Scoring

_REST = -1  # the list of rows that bring nothing to any call


class _List(NamedTuple):
    """Numbers of rows in the order of their values."""

    values: Ints
    numbers: Ints


class SortedLists:
    """A list for every stream and call, sorted by value, the largest last.

    The value of a row is what the call gives for it and all later rows of its object and stream:
    the oldest row that holds has the value of the object, and when it goes, the next one has.
    Lists are put in order when they are needed.
    """

    STATE = ("_lists", "_changed", "_first")

    def __init__(self, ranked: Ranked, scoring: Scoring, queue: Queue) -> None:
        self._ranked, self._scoring, self._queue = ranked, scoring, queue
        self._lists: dict[tuple[int, int], _List] = {}
        self._changed: list[Ints] = []
        self._first = 0  # the first row that was there when lists were put in order

    def note(self, objects: Objects) -> None:
        """Take the new rows of objects into account."""
        ranges, numbers = self._ranges_to_the_last(objects)
        if len(numbers) == 0:
            return
        rows = self._queue.take(numbers)
        calls = self._scoring.calls(rows, ranges)
        for at, call in enumerate(self._ranked.calls):
            values = keys_of(calls[call.name])
            if call.function == "SUM" and calls[call.name].dtype.is_float():
                # A sum was rounded; the double above it is not below the exact one.
                values += (ranges.high - ranges.low > 1) & (values != NULL)
            self._queue.set_values(at, numbers, values)
        self._changed.append(numbers)
        # Lists that nobody walks would otherwise note changes without end.
        if sum(map(len, self._changed)) > len(self._queue):
            self._put_in_order()

    def _ranges_to_the_last(self, objects: Objects) -> tuple[Ranges, Ints]:
        """For each row of objects and streams with new ones, the range up to the last of them."""
        rows, numbers = objects.rows, objects.order
        is_new = np.zeros(len(rows) + 1, np.int64)
        np.add.at(is_new, objects.new, 1)
        np.add.at(is_new, objects.bound, -1)
        group = rows.item * len(self._ranked.streams) + rows.stream
        order = slot_order(group)
        starts = starts_of_runs(group[order])
        run = np.cumsum(starts) - 1
        bounds = np.flatnonzero(ends_of_runs(starts)) + 1
        new = np.bincount(run, np.cumsum(is_new)[:-1][order], len(bounds)) > 0
        kept = np.flatnonzero(new[run])
        high = (np.cumsum(new[run]))[bounds - 1][run]
        return Ranges(np.arange(len(kept)), high[kept]), numbers[order[kept]]

    def walk(self, depth: int, known: KnownObjects) -> Lists:
        """All lists, put in order, as deep as asked for."""
        self._put_in_order()
        parts = [each.numbers[::-1][:depth] for each in self._lists.values()]
        items = self._queue.of("item", np.concatenate(parts))
        is_whole = all(len(each.numbers) <= depth for each in self._lists.values())
        deepest = min(depth, max(len(part) for part in parts))
        return Lists(items, np.cumsum([*map(len, parts)]), self._scores(deepest, known), is_whole)

    def _put_in_order(self) -> None:
        """Merge the lists with rows that have other values now, without those that are gone."""
        queue, first = self._queue, self._queue.first
        if not self._changed and self._first == first:
            return
        changed = distinct(np.concatenate([np.empty(0, np.int64), *self._changed]))
        changed = changed[changed >= first]
        self._changed, self._first = [], first
        stays = np.ones(len(queue), np.bool_)
        stays[changed - first] = False
        streams = queue.of("stream", changed)
        values = [queue.values(call, changed) for call in range(len(self._ranked.calls))]
        for (call, of_call), stream in product(enumerate(values), range(len(self._ranked.streams))):
            mine = (streams == stream) & (of_call != NULL)
            self._merge((stream, call), stays, _List(of_call[mine], changed[mine]))
        rest = changed[np.all([each == NULL for each in values], axis=0)]
        self._merge((_REST, _REST), stays, _List(np.full(len(rest), NULL), rest))

    def _merge(self, name: tuple[int, int], stays: Bools, new: _List) -> None:
        old = self._list(*name)
        kept = old.numbers >= self._first
        kept[kept] = stays[old.numbers[kept] - self._first]
        values, numbers = old.values[kept], old.numbers[kept]
        order = np.argsort(new.values, kind="stable")
        # Few rows are new: to insert them takes less than to sort the whole list again.
        at = np.searchsorted(values, new.values[order])
        merged = np.insert(values, at, new.values[order])
        self._lists[name] = _List(merged, np.insert(numbers, at, new.numbers[order]))

    def _scores(self, depth: int, known: KnownObjects) -> Ints:
        """The scores that objects reach at most of which nothing is found down to each depth."""
        if self._scoring.reads_keys:
            return np.full(depth, np.iinfo(np.int64).max)
        parts = [self._largest(call, depth) for call in range(len(self._ranked.calls))]
        return self._scoring.keys_of_parts(parts, known)

    def _largest(self, number: int, depth: int) -> ScoreColumn:
        """At every depth, the values for a call, stream by stream."""
        values = np.full((depth, len(self._ranked.streams)), NULL)
        for stream in range(values.shape[1]):
            largest = self._list(stream, number).values[::-1][:depth]
            values[: len(largest), stream] = largest
        keys, call = values.reshape(-1), self._ranked.calls[number]
        present = keys != NULL
        numbers = doubles_of(keys) if self._scoring.types[call.name].is_float() else keys
        counted = np.ones_like(present) if call.function == "COUNT" else present
        return ScoreColumn(np.where(present, numbers, 0), counted)

    def _list(self, stream: int, call: int) -> _List:
        none = np.empty(0, np.int64)
        return self._lists.get((stream, call), _List(none, none))

    def entries(self, known: KnownObjects) -> pl.DataFrame:
        """All lists, from the top: keys, stream, call, since when (t), and value."""
        self._put_in_order()
        parts = [self._of(*name, known) for name in self._lists if name[0] != _REST]
        return pl.concat(parts)

    def _of(self, stream: int, number: int, known: KnownObjects) -> pl.DataFrame:
        """One list."""
        found, call = self._lists[stream, number], self._ranked.calls[number]
        numbers, values = found.numbers[::-1], found.values[::-1]
        return known.rows(self._queue.of("item", numbers)).with_columns(
            pl.lit(stream).alias("stream"),
            pl.lit(call.name).alias("call"),
            pl.Series("t", self._queue.of("place", numbers)),
            scores_of(values, self._scoring.types[call.name]).alias("value"),
        )

    @property
    def nbytes(self) -> int:
        changed = sum(numbers.nbytes for numbers in self._changed)
        return changed + sum(v.nbytes + n.nbytes for v, n in self._lists.values())
