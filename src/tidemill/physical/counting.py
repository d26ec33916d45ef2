"""Set operations: how many copies of a row hold, from the copies on both sides.

The copies of a key are numbered. Copy n holds while there are at least n copies, so a rise from
2 to 4 copies starts number 3 and 4, and a fall ends the highest numbers first.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from tidemill.algebra.plan import Plan
from tidemill.algebra.schema import Schema
from tidemill.physical.arrays import (
    Array,
    Ints,
    ends_of_runs,
    ranges,
    slot_order,
    stable_order,
    starts_of_runs,
)
from tidemill.physical.keys import canonical
from tidemill.physical.ledger import Change, Ledger, Moments
from tidemill.physical.operator import Exec, Operator, Sweep, empty_frame, with_validity
from tidemill.physical.release import Release

LEFT, RIGHT = "left", "right"


@dataclass(frozen=True)
class CountingExec(Exec):
    """A set operation on copies; `keys` are the columns that tell rows apart."""

    left: Plan
    right: Plan
    keys: tuple[str, ...]
    eager: bool = False

    @cached_property
    def schema(self) -> Schema:
        return self.left.schema

    def details(self) -> str:
        return "" if self.keys == self.schema.names else f"by=[{', '.join(self.keys)}]"

    @staticmethod
    @abstractmethod
    def copies(left: Array, right: Array) -> Array:
        """How many copies hold in the result."""

    def operator(self) -> Operator:
        return _Counting(self)


class _Counting(Sweep):
    def __init__(self, node: CountingExec) -> None:
        super().__init__(node.left.schema, node.right.schema)
        self._node = node
        self._columns = list(node.schema.names)
        self._ledger = Ledger(empty_frame(node.schema), node.keys, LEFT, RIGHT)
        self._ledger.table.column("since")  # of copy number 1
        self._more: dict[tuple[int, int], int] = {}  # since when, of the other copies
        self._release = Release(node.eager)

    def sweep(self, slices: Sequence[pl.DataFrame], until: int) -> pl.DataFrame:
        changes = [
            Change(canonical(batch), {side: np.ones(batch.height, dtype=np.int64)})
            for side, batch in zip((LEFT, RIGHT), slices, strict=True)
        ]
        moments = self._ledger.advance(changes, until)
        pieces = [self._closed(moments)]
        last = moments.last
        empty = (moments.totals[LEFT][last] == 0) & (moments.totals[RIGHT][last] == 0)
        self._ledger.release(moments.slots[last][empty])
        rows = sum(batch.height for batch in slices)
        if self._release.is_due(until, rows, self._ledger.table.live_count + len(self._more)):
            pieces.append(self._cut(until))
        self._compact()
        return pl.concat(pieces)

    def _closed(self, moments: Moments) -> pl.DataFrame:
        """Copies that ended; those that started and did not end are remembered."""
        after = self._node.copies(moments.totals[LEFT], moments.totals[RIGHT])
        before = self._node.copies(moments.previous(LEFT), moments.previous(RIGHT))
        change = after - before
        # One event per copy that starts or ends, ordered by key, number and time.
        count = np.abs(change)
        slots, times = np.repeat(moments.slots, count), np.repeat(moments.times, count)
        number = ranges(np.minimum(before, after) + 1, count)
        starting = np.repeat(change > 0, count)
        order = stable_order(number)
        order = order[slot_order(slots[order])]
        slots, times, number, starting = slots[order], times[order], number[order], starting[order]
        first = starts_of_runs(slots, number)
        last = ends_of_runs(first)
        since = np.roll(times, 1)
        carried = np.flatnonzero(first & ~starting)
        since[carried] = self._take_since(slots[carried], number[carried])
        open_ = np.flatnonzero(last & starting)
        self._put_since(slots[open_], number[open_], times[open_])
        # A copy that was cut at the sweep line may end right there.
        ended = np.flatnonzero(~starting & (since < times))
        return self._batch(slots[ended], since[ended], times[ended])

    def _take_since(self, slots: Ints, numbers: Ints) -> Ints:
        since = self._ledger.table.column("since")[slots]
        for row in np.flatnonzero(numbers > 1).tolist():
            since[row] = self._more.pop((int(slots[row]), int(numbers[row])))
        return since

    def _put_since(self, slots: Ints, numbers: Ints, times: Ints) -> None:
        ones = numbers == 1
        self._ledger.table.column("since")[slots[ones]] = times[ones]
        for row in np.flatnonzero(~ones).tolist():
            self._more[int(slots[row]), int(numbers[row])] = int(times[row])

    def _cut(self, until: int) -> pl.DataFrame:
        """The copies that hold, so far; they go on from here."""
        table = self._ledger.table
        left, right = (table.column(side)[: len(table.live)] for side in (LEFT, RIGHT))
        slots = np.flatnonzero(table.live & (self._node.copies(left, right) > 0))
        since = table.column("since")
        others = np.array([slot for slot, _ in self._more], dtype=np.int64)
        others_since = np.fromiter(self._more.values(), dtype=np.int64, count=len(self._more))
        all_slots = np.concatenate([slots, others])
        all_since = np.concatenate([since[slots], others_since])
        since[slots] = until
        self._more = dict.fromkeys(self._more, until)
        begun = np.flatnonzero(all_since < until)
        return self._batch(all_slots[begun], all_since[begun], np.full(len(begun), until))

    def _batch(self, slots: Ints, since: Ints, times: Ints) -> pl.DataFrame:
        rows = self._ledger.table.rows(slots).select(self._columns)
        return with_validity(rows, since, times)

    def _compact(self) -> None:
        moved = self._ledger.compact()
        if moved is not None:
            self._more = {(int(moved[s]), n): since for (s, n), since in self._more.items()}

    def output_watermark(self, until: int) -> int:
        return self._release.watermark

    @property
    def state_rows(self) -> int:
        return self._ledger.open_ends + self._ledger.table.live_count + self.waiting_rows

    @property
    def state_bytes(self) -> int:
        more = len(self._more) * 200  # a dictionary entry with a pair and two numbers
        return self._ledger.nbytes + more + self.waiting_bytes
