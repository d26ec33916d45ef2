"""Running totals per key: the heart of every sweep that counts or sums.

A row adds its numbers to its key when it starts and takes them back when it ends. The ledger
keeps the totals as they stand at the sweep line, and the ends that are still to come.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from tidemill.physical.mechanisms.adding import added_up, found_moments
from tidemill.physical.mechanisms.arrays import Array, Bools, Ints, lasts_of
from tidemill.physical.mechanisms.calendar import Calendar, Entries, concat
from tidemill.physical.mechanisms.keys import KeyTable
from tidemill.physical.mechanisms.ordering import in_slot_order
from tidemill.physical.operator import ends, starts
from tidemill.timeline import OPEN_END


@dataclass(frozen=True)
class Change:
    """New rows, and the numbers that each contributes while it holds."""

    rows: pl.DataFrame
    amounts: Mapping[str, Array]


@dataclass(frozen=True)
class Posted:
    """Where the rows of a change went: the moments of their start and end.

    A moment is a position in `Moments`; an end after the sweep lies behind the key's last moment.
    """

    start: Ints
    end: Ints


@dataclass(frozen=True)
class Moments:
    """The instants at which keys changed, ordered by key and time, with the totals from then on.

    `first` and `last` are the positions of the first and last moment of each key; `before` are
    the totals of each key up to its first moment.
    """

    slots: Ints
    times: Ints
    first: Ints
    last: Ints
    totals: dict[str, Array]
    before: dict[str, Array]
    post: Callable[[], list[Posted]]

    def __len__(self) -> int:
        return len(self.slots)

    @cached_property
    def posted(self) -> list[Posted]:
        """Where the rows went, change by change; most readers do not need it."""
        return self.post()

    def previous(self, name: str) -> Array:
        """The totals just before each moment."""
        shifted = np.empty_like(self.totals[name])
        shifted[1:] = self.totals[name][:-1]
        shifted[self.first] = self.before[name]
        return shifted


class Ledger:
    """Keys with running totals, and the ends that will change them."""

    STATE = ("table", "_calendar", "_totals")

    def __init__(self, empty: pl.DataFrame, keys: Sequence[str], *totals: str) -> None:
        self.table = KeyTable(empty, keys)
        self._calendar = Calendar()
        self._totals = set(totals)
        for name in totals:
            self.table.column(name)

    def advance(self, changes: Sequence[Change], until: int) -> Moments:
        """Post the starts of new rows and all ends before `until`."""
        parts: list[Entries] = []
        for change in changes:
            parts.extend(self._post(change, self.table.find_or_add(change.rows), until))
        parts.append(self._calendar.pop(until))
        events = concat(parts)
        return self._total(events, changes, until)

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
        later = ~soon & (end < OPEN_END)
        self._calendar.push(removed if later.all() else removed.take(np.flatnonzero(later)))
        return [added, removed.take(np.flatnonzero(soon))]

    def _total(self, events: Entries, changes: Sequence[Change], until: int) -> Moments:
        """Add up the events of each key; events of one instant make one moment."""
        order, *in_order = in_slot_order(events.slots, events.times)
        begin, slots, times, first = found_moments(*in_order)
        last = lasts_of(first, len(slots))
        keys = slots[first]
        totals, before = {}, {}
        for name, amounts in events.values.items():
            column = self.table.column(name, np.result_type(amounts.dtype, np.int64))
            before[name] = column[keys]
            totals[name] = added_up(amounts, order, begin, first, before[name])
            column[keys] = totals[name][last]
        self._totals |= events.values.keys()
        for name in self._totals - events.values.keys():
            # No event moved this total, but the readers of the moments still want it.
            before[name] = self.table.columns[name][keys]
            totals[name] = np.repeat(before[name], last - first + 1)

        def post() -> list[Posted]:
            moment_of = np.empty(len(order), dtype=np.int64)
            moment_of[order] = np.repeat(np.arange(len(slots)), np.diff(begin))
            behind = np.repeat(last + 1, last - first + 1)
            return _posted(changes, moment_of, behind, until)

        return Moments(slots, times, first, last, totals, before, post)

    def adopt(self, other: Ledger, own: Callable[[pl.DataFrame], Bools]) -> Ints:
        """Take the keys of another ledger that belong here; the new number of every old slot."""
        moved = self.table.adopt(other.table, own)
        self._calendar.adopt(other._calendar, moved)
        self._totals |= other._totals
        return moved

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
    def next_end(self) -> int:
        """When the next row ends."""
        return self._calendar.next

    @property
    def open_ends(self) -> int:
        return len(self._calendar)

    @property
    def nbytes(self) -> int:
        return self.table.nbytes + self._calendar.nbytes


def _posted(changes: Sequence[Change], moment_of: Ints, behind: Ints, until: int) -> list[Posted]:
    """Moments of rows, from the moments of events in the order in which they were posted."""
    result, offset = [], 0
    for change in changes:
        start = moment_of[offset : offset + change.rows.height]
        offset += len(start)
        # Without an end in this sweep, a row reaches behind the last moment of its key.
        end = behind[start]
        soon = np.flatnonzero(ends(change.rows) < until)
        end[soon] = moment_of[offset : offset + len(soon)]
        offset += len(soon)
        result.append(Posted(start, end))
    return result
