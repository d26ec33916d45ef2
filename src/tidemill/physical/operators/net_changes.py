"""Net changes: which rows come and which go at every instant, given when time has passed it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from tidemill.algebra.schema import Field, Schema
from tidemill.physical.facts import PacedBy, Partitioning, RowValidity
from tidemill.physical.mechanisms.arrays import Bools, Ints, distinct, starts_of_runs
from tidemill.physical.mechanisms.calendar import Calendar, Entries
from tidemill.physical.mechanisms.changes import DELETE, INSERT
from tidemill.physical.mechanisms.cut import cut
from tidemill.physical.mechanisms.keys import KeyTable, canonical
from tidemill.physical.mechanisms.ordering import slot_order
from tidemill.physical.operator import (
    Exec,
    Operator,
    Own,
    SameMeaningExec,
    Sweep,
    empty_frame,
    ends,
    payload,
    starts,
    together,
    with_validity,
)
from tidemill.timeline import BEGIN, OPEN_END

SIGN = "#change"
"""The column that tells rows that come from those that go. No column of a query has its name."""

_ENDS = "ends"

_DENSE = 8  # instants per time up to which a table is used


@dataclass(frozen=True)
class ChangesExec(SameMeaningExec):
    """A row for every copy that comes or goes, at the instant at which it does.

    A copy that ends where an equal one starts goes on, and neither goes nor comes. What held
    before `since` is not given; what still holds then comes at that instant.
    """

    child: Exec
    since: int = BEGIN

    together = Partitioning.ANY
    paced_by = PacedBy.OWN

    @cached_property
    def schema(self) -> Schema:
        return Schema((*self.child.schema, Field(SIGN, pa.string())))

    def details(self) -> str:
        return f"since={self.since}" if self.since else ""

    @property
    def unsaid(self) -> str | None:
        return "rows that tell what comes and goes"

    @cached_property
    def validity(self) -> RowValidity:
        return RowValidity(self.child.validity.chronon)

    def operator(self) -> Operator:
        return _Changes(self)


class _Changes(Sweep):
    """Adds up starts and ends of equal rows, instant by instant.

    All that is kept is ends that are still to come. How many copies there are does not matter.
    """

    STATE = ("_rows", "_calendar")

    def __init__(self, node: ChangesExec) -> None:
        super().__init__(node.child.schema)
        self._columns = list(node.child.schema.names)
        self._since = node.since
        self._rows = KeyTable(empty_frame(node.child.schema), node.child.schema.names)
        self._rows.column(_ENDS)
        self._calendar = Calendar()

    def step(
        self, inputs: Sequence[pl.DataFrame], watermarks: Sequence[int]
    ) -> tuple[pl.DataFrame, int]:
        return super().step([cut(inputs[0], self._since)], watermarks)

    def is_quiet(self, until: int) -> bool:
        return self._calendar.next >= until

    def sweep(self, slices: Sequence[pl.DataFrame], until: int) -> pl.DataFrame:
        batch, gone = canonical(slices[0]), self._calendar.pop(until)
        start, end = starts(batch), ends(batch)
        soon = end < until
        # Where nothing starts that could follow what ends, rows need not be compared.
        comes = _among(start, np.concatenate([gone.times, end[soon]]))
        goes, lasts = soon & _among(end, start), _among(gone.times, start)
        later = ~soon & (end < OPEN_END)
        slots = self._slots(batch, comes | goes | later)
        events = [
            (start[comes], slots[comes], 1),
            (end[goes], slots[goes], -1),
            (gone.times[lasts], gone.slots[lasts], -1),
        ]
        told = [
            _signed(payload(_where(batch, soon & ~goes)), end[soon & ~goes], DELETE),
            _signed(self._kept(gone.slots[~lasts]), gone.times[~lasts], DELETE),
            *self._net(events),
            _signed(payload(_where(batch, ~comes)), start[~comes], INSERT),
        ]
        self._keep(Entries(end[later], slots[later], {}))
        self._forget(np.concatenate([gone.slots, slots[slots >= 0]]), gone.slots)
        return together(told)

    def share(self, others: Sequence[Any], own: Sequence[Sequence[Own]]) -> None:
        super().share(others, own)
        for other, (mine,) in zip(others, own, strict=True):
            self._calendar.adopt(other._calendar, self._rows.adopt(other._rows, mine))

    def _slots(self, batch: pl.DataFrame, wanted: Bools) -> Ints:
        """The numbers of the rows that are to be compared or kept; -1 for others."""
        slots = np.full(batch.height, -1, dtype=np.int64)
        if wanted.any():
            slots[wanted] = self._rows.find_or_add(_where(batch, wanted))
        return slots

    def _net(self, events: Sequence[tuple[Ints, Ints, int]]) -> Iterator[pl.DataFrame]:
        """What remains of starts and ends at the same instants."""
        times = np.concatenate([times for times, _, _ in events])
        slots = np.concatenate([slots for _, slots, _ in events])
        copies = np.concatenate([np.full(len(times), copies) for times, _, copies in events])
        order = slot_order(slots, times)
        first = np.flatnonzero(starts_of_runs(slots[order], times[order]))
        if not len(first):
            return
        net = np.add.reduceat(copies[order], first)
        times, slots = times[order][first], slots[order][first]
        for sign, count in ((DELETE, np.maximum(-net, 0)), (INSERT, np.maximum(net, 0))):
            yield _signed(self._kept(np.repeat(slots, count)), np.repeat(times, count), sign)

    def _kept(self, slots: Ints) -> pl.DataFrame:
        return self._rows.rows(slots).select(self._columns)

    def _keep(self, later: Entries) -> None:
        np.add.at(self._rows.columns[_ENDS], later.slots, 1)
        self._calendar.push(later)

    def _forget(self, used: Ints, gone: Ints) -> None:
        """Free the rows of which no end is to come any more."""
        left = self._rows.columns[_ENDS]
        np.subtract.at(left, gone, 1)
        used = distinct(used)
        self._rows.free(used[left[used] == 0])
        moved = self._rows.compact()
        if moved is not None:
            self._calendar.renumber(moved)

    @property
    def state_rows(self) -> int:
        return len(self._calendar) + self.waiting_rows

    @property
    def state_bytes(self) -> int:
        return self._rows.nbytes + self._calendar.nbytes + self.waiting_bytes


def _among(times: Ints, known: Ints) -> Bools:
    """Which of the times are among known ones."""
    if not len(known) or not len(times):
        return np.zeros(len(times), dtype=np.bool_)
    if known.max() - known.min() <= _DENSE * (len(known) + len(times)):
        return np.isin(times, known, kind="table")
    known = distinct(known)
    found: Bools = known[np.searchsorted(known[:-1], times)] == times
    return found


def _where(batch: pl.DataFrame, chosen: Bools) -> pl.DataFrame:
    """Some of the rows; all or none cost nothing."""
    if not chosen.any():
        return batch.clear()
    return batch if chosen.all() else batch[np.flatnonzero(chosen)]


def _signed(rows: pl.DataFrame, times: Ints, sign: str) -> pl.DataFrame:
    found = with_validity(rows, times, times + 1)
    signs = pl.repeat(sign, found.height, dtype=pl.String, eager=True).alias(SIGN)
    return found.insert_column(rows.width, signs)


def changes_of(plan: Exec, since: int = BEGIN) -> Exec:
    """The plan of the changes of a plan's result.

    Its operators let results go that are still open: a row comes when it starts, not when its
    end is known.

    >>> from tidemill.algebra import Scan
    >>> from tidemill.physical.operators.source import SourceExec
    >>> from tidemill.physical.operators.topk import TopKExec
    >>> plan = changes_of(TopKExec(SourceExec(Scan("s", "s", Schema.of())), (), 3), 7)
    >>> print(plan)
    01 ChangesExec since=7
    02   TopKExec order=[] limit=3
    03     SourceExec s columns=[]
    >>> plan.child.eager
    1
    """
    return ChangesExec(plan.with_eager(True), since)
