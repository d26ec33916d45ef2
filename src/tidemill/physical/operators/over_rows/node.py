"""The operator of functions over rows: whole partitions are computed anew where they change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from tidemill.algebra.nodes import SortKey
from tidemill.algebra.over_rows import OverCall, OverRows
from tidemill.algebra.plan import Plan
from tidemill.algebra.schema import Schema
from tidemill.physical.facts import Columns, PacedBy, Partitioning, RowValidity
from tidemill.physical.mechanisms.arrays import Ints
from tidemill.physical.mechanisms.release import OpenSweep
from tidemill.physical.operator import (
    InstantExec,
    Operator,
    OverExec,
    Own,
    empty_batch,
    together,
    with_validity,
)
from tidemill.physical.operators.over_rows.held import HeldRows
from tidemill.physical.operators.over_rows.versions import PartitionRows, versions_of


@dataclass(frozen=True)
class OverRowsExec(OverExec, InstantExec):
    """Keep the rows of every partition; when one changes, compute the functions of its rows."""

    partition_by: tuple[str, ...]
    order: tuple[SortKey, ...]
    calls: tuple[OverCall, ...]
    eager: bool = False

    paced_by = PacedBy.OWN

    @cached_property
    def schema(self) -> Schema:
        return self.meaning([self.child]).schema

    def details(self) -> str:
        return f"{self.meaning([self.child]).details()} for all rows of a partition that changes"

    @cached_property
    def validity(self) -> RowValidity:
        return RowValidity(self.child.validity.chronon)

    @property
    def together(self) -> Columns | Partitioning:
        return self.partition_by

    def meaning(self, inputs: Sequence[Plan]) -> Plan:
        return OverRows(inputs[0], self.partition_by, self.order, self.calls)

    @property
    def is_whole(self) -> bool:
        return not self.partition_by

    def operator(self) -> Operator:
        return _OverRows(self)


class _OverRows(OpenSweep):
    STATE = ("_held",)

    def __init__(self, node: OverRowsExec) -> None:
        super().__init__(node.child.schema, eager=node.eager)
        self._node = node
        self._held = HeldRows(node.child.schema, node.partition_by)
        self._nothing = empty_batch(node.schema)

    def sweep(self, slices: Sequence[pl.DataFrame], until: int) -> pl.DataFrame:
        (batch,) = slices
        touched = self._held.advance(batch, until)
        pieces = [self._until(self._held.of(touched), until, cut=False)]
        if self._release.is_due(until, batch.height, self._held.count):
            pieces.append(self._until(self._held.all, until, cut=True))
        self._held.compact()
        return together(pieces)

    def _until(self, numbers: Ints, until: int, cut: bool) -> pl.DataFrame:
        """What is known of some partitions; what is open is left, or cut."""
        if not len(numbers):
            return self._nothing
        rows, slots, since, ends = self._held.take(numbers)
        part = PartitionRows(rows, slots, since, ends)
        found, last = versions_of(part, self._node, until, cut)
        self._held.settle(numbers, last)
        pieces = [
            with_validity(rows[each.row].hstack(each.values), each.start, each.end)
            for each in found
        ]
        return together([self._nothing, *pieces])

    def share(self, others: Sequence[Any], own: Sequence[Sequence[Own]]) -> None:
        super().share(others, own)
        for other, (mine,) in zip(others, own, strict=True):
            held = other._held
            rows, _, since, ends = held.take(held.all)
            batch = with_validity(rows, since, ends)
            self._held.add(batch.filter(pl.Series(mine(batch))))

    @property
    def next_change(self) -> int:
        return self._held.next_end

    @property
    def state_rows(self) -> int:
        return self._held.count + self.waiting_rows

    @property
    def state_bytes(self) -> int:
        return self._held.nbytes + self.waiting_bytes
