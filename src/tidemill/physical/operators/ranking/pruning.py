"""Instances of objects, and which of them can still be among the first.

An instance is what an object will be when its rows before a certain one have expired: the rows
since. Its current score is that of these rows; its best one has, for every row that may still
come, the most that it can bring. An instance is of no use any more when there are k other objects
with later instances whose current scores are above its best one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from tidemill.errors import ExecutionError
from tidemill.physical.mechanisms.arrays import Bools, Ints, starts_of_runs
from tidemill.physical.operators.ranking.calls import Ranges
from tidemill.physical.operators.ranking.forgetting import rows_that_begin_anew
from tidemill.physical.operators.ranking.kernel.dominance import undominated
from tidemill.physical.operators.ranking.known import KnownObjects
from tidemill.physical.operators.ranking.promises import Promises, SeenObjects
from tidemill.physical.operators.ranking.rows import Objects
from tidemill.physical.operators.ranking.scoring import Scoring


class Instances(NamedTuple):
    """Instances in the order of objects and time: their rows, the calls of these, and scores."""

    ranges: Ranges
    calls: pl.DataFrame
    current: Ints
    best: Ints


class Pruned(NamedTuple):
    """What is left at the end of a tick: instances, which of them stay, and the rows for that."""

    instances: Instances
    stays: Bools
    kept: Ints  # by object: the first row that is kept; its bound if none is


class Pruning:
    """Finds the instances that can still be among the first."""

    def __init__(
        self, scoring: Scoring, promises: Promises, known: KnownObjects, limit: int
    ) -> None:
        self._scoring, self._promises, self._known = scoring, promises, known
        self._limit = limit

    def prune(self, objects: Objects, ends: Ints, until: int) -> Pruned:
        """What is kept of objects after the last instant before `until`."""
        seen = self._promises.seen(objects, self._known)
        begins = _begins(objects)
        anew, born = self._begun_anew(objects, begins, seen)
        self._promises.count(objects, anew, self._known)
        number = np.repeat(np.arange(len(objects.first)), objects.bound - objects.first)
        # Instances begin with rows that still hold, and not before their object began anew.
        low = np.flatnonzero(begins & (ends >= until))
        low = low[low >= born[number[low]]]
        number = number[low]
        found = self._instances(objects, Ranges(low, objects.bound[number]), born[number], seen)
        check_monotone(objects, found, self._promises)
        stays = self._staying(objects, found)
        return Pruned(found, stays, _kept_from(objects, low[stays]))

    def _instances(
        self, objects: Objects, ranges: Ranges, since: Ints, seen: SeenObjects
    ) -> Instances:
        calls = self._scoring.calls(objects.rows, ranges)
        current = self._scoring.keys(calls, objects.rows.item[ranges.low], self._known)
        best = self._best(objects, ranges, since, seen, current)
        return Instances(ranges, calls, current, best)

    def _current(self, objects: Objects, ranges: Ranges) -> Ints:
        calls = self._scoring.calls(objects.rows, ranges)
        return self._scoring.keys(calls, objects.rows.item[ranges.low], self._known)

    def _best(
        self,
        objects: Objects,
        ranges: Ranges,
        since: Ints,
        seen: SeenObjects,
        current: Ints | None = None,
    ) -> Ints:
        """The best scores of instances; where nothing may come any more, the current ones."""
        coming = self._promises.coming(seen.counts(ranges, since))
        if current is None:
            calls = self._scoring.calls(objects.rows, ranges, coming)
            return self._scoring.keys(calls, objects.rows.item[ranges.low], self._known)
        # Calls take long to compute, and most instances may get no more rows.
        best, at = current.copy(), np.flatnonzero(coming.any(axis=1))
        some = Ranges(ranges.low[at], ranges.high[at])
        calls = self._scoring.calls(objects.rows, some, coming[at])
        best[at] = self._scoring.keys(calls, objects.rows.item[some.low], self._known)
        return best

    def _staying(self, objects: Objects, found: Instances) -> Bools:
        """Which instances fewer than k others dominate."""
        rows, low = objects.rows, found.ranges.low
        # An instance is dominated only by later ones: from the newest on, one pass finds them all.
        newest = np.argsort(objects.order[low], kind="stable")[::-1].copy()
        places, items = rows.place[low], rows.item[low]
        return not_dominated(newest, places, items, found.current, found.best, self._limit)

    def _begun_anew(self, objects: Objects, begins: Bools, seen: SeenObjects) -> tuple[Bools, Ints]:
        """The rows with which objects begin anew, and by object the last of them, or -1."""
        if not self._promises.outlast_windows or self._limit == 0:
            return np.zeros(len(begins), np.bool_), np.full(len(objects.first), -1)
        return rows_that_begin_anew(
            objects,
            begins,
            self._promises.window,
            (self._known.capacity, self._limit),
            lambda ranges: self._current(objects, ranges),
            lambda ranges, since: self._best(objects, ranges, since, seen),
        )


def _begins(objects: Objects) -> Bools:
    """With which rows instances begin: the first of every object at every place."""
    return starts_of_runs(objects.rows.item, objects.rows.place)


def check_monotone(objects: Objects, found: Instances, promises: Promises) -> None:
    """Fail if scores of instances do not go where those of a monotone function go."""
    rows, low = objects.rows, found.ranges.low
    falls = found.current < rows.current[low]
    rises = (found.best > rows.best[low]) if promises.are_bounded else np.zeros_like(falls)
    if (falls | rises | (found.current > found.best)).any():
        raise not_monotone()


def not_monotone() -> ExecutionError:
    """The error for a score that falls when a row comes."""
    return ExecutionError(
        "the score of a ranking fell when a row came, or rose above the best that was possible",
        help="declare only functions as monotone that never fall when an argument rises, and"
        " ranges that hold all values",
    )


def _kept_from(objects: Objects, staying: Ints) -> Ints:
    """The first row of every object that an instance needs that stays; the bound if none does."""
    low = np.append(staying, np.iinfo(np.int64).max)
    kept: Ints = np.minimum(low[np.searchsorted(low, objects.first)], objects.bound)
    return kept


def not_dominated(
    newest: Ints, places: Ints, items: Ints, current: Ints, best: Ints, limit: int
) -> Bools:
    """Which instances fewer than `limit` others dominate; the newest are listed first."""
    stays = np.zeros(len(newest), np.bool_)
    if limit > 0:
        capacity = int(items.max(initial=-1)) + 1
        heap = np.empty(min(limit, capacity + 1), np.int64)
        keys = np.empty(capacity, np.int64)
        where = np.full(capacity, -1)
        undominated(newest, places, items, current, best, heap, keys, where, stays)
    return stays
