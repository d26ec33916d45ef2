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
from tidemill.physical.arrays import Bools, Ints
from tidemill.physical.ranking.calls import Ranges
from tidemill.physical.ranking.kernel.dominance import undominated
from tidemill.physical.ranking.known import Known
from tidemill.physical.ranking.promises import Promises
from tidemill.physical.ranking.rows import Objects
from tidemill.physical.ranking.scoring import Scoring


class Instances(NamedTuple):
    """Instances in the order of objects and time: their rows, the calls of these, and scores."""

    ranges: Ranges
    calls: pl.DataFrame
    current: Ints
    best: Ints


def instances_of(
    objects: Objects, ends: Ints, until: int, scoring: Scoring, promises: Promises, known: Known
) -> Instances:
    """The instances of all objects with rows that hold at the last instant before `until`."""
    rows = objects.rows
    is_first = np.ones(len(rows), np.bool_)
    is_first[1:] = (rows.item[1:] != rows.item[:-1]) | (rows.place[1:] != rows.place[:-1])
    low = np.flatnonzero(is_first & (ends >= until))
    bounds = np.repeat(objects.bound, objects.bound - objects.first)
    ranges = Ranges(low, bounds[low])
    items = rows.item[low]
    calls = scoring.calls(rows, ranges)
    current = best = scoring.keys(calls, items, known)
    coming = promises.coming(promises.seen(rows, ranges, known))
    open_ones = np.flatnonzero(coming.any(axis=1))
    if len(open_ones):
        some = Ranges(ranges.low[open_ones], ranges.high[open_ones])
        best = current.copy()
        best_calls = scoring.calls(rows, some, coming[open_ones])
        best[open_ones] = scoring.keys(best_calls, items[open_ones], known)
    return Instances(ranges, calls, current, best)


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


def staying(objects: Objects, found: Instances, limit: int, capacity: int) -> Bools:
    """Which instances fewer than `limit` others dominate."""
    rows, low = objects.rows, found.ranges.low
    stays = np.zeros(len(low), np.bool_)
    if limit > 0:
        places, items = rows.place[low], rows.item[low]
        newest = np.argsort(objects.order[low], kind="stable")[::-1].copy()
        heap, keys = np.empty(limit, np.int64), np.empty(capacity, np.int64)
        where = np.full(capacity, -1)
        undominated(newest, places, items, found.current, found.best, heap, keys, where, stays)
    return stays


def kept_from(objects: Objects, found: Instances, stays: Bools) -> Ints:
    """The first row of every object that an instance needs that stays; the bound if none does."""
    low = np.append(found.ranges.low[stays], np.iinfo(np.int64).max)
    kept: Ints = np.minimum(low[np.searchsorted(low, objects.first)], objects.bound)
    return kept
