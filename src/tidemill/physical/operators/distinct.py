"""Distinct: every key at most once per instant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from tidemill.algebra.nodes import Distinct, Project
from tidemill.algebra.plan import Plan
from tidemill.algebra.scalar import column
from tidemill.physical.facts import SOME_COLUMNS, Columns, PacedBy, Partitioning, RowValidity
from tidemill.physical.mechanisms.arrays import running_max, starts_of_runs
from tidemill.physical.mechanisms.keys import KeyTable, canonical
from tidemill.physical.mechanisms.ordering import slot_order
from tidemill.physical.operator import (
    Operator,
    OverExec,
    Own,
    Sweep,
    empty_frame,
    ends,
    payload,
    starts,
    with_validity,
)


@dataclass(frozen=True)
class DistinctExec(OverExec):
    """Pass on of every row the part that no earlier row of its key covers.

    `keys` are the columns that tell rows apart (all, unless the plan says otherwise).
    """

    keys: tuple[str, ...]

    paced_by = PacedBy.OWN

    def details(self) -> str:
        return "" if self.keys == self.schema.names else f"by=[{', '.join(self.keys)}]"

    @property
    def instant_by_instant(self) -> bool:  # type: ignore[override]
        # What goes by the numbers of rows keeps the rest of a row under its number; in another
        # plan, another row has that number.
        return self.keys == self.schema.names

    @property
    def unsaid(self) -> str | None:
        return None if set(self.keys) == set(self.schema.names) else SOME_COLUMNS

    @cached_property
    def validity(self) -> RowValidity:
        return RowValidity(self.child.validity.chronon)

    @property
    def together(self) -> Columns | Partitioning:
        return self.keys

    def meaning(self, inputs: Sequence[Plan]) -> Plan:
        return Distinct(_only(inputs[0], self.keys))

    def through(self, missed: int) -> int:
        return missed

    def operator(self) -> Operator:
        return _Distinct(self)


def _only(child: Plan, names: tuple[str, ...]) -> Plan:
    """Some columns; those that the cost model knows nothing of are numbers of rows."""
    if names == child.schema.names:
        return child
    types = {field.name: field.type for field in child.schema}
    items = ((name, column(name, types.get(name, pa.int64()))) for name in names)
    return Project(child, tuple(items))


class _Distinct(Sweep):
    """Rows come in the order of their starts, so per key one number says it all: the instant
    up to which the key is covered."""

    STATE = ("_table", "_seen")

    def __init__(self, node: DistinctExec) -> None:
        super().__init__(node.schema)
        keys = empty_frame(node.schema.select(node.keys))
        self._keys = list(node.keys)
        self._table = KeyTable(keys, node.keys)
        self._seen = 0

    def sweep(self, slices: Sequence[pl.DataFrame], until: int) -> pl.DataFrame:
        batch = slices[0]
        if batch.height == 0:
            self._forget(0, until)
            return batch
        rows = canonical(payload(batch))
        slots = self._table.find_or_add(rows.select(self._keys))
        order = slot_order(slots, starts(batch))
        slots, start, end = slots[order], starts(batch)[order], ends(batch)[order]
        first = starts_of_runs(slots)
        covered = self._table.column("covered")
        known = covered[slots]
        reach = running_max(np.maximum(end, known), first)
        before = np.where(first, known, np.roll(reach, 1))
        covered[slots] = reach  # the last, largest value of every slot stays
        kept = np.flatnonzero(end > before)
        result = with_validity(rows[order[kept]], np.maximum(start, before)[kept], end[kept])
        self._forget(batch.height, until)
        return result

    def share(self, others: Sequence[Any], own: Sequence[Sequence[Own]]) -> None:
        super().share(others, own)
        for other, (mine,) in zip(others, own, strict=True):
            self._table.adopt(other._table, mine)

    def is_quiet(self, until: int) -> bool:
        return True

    def _forget(self, new_rows: int, until: int) -> None:
        """Free covered keys, once enough rows came to pay for looking at all keys."""
        self._seen += new_rows
        if 2 * self._seen < self._table.live_count:
            return
        self._seen = 0
        live = self._table.live
        over = self._table.column("covered")[: len(live)] <= until
        self._table.free(np.flatnonzero(live & over))
        self._table.compact()

    @property
    def state_rows(self) -> int:
        return self._table.live_count + self.waiting_rows

    @property
    def state_bytes(self) -> int:
        return self._table.nbytes + self.waiting_bytes
