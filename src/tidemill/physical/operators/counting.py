"""Set operations: how many copies of a row hold, from the copies on both sides.

The copies of a key are numbered. Copy n holds while there are at least n copies, so a rise from
2 to 4 copies starts number 3 and 4, and a fall ends the highest numbers first.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import polars as pl

from tidemill.algebra.plan import Plan
from tidemill.algebra.schema import Schema
from tidemill.algebra.sets import SetOperation, Sides
from tidemill.physical.facts import SOME_COLUMNS, Columns, PacedBy, Partitioning, RowValidity
from tidemill.physical.mechanisms.arrays import Array, Ints, ends_of_runs, ranges, starts_of_runs
from tidemill.physical.mechanisms.hash_index import HashIndex
from tidemill.physical.mechanisms.keys import canonical
from tidemill.physical.mechanisms.ledger import Change, Ledger, Moments
from tidemill.physical.mechanisms.ordering import slot_order
from tidemill.physical.mechanisms.release import OpenSweep
from tidemill.physical.operator import Exec, Operator, Own, empty_frame, with_validity

LEFT, RIGHT = "left", "right"


@dataclass(frozen=True)
class CountingExec(Exec):
    """A set operation on copies; `keys` are the columns that tell rows apart."""

    LOGICAL: ClassVar[type[SetOperation]]
    """What it means, whose facts tell the rest."""

    left: Exec
    right: Exec
    keys: tuple[str, ...]
    eager: int = 0

    paced_by = PacedBy.OWN

    @cached_property
    def schema(self) -> Schema:
        return self.left.schema

    def details(self) -> str:
        return "" if self.keys == self.schema.names else f"by=[{', '.join(self.keys)}]"

    @staticmethod
    @abstractmethod
    def copies(left: Array, right: Array) -> Array:
        """How many copies hold in the result."""

    @cached_property
    def validity(self) -> RowValidity:
        left, right = self.left.validity.chronon, self.right.validity.chronon
        match self.LOGICAL.facts.sides:
            case Sides.EITHER:
                return RowValidity(left and right)
            case Sides.BOTH:
                return RowValidity(left or right)
            case Sides.LEFT:
                return RowValidity(left)

    @property
    def together(self) -> Columns | Partitioning:
        return self.keys

    @property
    def instant_by_instant(self) -> bool:  # type: ignore[override]
        # What goes by the numbers of rows, as an anti-join does, keeps the rest of a row under its
        # number; in another plan, another row has that number.
        return self.keys == self.schema.names

    def meaning(self, inputs: Sequence[Plan]) -> Plan:
        return self.LOGICAL(*inputs)

    @property
    def unsaid(self) -> str | None:
        return None if set(self.keys) == set(self.schema.names) else SOME_COLUMNS

    def rows_at_once(self, inputs: Sequence[float]) -> float:
        match self.LOGICAL.facts.sides:
            case Sides.EITHER:
                return sum(inputs)
            case Sides.BOTH:
                return min(inputs)
            case Sides.LEFT:
                return inputs[0]

    def through(self, missed: int) -> int:
        return missed

    def operator(self) -> Operator:
        return _Counting(self)


def counting(logical: type[SetOperation]) -> type[CountingExec]:
    """The operator of a set operation."""
    return next(kind for kind in CountingExec.__subclasses__() if kind.LOGICAL is logical)


class _Counting(OpenSweep):
    STATE = ("_ledger", "_more")

    def __init__(self, node: CountingExec) -> None:
        super().__init__(node.left.schema, node.right.schema, eager=node.eager)
        self._node = node
        self._columns = list(node.schema.names)
        self._ledger = Ledger(empty_frame(node.schema), node.keys, LEFT, RIGHT)
        self._ledger.table.column("since")  # of copy number 1
        self._more = _Copies()  # since when, of the other copies

    def sweep(self, slices: Sequence[pl.DataFrame], until: int) -> pl.DataFrame:
        changes = [
            Change(canonical(batch), {side: np.ones(batch.height, dtype=np.int8)})
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
        order = slot_order(slots, number)
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
        more = np.flatnonzero(numbers > 1)
        since[more] = self._more.take(slots[more], numbers[more])
        return since

    def _put_since(self, slots: Ints, numbers: Ints, times: Ints) -> None:
        ones, more = np.flatnonzero(numbers == 1), np.flatnonzero(numbers > 1)
        self._ledger.table.column("since")[slots[ones]] = times[ones]
        self._more.put(slots[more], numbers[more], times[more])

    def _cut(self, until: int) -> pl.DataFrame:
        """The copies that hold, up to here; they continue from here."""
        table = self._ledger.table
        left, right = (table.column(side)[: len(table.live)] for side in (LEFT, RIGHT))
        slots = np.flatnonzero(table.live & (self._node.copies(left, right) > 0))
        since = table.column("since")
        more_slots, more_since = self._more.cut(until)
        all_slots = np.concatenate([slots, more_slots])
        all_since = np.concatenate([since[slots], more_since])
        since[slots] = np.maximum(since[slots], until)
        begun = np.flatnonzero(all_since < until)
        return self._batch(all_slots[begun], all_since[begun], np.full(len(begun), until))

    def _batch(self, slots: Ints, since: Ints, times: Ints) -> pl.DataFrame:
        rows = self._ledger.table.rows(slots).select(self._columns)
        return with_validity(rows, since, times)

    def _compact(self) -> None:
        moved = self._ledger.compact()
        if moved is not None:
            self._more.renumber(moved)

    def share(self, others: Sequence[Any], own: Sequence[Sequence[Own]]) -> None:
        super().share(others, own)
        for other, mine in zip(others, own, strict=True):
            self._more.adopt(other._more, self._ledger.adopt(other._ledger, mine[0]))

    @property
    def next_change(self) -> int:
        return self._ledger.next_end

    @property
    def state_rows(self) -> int:
        return self._ledger.open_ends + self._ledger.table.live_count + self.waiting_rows

    @property
    def state_bytes(self) -> int:
        return self._ledger.nbytes + self._more.nbytes + self.waiting_bytes


class _Copies:
    """Since when copies hold, by slot and number of the copy."""

    STATE = ("_index", "_since")

    def __init__(self) -> None:
        self._index = HashIndex()
        self._since = np.zeros(1, dtype=np.int64)

    def __len__(self) -> int:
        return self._index.live_count

    def put(self, slots: Ints, numbers: Ints, times: Ints) -> None:
        at, _ = self._index.find_or_add(_packed(slots, numbers))
        if len(self._index) > len(self._since):
            self._since = np.resize(self._since, 2 * len(self._index))
        self._since[at] = times

    def take(self, slots: Ints, numbers: Ints) -> Ints:
        at = self._index.find(_packed(slots, numbers))
        since = self._since[at]
        self._index.free(at)
        kept = self._index.compact()
        if kept is not None:
            self._since = np.resize(self._since[kept], len(kept) + 1)
        return since

    def cut(self, until: int) -> tuple[Ints, Ints]:
        """The slots of all copies and since when they hold; from now on, since `until`."""
        live = np.flatnonzero(self._index.live)
        since = self._since[live]
        self._since[live] = np.maximum(since, until)
        return (self._index.hashes[live] >> _NUMBER_BITS).astype(np.int64), since

    def adopt(self, other: _Copies, moved: Ints) -> None:
        """Take the copies of another one whose slots have moved here."""
        live = np.flatnonzero(other._index.live)
        packed = other._index.hashes[live]
        slots = moved[(packed >> _NUMBER_BITS).astype(np.int64)]
        numbers, here = (packed & _NUMBERS).astype(np.int64), slots >= 0
        self.put(slots[here], numbers[here], other._since[live][here])

    def renumber(self, moved: Ints) -> None:
        """Follow slots to their new numbers."""
        hashes = self._index.hashes.copy()
        live = np.flatnonzero(self._index.live)
        slots, numbers = hashes[live] >> _NUMBER_BITS, hashes[live] & _NUMBERS
        hashes[live] = _packed(moved[slots.astype(np.int64)], numbers)
        self._index.rehash(hashes)

    @property
    def nbytes(self) -> int:
        return self._index.nbytes + self._since.nbytes


_NUMBER_BITS = np.uint64(32)
_NUMBERS = np.uint64(2**32 - 1)


def _packed(slots: Array, numbers: Array) -> Array:
    """Both in one word: a hash that no other pair has."""
    packed: Array = (slots.astype(np.uint64) << _NUMBER_BITS) | numbers.astype(np.uint64)
    return packed
