"""The aggregation operator: pieces of time in which no row of a group starts or ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from tidemill.algebra.aggregates import AggregateCall
from tidemill.algebra.nodes import Aggregate
from tidemill.algebra.plan import Plan
from tidemill.algebra.schema import Field, Schema
from tidemill.physical.facts import Columns, PacedBy, Partitioning, RowValidity
from tidemill.physical.mechanisms.arrays import Ints
from tidemill.physical.mechanisms.keys import canonical
from tidemill.physical.mechanisms.ledger import Change, Ledger, Moments
from tidemill.physical.mechanisms.release import OpenSweep
from tidemill.physical.operator import (
    Exec,
    InstantExec,
    Operator,
    Own,
    empty_batch,
    empty_frame,
    together,
    with_validity,
)
from tidemill.physical.operators.aggregate.accumulators import ROWS
from tidemill.physical.operators.aggregate.calls import running_call
from tidemill.timeline import VALID_FROM, VALID_TO


@dataclass(frozen=True)
class AggregateExec(InstantExec):
    """Aggregate the rows of each group at every instant.

    `child` brings the rows. The other inputs are for calls over distinct values: each brings
    the keys and the argument of one call, without duplicates; `inputs` names, for every call,
    the input that it reads. `eager` says that operators above wait for the watermark.
    """

    child: Exec
    distinct: tuple[Exec, ...]
    keys: tuple[str, ...]
    calls: tuple[AggregateCall, ...]
    inputs: tuple[int, ...]
    eager: int = 0

    paced_by = PacedBy.OWN
    by_name = True

    @property
    def children(self) -> tuple[Exec, ...]:
        return (self.child, *self.distinct)

    @cached_property
    def schema(self) -> Schema:
        results = tuple(Field(call.name, call.type) for call in self.calls)
        return Schema(self.child.schema.select(self.keys).fields + results)

    def details(self) -> str:
        return Aggregate(self.child, self.keys, self.calls).details()

    @cached_property
    def validity(self) -> RowValidity:
        chronon = all(child.validity.chronon for child in self.children)
        return RowValidity(chronon, end_order=not self.keys)

    @property
    def together(self) -> Columns | Partitioning:
        return self.keys

    def meaning(self, inputs: Sequence[Plan]) -> Plan:
        return Aggregate(inputs[0], self.keys, self.calls)

    def rows_at_once(self, inputs: Sequence[float]) -> float:
        return inputs[0] if self.keys else 1

    @property
    def is_whole(self) -> bool:
        return not self.keys

    def operator(self) -> Operator:
        return _Aggregate(self)


class _Aggregate(OpenSweep):
    STATE = ("_ledger", "_calls")

    def __init__(self, node: AggregateExec) -> None:
        super().__init__(*(child.schema for child in node.children), eager=node.eager)
        self._node = node
        self._keys = list(node.keys)
        self._ledger = Ledger(empty_frame(node.child.schema.select(node.keys)), node.keys, ROWS)
        self._calls = [
            running_call(call, node.children[source].schema, source)
            for call, source in zip(node.calls, node.inputs, strict=True)
        ]

    def sweep(self, slices: Sequence[pl.DataFrame], until: int) -> pl.DataFrame:
        changes = [self._change(index, batch) for index, batch in enumerate(slices)]
        moments = self._ledger.advance(changes, until)
        before = self._ledger.table.column("since")[moments.slots[moments.first]]
        for call in self._calls:
            call.advance(slices[call.source], moments, self._ledger.table, self._swept, until)
        pieces = [self._closed(moments), self._ended_before(moments, before)]
        for call in self._calls:
            call.finish()
        self._mark_open(moments)
        rows = sum(batch.height for batch in slices)
        if self._release.is_due(until, rows, self._ledger.table.live_count):
            pieces.append(self._cut(until))
        self._compact()
        return together(pieces)

    def _change(self, index: int, batch: pl.DataFrame) -> Change:
        amounts = {} if index else {ROWS: np.ones(batch.height, dtype=np.int8)}
        for call in self._calls:
            if call.source == index:
                amounts.update(call.amounts(batch))
        return Change(canonical(batch[[*self._keys, VALID_FROM, VALID_TO]]), amounts)

    def _closed(self, moments: Moments) -> pl.DataFrame:
        """Pieces between two moments of a group."""
        lasting = moments.totals[ROWS] > 0
        lasting[moments.last] = False
        kept = np.flatnonzero(lasting)
        start, end = moments.times[kept], moments.times[kept + 1]
        return self._batch(moments.slots[kept], start, end, [c.after(kept) for c in self._calls])

    def _ended_before(self, moments: Moments, since: Ints) -> pl.DataFrame:
        """Pieces from an earlier step that end with the first moment of their group."""
        end = moments.times[moments.first]
        kept = np.flatnonzero((moments.before[ROWS] > 0) & (since < end))
        slots = moments.slots[moments.first][kept]
        answers = [call.before(kept) for call in self._calls]
        return self._batch(slots, since[kept], end[kept], answers)

    def _mark_open(self, moments: Moments) -> None:
        """Remember since when the last piece of each group lasts; forget empty groups."""
        slots = moments.slots[moments.last]
        self._ledger.table.column("since")[slots] = moments.times[moments.last]
        self._ledger.release(slots[moments.totals[ROWS][moments.last] == 0])

    def _cut(self, until: int) -> pl.DataFrame:
        """The pieces of all groups up to here; they continue from here."""
        table = self._ledger.table
        since = table.column("since")
        slots = np.flatnonzero(table.live & (since[: len(table.live)] < until))
        batch = self._batch(
            slots,
            since[slots],
            np.full(len(slots), until),
            [call.now(table, slots) for call in self._calls],
        )
        since[slots] = until
        return batch

    def _batch(self, slots: Ints, start: Ints, end: Ints, answers: list[pl.Series]) -> pl.DataFrame:
        if not len(slots):
            return self._nothing
        columns = [
            answer.alias(call.name) for call, answer in zip(self._node.calls, answers, strict=True)
        ]
        if not self._keys:
            return with_validity(pl.DataFrame(columns), start, end)
        keys = self._ledger.table.rows(slots).select(self._keys)
        return with_validity(keys.hstack(columns), start, end)

    @cached_property
    def _nothing(self) -> pl.DataFrame:
        return empty_batch(self._node.schema)

    def _compact(self) -> None:
        moved = self._ledger.compact()
        if moved is not None:
            for call in self._calls:
                call.renumber(moved)

    def share(self, others: Sequence[Any], own: Sequence[Sequence[Own]]) -> None:
        super().share(others, own)
        for other, mine in zip(others, own, strict=True):
            moved = self._ledger.adopt(other._ledger, mine[0])
            for call, theirs in zip(self._calls, other._calls, strict=True):
                call.adopt(theirs, moved)

    @property
    def next_change(self) -> int:
        return self._ledger.next_end

    @property
    def state_rows(self) -> int:
        return self._ledger.open_ends + self._ledger.table.live_count + self.waiting_rows

    @property
    def state_bytes(self) -> int:
        extra = sum(call.nbytes for call in self._calls)
        return self._ledger.nbytes + extra + self.waiting_bytes
