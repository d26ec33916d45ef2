"""Coalesce: merge equal rows whose validities touch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from tidemill.physical.facts import Columns, PacedBy, Partitioning, RowValidity
from tidemill.physical.mechanisms.keys import KeyTable, canonical
from tidemill.physical.mechanisms.ordering import slot_order, stable_order
from tidemill.physical.mechanisms.touching import Pieces, joined
from tidemill.physical.operator import (
    InstantExec,
    Operator,
    OverExec,
    Own,
    SameMeaningExec,
    Sweep,
    empty_frame,
    ends,
    payload,
    starts,
    with_validity,
)
from tidemill.timeline import OPEN_END


@dataclass(frozen=True)
class CoalesceExec(SameMeaningExec, OverExec, InstantExec):
    """Merge rows that follow each other without a gap, as long as the first is shorter than
    `max_length` (None: always)."""

    max_length: int | None = None

    paced_by = PacedBy.ALL

    def details(self) -> str:
        return "" if self.max_length is None else f"max_length={self.max_length}"

    @cached_property
    def validity(self) -> RowValidity:
        now = self.max_length == 1 and self.child.validity.chronon
        return RowValidity(now, coalesced=self.max_length is None)

    @property
    def together(self) -> Columns | Partitioning:
        return self.schema.names

    def operator(self) -> Operator:
        return _Coalesce(self)


class _Coalesce(Sweep):
    """A row waits with its value and end for one that starts there; it is done when the
    watermark passes its end, or when it is long enough.
    """

    STATE = ("_values", "_growing", "_watermark")

    def __init__(self, node: CoalesceExec) -> None:
        super().__init__(node.schema)
        self._longest = OPEN_END if node.max_length is None else node.max_length
        self._values = KeyTable(empty_frame(node.schema), node.schema.names)
        self._growing = Pieces.blank(0)
        self._watermark = 0

    def sweep(self, slices: Sequence[pl.DataFrame], until: int) -> pl.DataFrame:
        done, self._growing = joined(self._growing, self._rows(slices[0]), until, self._longest)
        self._watermark = min(until, int(self._growing.begins.min(initial=until)))
        result = with_validity(self._values.rows(done.slots), done.begins, done.ends)
        self._forget()
        return result

    def _rows(self, batch: pl.DataFrame) -> Pieces:
        """Rows by value, start and end."""
        if not batch.height:
            return Pieces.blank(0)
        slots = self._values.find_or_add(payload(canonical(batch)))
        rows = Pieces(slots, starts(batch), ends(batch))
        by_end = rows.take(stable_order(rows.ends))
        return by_end.take(slot_order(by_end.slots, by_end.begins))

    def _forget(self) -> None:
        """Free the values that no row waits under."""
        used = np.zeros(len(self._values.live), dtype=np.bool_)
        used[self._growing.slots] = True
        self._values.free(np.flatnonzero(self._values.live & ~used))
        moved = self._values.compact()
        if moved is not None:
            self._growing = self._growing._replace(slots=moved[self._growing.slots])

    def share(self, others: Sequence[Any], own: Sequence[Sequence[Own]]) -> None:
        super().share(others, own)
        parts = [self._growing]
        for other, (mine,) in zip(others, own, strict=True):
            moved = self._values.adopt(other._values, mine)
            growing = other._growing._replace(slots=moved[other._growing.slots])
            parts.append(growing.take(np.flatnonzero(growing.slots >= 0)))
        rows = Pieces(*map(np.concatenate, zip(*parts, strict=True)))
        self._growing = rows.take(slot_order(rows.slots, rows.ends))
        self._watermark = min(other._watermark for other in others)

    def output_watermark(self, until: int) -> int:
        return self._watermark

    @property
    def state_rows(self) -> int:
        return len(self._growing.slots) + self.waiting_rows

    @property
    def state_bytes(self) -> int:
        growing = sum(column.nbytes for column in self._growing)
        return self._values.nbytes + growing + self.waiting_bytes
