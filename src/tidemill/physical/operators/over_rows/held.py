"""The rows of partitions that have not ended, and since when their values are open."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from tidemill.algebra.schema import Schema
from tidemill.physical.mechanisms.arrays import Ints, distinct
from tidemill.physical.mechanisms.calendar import Calendar, Entries
from tidemill.physical.mechanisms.keys import KeyTable, canonical
from tidemill.physical.mechanisms.rows import RowStore
from tidemill.physical.operator import empty_frame, ends, payload, starts
from tidemill.physical.operators.lookup.lists import Numbers
from tidemill.timeline import OPEN_END

_FEWEST_TO_COMPACT = 1024
_GONE = -1


class HeldRows:
    """Rows by number: the slot of their partition, since when they are open, and their end.

    All rows of a partition that have started are open since the same instant: its last change.
    """

    STATE = ("_table", "_rows", "_slots", "_since", "_ends", "_calendar", "count")

    def __init__(self, schema: Schema, keys: Sequence[str]) -> None:
        self._keys = list(keys)
        self._table = KeyTable(empty_frame(schema.select(keys)), keys)
        self._rows = RowStore(empty_frame(schema))
        self._slots, self._since, self._ends = Numbers(), Numbers(), Numbers()
        self._calendar = Calendar()
        self.count = 0

    def add(self, batch: pl.DataFrame) -> Ints:
        """Keep new rows; their slots."""
        slots = self._table.find_or_add(
            canonical(batch.select(self._keys) if self._keys else batch)
        )
        self._rows.append(payload(batch))
        for numbers, values in (
            (self._slots, slots),
            (self._since, starts(batch)),
            (self._ends, ends(batch)),
        ):
            numbers.append(values)
        known = np.flatnonzero(ends(batch) < OPEN_END)
        self._calendar.push(Entries(ends(batch)[known], slots[known], {}))
        self.count += batch.height
        return slots

    def advance(self, batch: pl.DataFrame, until: int) -> Ints:
        """Keep new rows; the slots of all partitions that change before `until`."""
        slots = self.add(batch) if batch.height else np.empty(0, np.int64)
        return distinct(np.concatenate([slots, self._calendar.pop(until).slots]))

    def of(self, slots: Ints) -> Ints:
        """The numbers of the rows of partitions."""
        if not len(slots):
            return slots
        wanted = np.zeros(len(self._table.live) + 1, dtype=np.bool_)  # the last is that of none
        wanted[slots] = True
        return np.flatnonzero(wanted[self._slots.values])

    @property
    def all(self) -> Ints:
        """The numbers of all rows."""
        return np.flatnonzero(self._slots.values != _GONE)

    def take(self, numbers: Ints) -> tuple[pl.DataFrame, Ints, Ints, Ints]:
        """Rows, with their slots, since when they are open, and their ends."""
        columns = (self._slots.values, self._since.values, self._ends.values)
        slots, since, end = (column[numbers] for column in columns)
        return self._rows.take(numbers), slots, since, end

    def settle(self, numbers: Ints, last: Ints) -> None:
        """Results are complete up to an instant: rows that have ended by then are forgotten."""
        gone = self._ends.values[numbers] <= last
        self._since.values[numbers] = last
        slots = self._slots.values[numbers]
        left = np.bincount(slots[~gone], minlength=int(slots.max()) + 1)
        self._slots.values[numbers[gone]] = _GONE
        self.count -= int(gone.sum())
        touched = distinct(slots)
        self._table.free(touched[left[touched] == 0])

    def compact(self) -> None:
        """Give memory back if most of it is unused."""
        if len(self._rows) >= _FEWEST_TO_COMPACT and self.count * 2 <= len(self._rows):
            kept = self._slots.values != _GONE
            self._rows.keep(kept)
            for name in ("_slots", "_since", "_ends"):
                numbers = Numbers()
                numbers.append(getattr(self, name).values[kept])
                setattr(self, name, numbers)
        moved = self._table.compact()
        if moved is not None:
            self._calendar.renumber(moved)
            slots = self._slots.values
            slots[slots != _GONE] = moved[slots[slots != _GONE]]

    @property
    def next_end(self) -> int:
        """When the next row ends."""
        return self._calendar.next

    @property
    def nbytes(self) -> int:
        parts = (self._table, self._rows, self._slots, self._since, self._ends, self._calendar)
        return sum(part.nbytes for part in parts)
