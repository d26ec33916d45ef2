"""Count windows: the last rows, of all or of each partition.

Row number i of a partition enters with the first slide that takes it in and leaves with the
first slide that lets it go. A slide happens with every row whose number is a multiple of the
advance, and takes place at the time of that row. Every row keeps the size that was in force when
it came.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import polars as pl

from tidemill.algebra.nodes import CountWindow
from tidemill.algebra.plan import Plan
from tidemill.physical.adjusting import AdjustableExec, sizes_at
from tidemill.physical.facts import NEVER, UNKNOWN_ROWS, Columns, PacedBy, Partitioning, RowValidity
from tidemill.physical.mechanisms.arrays import Ints, ranges, starts_of_runs
from tidemill.physical.mechanisms.keys import KeyTable, canonical
from tidemill.physical.mechanisms.ordering import slot_order
from tidemill.physical.mechanisms.release import OpenSweep
from tidemill.physical.operator import (
    Exec,
    Operator,
    Own,
    empty_frame,
    payload,
    starts,
    with_validity,
)
from tidemill.timeline import OPEN_END, VALID_FROM

_PARTITION, _NUMBER = "#partition", "#number"


@dataclass(frozen=True)
class CountWindowExec(AdjustableExec):
    """Let the last `rows` rows of each partition hold, moving every `slide` rows."""

    SIZE: ClassVar = "rows"

    rows: int | None
    slide: int
    partition_by: tuple[str, ...]
    eager: int = 0

    paced_by = PacedBy.OWN

    def details(self) -> str:
        window = CountWindow(
            self.child,
            self.rows,
            self.slide,
            self.partition_by,
            changes=self.changes,
            knob=self.knob,
        )
        return window.details()

    @cached_property
    def validity(self) -> RowValidity:
        ordered = not self.partition_by and self.is_fixed
        return RowValidity(False, ordered, coalesced=self.rows is None)

    @property
    def together(self) -> Columns | Partitioning:
        return self.partition_by

    def meaning(self, inputs: Sequence[Plan]) -> Plan:
        adjusting: dict[str, Any] = {"bounds": self.bounds, "changes": self.changes}
        return CountWindow(inputs[0], self.rows, self.slide, self.partition_by, **adjusting)

    def rows_at_once(self, inputs: Sequence[float]) -> float:
        # Nothing is known about the number of groups; as a rule it is not that of rows.
        return (self.rows or OPEN_END) * (UNKNOWN_ROWS if self.partition_by else 1)

    def through(self, missed: int) -> int:
        return NEVER  # which rows are kept depends on all rows before

    def operator(self) -> Operator:
        return _CountWindow(self)


class _CountWindow(OpenSweep):
    STATE = ("_partitions", "_stored", "_kept")

    def __init__(self, node: CountWindowExec) -> None:
        super().__init__(node.schema, eager=node.eager)
        self._node = node
        self._columns = list(node.schema.names)
        by = list(node.partition_by)
        self._partitions = KeyTable(empty_frame(node.schema.select(by)), by)
        numbers = pl.DataFrame(schema={_PARTITION: pl.Int64, _NUMBER: pl.Int64})
        stored = pl.concat([numbers, empty_frame(node.schema)], how="horizontal")
        self._stored = KeyTable(stored, [_PARTITION, _NUMBER])
        self._kept: Counter[int] = Counter()  # stored rows by their size, if sizes differ

    def take_over(self, node: Exec) -> None:
        assert isinstance(node, CountWindowExec)
        super().take_over(node)
        self._node = node

    def sweep(self, slices: Sequence[pl.DataFrame], until: int) -> pl.DataFrame:
        pieces = [self._slide(slices[0])] if slices[0].height else [slices[0]]
        if self._release.is_due(until, slices[0].height, self._stored.live_count):
            pieces.append(self._cut(until))
        self._stored.compact()
        return pl.concat(pieces)

    def _slide(self, batch: pl.DataFrame) -> pl.DataFrame:
        """Number the rows, let them enter, and return those that left."""
        partition, number, batch = self._numbered(batch)
        numbers = pl.DataFrame({_PARTITION: partition, _NUMBER: number})
        rows = pl.concat([numbers, payload(batch)], how="horizontal")
        slots = self._stored.find_or_add(rows)
        self._give_sizes(slots, starts(batch))
        sliding = np.flatnonzero(number % self._node.slide == 0)
        partition, number, time = partition[sliding], number[sliding], starts(batch)[sliding]
        self._enter(partition, number, time)
        return self._leave(partition, number, time)

    def _numbered(self, batch: pl.DataFrame) -> tuple[Ints, Ints, pl.DataFrame]:
        """Rows by partition, time and value, with their numbers in the partition."""
        slots = self._partitions.find_or_add(
            canonical(batch.select(self._node.partition_by)) if self._node.partition_by else batch
        )
        order = self._order(batch)
        order = order[slot_order(slots[order])]
        slots = slots[order]
        first = starts_of_runs(slots)
        seen = self._partitions.column("seen")
        position = np.arange(len(slots)) - np.flatnonzero(first)[np.cumsum(first) - 1]
        number = seen[slots] + position + 1
        seen[slots] = number  # the last, largest number of every partition stays
        return slots, number, batch[order]

    def _order(self, batch: pl.DataFrame) -> Ints:
        """By time; rows of one instant by their values."""
        by = [pl.col(VALID_FROM), *(pl.col(name) for name in self._columns)]
        return (
            batch.select(pl.arg_sort_by(by, nulls_last=False))
            .to_series()
            .to_numpy()
            .astype(np.int64)
        )

    def _give_sizes(self, slots: Ints, times: Ints) -> None:
        if self._node.rows is None or not self._node.is_adjusted:
            return
        sizes = sizes_at(times, self._node.rows, self._node.changes)
        self._stored.column("size")[slots] = sizes
        self._kept.update(_counted(sizes))

    def _enter(self, partition: Ints, number: Ints, time: Ints) -> None:
        """A slide takes in as many rows as it moves; beyond the window they leave at once."""
        entering, slide = self._rows_before(partition, number, self._node.slide, 0)
        since = self._stored.column("since")
        since[entering] = time[slide] + 1  # 0 is kept for rows that have not entered

    def _leave(self, partition: Ints, number: Ints, time: Ints) -> pl.DataFrame:
        if self._node.rows is None:
            return self._cut(OPEN_END)
        if not self._node.is_adjusted:
            found = [self._rows_before(partition, number, self._node.slide, self._node.rows)]
        else:
            found = [self._of_size(size, partition, number) for size in list(self._kept)]
        leaving, slide = (np.concatenate(parts) for parts in zip(*found, strict=True))
        batch = self._batch(leaving, time[slide])
        self._stored.free(leaving)
        return batch

    def _of_size(self, size: int, partition: Ints, number: Ints) -> tuple[Ints, Ints]:
        """Stored rows of a size that leave with each slide."""
        found, slide = self._rows_before(partition, number, self._node.slide, size)
        own = self._stored.column("size")[found] == size
        self._kept -= Counter({size: int(own.sum())})
        return found[own], slide[own]

    def _rows_before(
        self, partition: Ints, number: Ints, count: int, distance: int
    ) -> tuple[Ints, Ints]:
        """Stored rows with the `count` numbers that end `distance` before each slide."""
        slide = np.repeat(np.arange(len(number)), count)
        wanted = ranges(number - distance - count + 1, np.full(len(number), count))
        keys = pl.DataFrame({_PARTITION: partition[slide], _NUMBER: wanted})
        found = self._stored.find(keys)
        known = found >= 0
        return found[known], slide[known]

    def _cut(self, until: int) -> pl.DataFrame:
        """The rows in the window, up to here; they continue here (not after the open end)."""
        since = self._stored.column("since")
        live = np.flatnonzero(self._stored.live)
        inside = live[since[live] > 0]
        batch = self._batch(inside, np.full(len(inside), until))
        if until == OPEN_END:
            self._stored.free(inside)
        else:
            since[inside] = np.maximum(since[inside], until + 1)
        return batch

    def _batch(self, slots: Ints, end: Ints) -> pl.DataFrame:
        """The validity of stored rows that entered; none for rows that only passed by."""
        start = self._stored.column("since")[slots] - 1
        kept = np.flatnonzero((start >= 0) & (start < end))
        rows = self._stored.rows(slots[kept]).select(self._columns)
        return with_validity(rows, start[kept], end[kept])

    def share(self, others: Sequence[Any], own: Sequence[Sequence[Own]]) -> None:
        super().share(others, own)
        for other, (mine,) in zip(others, own, strict=True):
            self._adopt(other, self._partitions.adopt(other._partitions, mine))

    def _adopt(self, other: _CountWindow, moved: Ints) -> None:
        """Take the stored rows of partitions that have moved here."""
        slots = np.flatnonzero(other._stored.live)
        rows = other._stored.rows(slots)
        partition = moved[rows[_PARTITION].to_numpy()]
        slots, here = slots[partition >= 0], partition[partition >= 0]
        rows = rows.filter(partition >= 0).with_columns(pl.Series(_PARTITION, here, pl.Int64))
        there = self._stored.find_or_add(rows)
        for name, values in other._stored.columns.items():
            self._stored.column(name, values.dtype)[there] = values[slots]
        if self._node.is_adjusted and "size" in other._stored.columns:
            self._kept.update(_counted(other._stored.columns["size"][slots]))

    def output_watermark(self, until: int) -> int:
        # Rows of an unbounded window are passed on at once.
        return until if self._node.rows is None else self._release.watermark

    @property
    def next_change(self) -> int:
        return OPEN_END

    @property
    def state_rows(self) -> int:
        return self._stored.live_count + self._partitions.live_count + self.waiting_rows

    @property
    def state_bytes(self) -> int:
        return self._stored.nbytes + self._partitions.nbytes + self.waiting_bytes


def _counted(values: Ints) -> dict[int, int]:
    found, counts = np.unique(values, return_counts=True)
    return dict(zip(found.tolist(), counts.tolist(), strict=True))
