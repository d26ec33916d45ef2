"""Coalesce: merge equal rows whose validities touch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from tidemill.algebra.plan import Plan
from tidemill.algebra.schema import Schema
from tidemill.physical.keys import KeyTable, canonical
from tidemill.physical.operator import (
    Exec,
    Operator,
    Sweep,
    empty_frame,
    ends,
    payload,
    starts,
    with_validity,
)
from tidemill.timeline import OPEN_END


@dataclass(frozen=True)
class CoalesceExec(Exec):
    """Merge rows that follow each other without a gap, as long as the first is shorter than
    `max_length` (None: always)."""

    child: Plan
    max_length: int | None = None

    @cached_property
    def schema(self) -> Schema:
        return self.child.schema

    def details(self) -> str:
        return "" if self.max_length is None else f"max_length={self.max_length}"

    def operator(self) -> Operator:
        return _Coalesce(self)


class _Coalesce(Sweep):
    """Rows are taken in the order of their starts. A row waits under its value and end for one
    that starts there; it is done when the watermark passes its end, or when it is long enough.
    """

    def __init__(self, node: CoalesceExec) -> None:
        super().__init__(node.schema)
        self._longest = OPEN_END if node.max_length is None else node.max_length
        self._values = KeyTable(empty_frame(node.schema), node.schema.names)
        self._growing: dict[tuple[int, int], list[int]] = {}
        self._watermark = 0

    def sweep(self, slices: Sequence[pl.DataFrame], until: int) -> pl.DataFrame:
        batch = canonical(slices[0])
        done: list[tuple[int, int, int]] = []
        slots = self._values.find_or_add(payload(batch)) if batch.height else np.empty(0, np.int64)
        start, end = starts(batch), ends(batch)
        order = np.lexsort((end, slots, start))
        rows = zip(slots[order].tolist(), start[order].tolist(), end[order].tolist(), strict=True)
        for slot, begin, stop in rows:
            self._take(slot, begin, stop, done)
        self._finish(until, done)
        result = self._batch(done)
        self._forget()
        return result

    def _take(self, slot: int, begin: int, stop: int, done: list[tuple[int, int, int]]) -> None:
        waiting = self._growing.get((slot, begin))
        if waiting:
            touching = begin
            begin = waiting.pop(0)
            if not waiting:
                del self._growing[slot, touching]
        if stop - begin >= self._longest or stop == OPEN_END:
            done.append((slot, begin, stop))
        else:
            self._growing.setdefault((slot, stop), []).append(begin)

    def _finish(self, until: int, done: list[tuple[int, int, int]]) -> None:
        """Rows that nothing can follow any more are done."""
        ended = [key for key in self._growing if key[1] < until]
        for slot, stop in ended:
            done.extend((slot, begin, stop) for begin in self._growing.pop((slot, stop)))
        oldest = min((begins[0] for begins in self._growing.values()), default=until)
        self._watermark = min(oldest, until)

    def _batch(self, done: list[tuple[int, int, int]]) -> pl.DataFrame:
        slot, begin, stop = np.array(done, dtype=np.int64).reshape(-1, 3).T
        return with_validity(self._values.rows(slot), begin, stop)

    def _forget(self) -> None:
        """Free the values that no row waits under."""
        used = np.zeros(len(self._values.live), dtype=np.bool_)
        used[[slot for slot, _ in self._growing]] = True
        self._values.free(np.flatnonzero(self._values.live & ~used))
        moved = self._values.compact()
        if moved is not None:
            self._growing = {(int(moved[s]), e): b for (s, e), b in self._growing.items()}

    def output_watermark(self, until: int) -> int:
        return self._watermark

    @property
    def state_rows(self) -> int:
        return sum(map(len, self._growing.values())) + self.waiting_rows

    @property
    def state_bytes(self) -> int:
        return self._values.nbytes + len(self._growing) * 200 + self.waiting_bytes
