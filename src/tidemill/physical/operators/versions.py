"""Versions: the changes of a relation as rows whose ends are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from tidemill.physical.facts import PacedBy, Partitioning, RowValidity
from tidemill.physical.mechanisms.arrays import Ints
from tidemill.physical.mechanisms.calendar import Calendar, Entries
from tidemill.physical.mechanisms.keys import KeyTable
from tidemill.physical.mechanisms.release import OpenSweep
from tidemill.physical.operator import (
    Operator,
    OverExec,
    Own,
    SameMeaningExec,
    empty_frame,
    ends,
    payload,
    starts,
    with_validity,
)
from tidemill.timeline import OPEN_END


@dataclass(frozen=True)
class VersionsExec(SameMeaningExec, OverExec):
    """Rows that were inserted hold until they are deleted, which a later row tells.

    Both have the same `version`; the row that tells starts and ends where the other one ends.
    """

    version: str
    eager: int = 0

    together = Partitioning.OWN
    paced_by = PacedBy.OWN

    def details(self) -> str:
        return f"by={self.version}"

    @cached_property
    def validity(self) -> RowValidity:
        return RowValidity(self.child.validity.chronon)

    def operator(self) -> Operator:
        return _Versions(self)


class _Versions(OpenSweep):
    """Every version has one entry in the calendar once its end is known.

    If it ends earlier than it was to, it waits for that entry, but holds no longer than it does.
    """

    STATE = ("_table", "_calendar")

    def __init__(self, node: VersionsExec) -> None:
        super().__init__(node.schema, eager=node.eager)
        self._version = node.version
        self._table = KeyTable(empty_frame(node.schema), (node.version,))
        self._columns = list(node.schema.names)
        self._calendar = Calendar()

    def sweep(self, slices: Sequence[pl.DataFrame], until: int) -> pl.DataFrame:
        (batch,) = slices
        closing = starts(batch) == ends(batch)
        self._insert(batch.filter(~closing))
        self._close(batch.filter(closing))
        pieces = [self._ended(until)]
        if self._release.is_due(until, batch.height, self._table.live_count):
            pieces.append(self._cut(np.flatnonzero(self._table.live), until))
        self._compact()
        return pl.concat(pieces)

    def _insert(self, batch: pl.DataFrame) -> None:
        slots = self._table.find_or_add(payload(batch))
        self._table.column("since")[slots] = starts(batch)
        self._table.column("end")[slots] = ends(batch)
        self._expect(slots, ends(batch))

    def _close(self, batch: pl.DataFrame) -> None:
        slots = self._table.find(batch)
        slots, at = slots[slots >= 0], ends(batch)[slots >= 0]
        end = self._table.column("end")
        is_open = end[slots] == OPEN_END
        end[slots] = np.minimum(end[slots], at)
        self._expect(slots[is_open], at[is_open])

    def _expect(self, slots: Ints, end: Ints) -> None:
        known = np.flatnonzero(end < OPEN_END)
        self._calendar.push(Entries(end[known], slots[known], {}))

    def _ended(self, until: int) -> pl.DataFrame:
        """What is left of the versions that have ended; they are forgotten."""
        slots = self._calendar.pop(until).slots
        rows = self._cut(slots, until)
        self._table.free(slots)
        return rows

    def _cut(self, slots: Ints, until: int) -> pl.DataFrame:
        """Open versions, up to here, as far as they were not given yet; they continue from here."""
        since, end = self._table.column("since"), self._table.column("end")
        begin, stop = since[slots], np.minimum(end[slots], until)
        since[slots] = stop
        new = begin < stop
        rows = self._table.rows(slots[new]).select(self._columns)
        return with_validity(rows, begin[new], stop[new])

    def _compact(self) -> None:
        moved = self._table.compact()
        if moved is not None:
            self._calendar.renumber(moved)

    def share(self, others: Sequence[Any], own: Sequence[Sequence[Own]]) -> None:
        super().share(others, own)
        for other, (mine,) in zip(others, own, strict=True):
            self._calendar.adopt(other._calendar, self._table.adopt(other._table, mine))

    @property
    def next_change(self) -> int:
        return self._calendar.next

    @property
    def state_rows(self) -> int:
        return self._table.live_count + self.waiting_rows

    @property
    def state_bytes(self) -> int:
        return self._table.nbytes + self._calendar.nbytes + self.waiting_bytes
