"""Session windows: rows hold as long as their session goes on.

A session of a partition ends when no row has come for the gap. Only then the end of its rows is
known; before, they are stored, and cut at the sweep line if operators above wait for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from tidemill.algebra.nodes import SessionWindow
from tidemill.algebra.plan import Plan
from tidemill.physical.facts import NEVER, Columns, PacedBy, Partitioning, RowValidity
from tidemill.physical.mechanisms.arrays import Bools, Ints, ranges, starts_of_runs
from tidemill.physical.mechanisms.calendar import Calendar, Entries
from tidemill.physical.mechanisms.keys import KeyTable, canonical
from tidemill.physical.mechanisms.release import OpenSweep
from tidemill.physical.operator import (
    Operator,
    OverExec,
    Own,
    empty_batch,
    empty_frame,
    payload,
    starts,
    with_validity,
)
from tidemill.timeline import OPEN_END, add_all

_SESSION, _NUMBER = "#session", "#number"


@dataclass(frozen=True)
class SessionWindowExec(OverExec):
    """Let rows hold until no row of their partition has come for `gap` instants."""

    gap: int
    partition_by: tuple[str, ...]
    eager: bool = False

    paced_by = PacedBy.OWN

    def details(self) -> str:
        return SessionWindow(self.child, self.gap, self.partition_by).details()

    @cached_property
    def validity(self) -> RowValidity:
        return RowValidity(end_order=not self.partition_by)

    @property
    def together(self) -> Columns | Partitioning:
        return self.partition_by

    def meaning(self, inputs: Sequence[Plan]) -> Plan:
        return SessionWindow(inputs[0], self.gap, self.partition_by)

    def rows_at_once(self, inputs: Sequence[float]) -> float:
        return inputs[0] * self.gap

    def through(self, missed: int) -> int:
        return NEVER  # a session may go on for ever

    def operator(self) -> Operator:
        return _SessionWindow(self)


@dataclass(frozen=True)
class _Segments:
    """New rows by session, in order of partition and time: first row, partition and so on."""

    first: Ints
    count: Ints
    slot: Ints
    end: Ints  # when the session ends, as far as is known
    goes_on: Bools  # whether it is the session that the partition had before
    is_last: Bools  # whether no later session of the partition is here


class _SessionWindow(OpenSweep):
    STATE = ("_partitions", "_stored", "_ends", "_sessions")

    def __init__(self, node: SessionWindowExec) -> None:
        super().__init__(node.schema, eager=node.eager)
        self._schema, self._gap, self._by = node.schema, node.gap, list(node.partition_by)
        # Of every partition that has a session: its number, its rows, when it ends for now.
        self._partitions = KeyTable(empty_frame(node.schema.select(self._by)), self._by)
        numbers = pl.DataFrame(schema={_SESSION: pl.Int64, _NUMBER: pl.Int64})
        stored = pl.concat([numbers, empty_frame(node.schema)], how="horizontal")
        self._stored = KeyTable(stored, [_SESSION, _NUMBER])
        self._ends = Calendar()
        self._sessions = 0  # how many there were

    def sweep(self, slices: Sequence[pl.DataFrame], until: int) -> pl.DataFrame:
        pieces = [empty_batch(self._schema)]
        if slices[0].height:
            pieces += self._take(slices[0])
        pieces.append(self._expire(until))
        if self._release.is_due(until, slices[0].height, self._stored.live_count):
            pieces.append(self._cut(until))
        self._stored.compact()
        if (moved := self._partitions.compact()) is not None:
            self._ends.renumber(moved)
        return pl.concat(pieces)

    def _take(self, batch: pl.DataFrame) -> list[pl.DataFrame]:
        """Give new rows to their sessions; back come the rows of sessions that have ended."""
        keys = canonical(batch.select(self._by)) if self._by else batch
        slots = self._partitions.find_or_add(keys)
        order = np.lexsort((starts(batch), slots))
        batch, slots = batch[order], slots[order]
        found = self._segments(slots, starts(batch))
        had = starts_of_runs(found.slot) & (self._count[found.slot] > 0)
        old = np.flatnonzero(had & ~(found.goes_on & found.is_last))
        ends = np.where(found.goes_on[old], found.end[old], self._end[found.slot[old]])
        closed = self._close(found.slot[old], ends)
        return [closed, *self._keep(batch, found)]

    def _segments(self, slots: Ints, times: Ints) -> _Segments:
        new = starts_of_runs(slots)
        ends = add_all(times, self._gap)
        before = np.where(new, self._end[slots], np.concatenate([[0], ends[:-1]]))
        goes_on = times < before
        first = np.flatnonzero(new | ~goes_on)
        last = np.append(first[1:], len(slots)) - 1
        is_last = np.append(new[first[1:]], True)
        count = last + 1 - first
        return _Segments(first, count, slots[first], ends[last], goes_on[first], is_last)

    def _keep(self, batch: pl.DataFrame, found: _Segments) -> list[pl.DataFrame]:
        """Store the rows of sessions that may go on; the others are complete."""
        segment = np.repeat(np.arange(len(found.first)), found.count)
        done = np.flatnonzero(~found.is_last[segment])
        complete = with_validity(
            payload(batch[done]), starts(batch)[done], found.end[segment[done]]
        )
        self._begin(found)
        position = np.arange(len(segment)) - found.first[segment] + 1
        before = np.where(found.goes_on, self._count[found.slot], 0)
        kept = np.flatnonzero(found.is_last[segment])
        self._store(batch[kept], found.slot[segment[kept]], (position + before[segment])[kept])
        last = np.flatnonzero(found.is_last)
        slot, end = found.slot[last], found.end[last]
        self._count[slot] = before[last] + found.count[last]
        self._end[slot] = end
        self._ends.push(Entries(end, slot, {}))
        return [complete]

    def _begin(self, found: _Segments) -> None:
        new = found.slot[found.is_last & ~found.goes_on]
        self._session[new] = self._sessions + np.arange(len(new))
        self._sessions += len(new)

    def _store(self, batch: pl.DataFrame, slot: Ints, number: Ints) -> None:
        numbers = pl.DataFrame({_SESSION: self._session[slot], _NUMBER: number})
        rows = pl.concat([numbers, payload(batch)], how="horizontal")
        slots = self._stored.find_or_add(rows)
        self._stored.column("since")[slots] = starts(batch)

    def _expire(self, until: int) -> pl.DataFrame:
        """End the sessions whose gap has passed."""
        due = self._ends.pop(min(until, OPEN_END - 1) + 1)
        known = due.slots >= 0
        slot, end = due.slots[known], due.times[known]
        # Later rows may have moved the end since; a session is there once.
        over = (self._end[slot] == end) & (self._count[slot] > 0)
        slot, first = np.unique(slot[over], return_index=True)
        closed = self._close(slot, end[over][first])
        self._partitions.free(slot)
        return closed

    def _close(self, slot: Ints, end: Ints) -> pl.DataFrame:
        """The stored rows of sessions that have ended."""
        count = self._count[slot]
        which = np.repeat(np.arange(len(slot)), count)
        numbers = ranges(np.ones(len(slot), np.int64), count)
        keys = pl.DataFrame({_SESSION: self._session[slot][which], _NUMBER: numbers})
        rows = self._stored.find(keys)
        batch = self._batch(rows, end[which])
        self._stored.free(rows)
        self._count[slot] = 0
        return batch

    def _cut(self, until: int) -> pl.DataFrame:
        """The rows of all sessions, up to here; they continue here (not after the open end)."""
        live = np.flatnonzero(self._stored.live)
        batch = self._batch(live, np.full(len(live), until))
        if until == OPEN_END:
            self._stored.free(live)
        else:
            since = self._stored.column("since")
            since[live] = np.maximum(since[live], until)
        return batch

    def _batch(self, slots: Ints, end: Ints) -> pl.DataFrame:
        start = self._stored.column("since")[slots]
        kept = np.flatnonzero(start < end)
        rows = self._stored.rows(slots[kept]).select(self._schema.names)
        return with_validity(rows, start[kept], end[kept])

    @property
    def _session(self) -> Ints:
        return self._partitions.column("session")

    @property
    def _count(self) -> Ints:
        return self._partitions.column("count")

    @property
    def _end(self) -> Ints:
        return self._partitions.column("end")

    def share(self, others: Sequence[Any], own: Sequence[Sequence[Own]]) -> None:
        super().share(others, own)
        for other, (mine,) in zip(others, own, strict=True):
            moved = self._partitions.adopt(other._partitions, mine)
            self._ends.adopt(other._ends, moved)
            self._adopt(other, moved)

    def _adopt(self, other: _SessionWindow, moved: Ints) -> None:
        """Take the stored rows of partitions that have moved here, under other numbers."""
        there = np.flatnonzero(moved >= 0)
        there = there[np.argsort(other._session[there])]
        sessions = np.append(other._session[there], -1)
        slots = np.flatnonzero(other._stored.live)
        rows = other._stored.rows(slots)
        wanted = rows[_SESSION].to_numpy()
        place = np.searchsorted(sessions[:-1], wanted)
        own = np.flatnonzero(sessions[place] == wanted)
        renamed = pl.Series(_SESSION, self._sessions + place[own], pl.Int64)
        found = self._stored.find_or_add(rows[own].with_columns(renamed))
        self._stored.column("since")[found] = other._stored.column("since")[slots[own]]
        self._session[moved[there]] = self._sessions + np.arange(len(there))
        self._sessions += len(there)

    @property
    def next_change(self) -> int:
        return self._ends.next - 1  # rows are complete as soon as the watermark is at their end

    @property
    def state_rows(self) -> int:
        return self._stored.live_count + self._partitions.live_count + self.waiting_rows

    @property
    def state_bytes(self) -> int:
        own = self._stored.nbytes + self._partitions.nbytes + self._ends.nbytes
        return own + self.waiting_bytes
