"""Running totals per key: the heart of every sweep that counts or sums.

A row adds its numbers to its key when it starts and takes them back when it ends. The ledger
keeps the totals as they stand at the sweep line, and the ends that are still to come.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from tidemill.physical.arrays import (
    Array,
    Bools,
    Ints,
    ends_of_runs,
    slot_order,
    stable_order,
    starts_of_runs,
)
from tidemill.physical.calendar import Calendar, Entries, concat
from tidemill.physical.keys import KeyTable
from tidemill.physical.operator import ends, starts
from tidemill.timeline import OPEN_END


@dataclass(frozen=True)
class Change:
    """New rows, and the numbers that each contributes while it holds."""

    rows: pl.DataFrame
    amounts: Mapping[str, Array]


@dataclass(frozen=True)
class Posted:
    """Where the rows of a change went: their slots and the moments of their start and end.

    A moment is a position in `Moments`; an end after the sweep lies behind the key's last moment.
    """

    slots: Ints
    start: Ints
    end: Ints


@dataclass(frozen=True)
class Moments:
    """The instants at which keys changed, ordered by key and time, with the totals from then on.

    `before` are the totals of each key up to its first moment, aligned with `first` moments.
    """

    slots: Ints
    times: Ints
    first: Bools
    last: Bools
    totals: dict[str, Array]
    before: dict[str, Array]
    posted: list[Posted]

    def __len__(self) -> int:
        return len(self.slots)

    def previous(self, name: str) -> Array:
        """The totals just before each moment."""
        shifted = np.empty_like(self.totals[name])
        shifted[1:] = self.totals[name][:-1]
        shifted[self.first] = self.before[name]
        return shifted


class Ledger:
    """Keys with running totals, and the ends that will change them."""

    def __init__(self, empty: pl.DataFrame, keys: Sequence[str], *totals: str) -> None:
        self.table = KeyTable(empty, keys)
        self._calendar = Calendar()
        self._totals = set(totals)
        for name in totals:
            self.table.column(name)

    def advance(self, changes: Sequence[Change], until: int) -> Moments:
        """Post the starts of new rows and all ends before `until`."""
        parts: list[Entries] = []
        slots = [self.table.find_or_add(change.rows) for change in changes]
        for change, slot in zip(changes, slots, strict=True):
            parts.extend(self._post(change, slot, until))
        parts.append(self._calendar.pop(until))
        events = concat(parts)
        by_time = stable_order(events.times)
        order = by_time[slot_order(events.slots[by_time])]
        return self._total(events.take(order), order, changes, slots, until)

    def _post(self, change: Change, slots: Ints, until: int) -> list[Entries]:
        """Start and end events of new rows; later ends go to the calendar."""
        if change.rows.height == 0:
            return []
        end = ends(change.rows)
        added = Entries(starts(change.rows), slots, dict(change.amounts))
        removed = Entries(end, slots, {name: -column for name, column in change.amounts.items()})
        soon = end < until
        if soon.all():
            return [added, removed]
        self._calendar.push(removed.take(np.flatnonzero(~soon & (end < OPEN_END))))
        return [added, removed.take(np.flatnonzero(soon))]

    def _total(
        self,
        events: Entries,
        order: Ints,
        changes: Sequence[Change],
        slots: list[Ints],
        until: int,
    ) -> Moments:
        first_event = starts_of_runs(events.slots)
        moment_start = first_event | starts_of_runs(events.times)
        at = np.flatnonzero(ends_of_runs(moment_start))
        first = first_event[np.flatnonzero(moment_start)]
        run = np.cumsum(first) - 1
        run_start = np.flatnonzero(first_event)
        keys = events.slots[at]
        last = ends_of_runs(first)
        totals, before = {}, {}
        for name, amounts in events.values.items():
            column = self.table.column(name, amounts.dtype)
            summed = np.cumsum(amounts)
            before[name] = column[keys[first]]
            base = before[name] - (summed[run_start] - amounts[run_start])
            totals[name] = summed[at] + base[run]
            column[keys[last]] = totals[name][last]
        self._totals |= events.values.keys()
        for name in self._totals - events.values.keys():
            # No event moved this total, but the readers of the moments still want it.
            before[name] = self.table.columns[name][keys[first]]
            totals[name] = before[name][run]
        moment_of = np.empty(len(order), dtype=np.int64)
        moment_of[order] = np.cumsum(moment_start) - 1
        posted = _posted(changes, slots, moment_of, np.flatnonzero(last), keys[last], until)
        return Moments(keys, events.times[at], first, last, totals, before, posted)

    def release(self, slots: Ints) -> None:
        """Forget keys that have no rows any more."""
        self.table.free(slots)

    def compact(self) -> Ints | None:
        """Give back memory if most of it is unused; the new number of every old slot."""
        moved = self.table.compact()
        if moved is not None:
            self._calendar.renumber(moved)
        return moved

    @property
    def open_ends(self) -> int:
        return len(self._calendar)

    @property
    def nbytes(self) -> int:
        return self.table.nbytes + self._calendar.nbytes





def _posted(
    changes: Sequence[Change],
    slots: list[Ints],
    moment_of: Ints,
    last_moments: Ints,
    last_slots: Ints,
    until: int,
) -> list[Posted]:
    result, offset = [], 0
    for change, slot in zip(changes, slots, strict=True):
        count = change.rows.height
        start = moment_of[offset : offset + count]
        offset += count
        # Without an end in this sweep, a row reaches behind the last moment of its key.
        end = last_moments[np.searchsorted(last_slots, slot)] + 1
        soon = np.flatnonzero(ends(change.rows) < until)
        end[soon] = moment_of[offset : offset + len(soon)]
        offset += len(soon)
        result.append(Posted(slot, start, end))
    return result
