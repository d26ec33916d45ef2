"""The versions of partitions between their changes, and the values of functions in each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from tidemill.algebra.over_rows import OverCall
from tidemill.deadline import look
from tidemill.physical.mechanisms.arrays import Bools, Ints, blocks, ranges, starts_of_runs
from tidemill.physical.mechanisms.keys import canonical
from tidemill.physical.mechanisms.ordering import in_slot_order
from tidemill.physical.operators.over_rows.frames import SortedVersions
from tidemill.physical.operators.over_rows.functions import Columns, values_of
from tidemill.physical.operators.over_rows.sorting import new_peers, row_order

if TYPE_CHECKING:
    from tidemill.physical.operators.over_rows.node import OverRowsExec

_MOST = 1_000_000
"""Rows of versions that are computed at once, if no single version has more."""


@dataclass(frozen=True)
class PartitionRows:
    """All rows of some partitions: their slots, since when they are open, and their ends."""

    rows: pl.DataFrame
    slots: Ints
    since: Ints
    ends: Ints

    def take(self, places: Ints) -> PartitionRows:
        """Some of them, in this order."""
        columns = (self.slots[places], self.since[places], self.ends[places])
        return PartitionRows(self.rows[places], *columns)


@dataclass(frozen=True)
class Valued:
    """Rows, by their numbers, with their values and the intervals in which these hold."""

    row: Ints
    start: Ints
    end: Ints
    values: list[pl.Series]


def versions_of(
    part: PartitionRows, node: OverRowsExec, until: int, cut: bool
) -> tuple[list[Valued], Ints]:
    """The values that rows had until the last change of their partition, and when that was.

    Changes from `until` on are not known yet; to `cut` makes that the last one of all.
    """
    order = row_order(part.slots, part.rows, node.order)
    part = part.take(order)
    begin, stop, moments, last = _covered(part, until, cut)
    told = np.empty_like(last)
    told[order] = last
    sizes = np.cumsum(_counted(begin, len(moments)) - _counted(stop, len(moments)))
    found, rows = [], 0
    for block in blocks(sizes, _MOST):
        look(rows)
        some = _valued_in(part, node, begin, stop, moments, block)
        if some is not None:
            rows += len(some.row)
            found.append(Valued(order[some.row], some.start, some.end, some.values))
    return found, told


def _counted(places: Ints, size: int) -> Ints:
    return np.bincount(places, minlength=size).astype(np.int64)


def _valued_in(
    part: PartitionRows, node: OverRowsExec, begin: Ints, stop: Ints, moments: Ints, block: slice
) -> Valued | None:
    """The values at some of the moments: not of all at once, since a row is there at many."""
    begin, stop = (np.clip(places, block.start, block.stop) for places in (begin, stop))
    rows = np.flatnonzero(stop > begin)
    if not len(rows):
        return None
    some = part if len(rows) == len(begin) else part.take(rows)
    found = _valued(some, node, begin[rows], stop[rows], moments)
    return Valued(rows[found.row], found.start, found.end, found.values)


def _covered(part: PartitionRows, until: int, cut: bool) -> tuple[Ints, Ints, Ints, Ints]:
    """For each row its first moment and the one after its last; the moments; the last of all.

    A moment is an instant at which a partition changes. It is known by its place among those of
    all partitions, which are in order.
    """
    ended = np.flatnonzero(part.ends < until)
    slots, times = [part.slots, part.slots[ended]], [part.since, part.ends[ended]]
    if cut:
        slots, times = [*slots, part.slots], [*times, np.full(len(part.slots), until)]
    order, slot, time = in_slot_order(np.concatenate(slots), np.concatenate(times))
    new = starts_of_runs(slot, time)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.cumsum(new) - 1
    moments, of_slot = time[new], slot[new]
    behind = np.searchsorted(of_slot, part.slots, side="right") - 1
    begin, stop = place[: len(part.slots)], behind.copy()
    stop[ended] = place[len(part.slots) : len(part.slots) + len(ended)]
    return begin, stop, moments, moments[behind]


def _valued(
    part: PartitionRows, node: OverRowsExec, begin: Ints, stop: Ints, moments: Ints
) -> Valued:
    """The values of rows at all their moments; those that stay the same are given once."""
    lengths = stop - begin
    row = np.repeat(np.arange(len(begin), dtype=np.int64), lengths)
    moment = ranges(begin, lengths)
    order, version, _ = in_slot_order(moment, row)
    versions = _sorted_versions(part, node, row[order], version)
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    columns = _reader(part, row[order])
    values = [_named(call, values_of(call, versions, columns)[back]) for call in node.calls]
    new = _changes(row, values)
    firsts = np.flatnonzero(new)
    lasts = np.append(firsts[1:], len(row)) - 1
    return Valued(
        row[firsts],
        moments[moment[firsts]],
        moments[moment[lasts] + 1],
        [each[firsts] for each in values],
    )


def _sorted_versions(
    part: PartitionRows, node: OverRowsExec, row: Ints, version: Ints
) -> SortedVersions:
    peers: Ints = np.cumsum(new_peers(part.slots, part.rows, node.order), dtype=np.int64)[row]
    if not any(_goes_by_value(call) for call in node.calls):
        return SortedVersions(version, peers)
    (key,) = node.order
    return SortedVersions(version, peers, part.rows[key.column][row], key)


def _goes_by_value(call: OverCall) -> bool:
    bounds = (call.frame.start, call.frame.end)
    return call.frame.unit == "RANGE" and any(each not in (None, 0) for each in bounds)


def _reader(part: PartitionRows, row: Ints) -> Columns:
    @cache
    def column(name: str) -> pl.Series:
        return canonical(part.rows.select(name)).to_series()[row]

    return column


def _named(call: OverCall, values: pl.Series) -> pl.Series:
    return values.alias(call.name)


def _changes(row: Ints, values: list[pl.Series]) -> Bools:
    """Where another row begins, or a row gets another value."""
    new = starts_of_runs(row)
    for column in values:
        new[1:] |= column[1:].ne_missing(column[:-1]).to_numpy()
    return new
