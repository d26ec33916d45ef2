"""Top-k: rows in order, and those at the first places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from tidemill.algebra.nodes import SortKey, TopK
from tidemill.algebra.plan import Plan
from tidemill.physical.facts import PacedBy, Partitioning, RowValidity
from tidemill.physical.mechanisms.arrays import Ints
from tidemill.physical.mechanisms.calendar import Calendar, Entries
from tidemill.physical.mechanisms.release import OpenSweep
from tidemill.physical.mechanisms.rows import RowStore
from tidemill.physical.operator import (
    InstantExec,
    Operator,
    OverExec,
    empty_frame,
    ends,
    payload,
    starts,
    with_validity,
)
from tidemill.physical.operators.topk.firsts import ABSENT, Firsts, TopKVersions
from tidemill.physical.operators.topk.order import RowOrder
from tidemill.timeline import OPEN_END

_FEWEST_TO_COMPACT = 1024


@dataclass(frozen=True)
class TopKExec(OverExec, InstantExec):
    """Keep all rows in order and report those at the places offset .. offset + limit."""

    order: tuple[SortKey, ...]
    limit: int
    offset: int = 0
    eager: int = 0

    together = Partitioning.OWN
    paced_by = PacedBy.OWN

    def details(self) -> str:
        return TopK(self.child, self.order, self.limit, self.offset).details()

    @cached_property
    def validity(self) -> RowValidity:
        return RowValidity(self.child.validity.chronon)

    def meaning(self, inputs: Sequence[Plan]) -> Plan:
        return TopK(inputs[0], self.order, self.limit, self.offset)

    def rows_at_once(self, inputs: Sequence[float]) -> float:
        return min(self.limit, inputs[0])

    @property
    def is_whole(self) -> bool:
        return True

    def operator(self) -> Operator:
        return _TopK(self)


class _TopK(OpenSweep):
    STATE = ("_rows", "_order", "_firsts", "_ends")

    def __init__(self, node: TopKExec) -> None:
        super().__init__(node.schema, eager=node.eager)
        self._node = node
        self._rows = RowStore(empty_frame(node.schema))
        self._order = self._new_order()
        self._firsts = Firsts(node.limit, node.offset, self._order.depth - 1)
        self._ends = Calendar()

    def _new_order(self) -> RowOrder:
        return RowOrder(empty_frame(self._node.schema), self._node.order)

    def sweep(self, slices: Sequence[pl.DataFrame], until: int) -> pl.DataFrame:
        (batch,) = slices
        pieces = [self._batch(self._firsts.sweep(*self._events(batch, until), until))]
        if self._release.is_due(until, batch.height, self._firsts.open_count):
            pieces.append(self._batch(self._firsts.cut(until)))
        self._compact()
        return pl.concat(pieces)

    def _events(self, batch: pl.DataFrame, until: int) -> tuple[Ints, Ints, Ints, Ints]:
        """Rows that come and rows that go, by time."""
        rows = np.arange(len(self._rows), len(self._rows) + batch.height)
        keys, ties = self._ranks(payload(batch))
        self._rows.append(payload(batch))
        known = np.flatnonzero(ends(batch) < OPEN_END)
        self._ends.push(Entries(ends(batch)[known], rows[known], {}))
        going = self._ends.pop(until)
        times = np.concatenate([starts(batch), going.times])
        order = np.argsort(times, kind="stable")
        rows = np.concatenate([rows, going.slots])
        keys = np.concatenate([keys, np.full(len(going), ABSENT)])
        ties = np.concatenate([ties, np.zeros((len(going), ties.shape[1]), np.int64)])
        return times[order], rows[order], keys[order], ties[order]

    def _ranks(self, rows: pl.DataFrame) -> tuple[Ints, Ints]:
        """Keys and ties of new rows; if need be, those of all others are renewed."""
        renewals = self._order.renewals
        levels = self._order.levels(rows)
        if self._order.renewals > renewals:
            self._reorder()
        return ~levels[:, 0], levels[:, 1:]

    def _reorder(self) -> None:
        items = np.flatnonzero(self._firsts.present)
        self._firsts.reorder(items, *self._ranks(self._rows.take(items)))

    def _batch(self, versions: TopKVersions) -> pl.DataFrame:
        return with_validity(self._rows.take(versions.item), versions.since, versions.end)

    def _compact(self) -> None:
        total = len(self._rows)
        if total < _FEWEST_TO_COMPACT or self._firsts.count * 2 > total:
            return
        kept = self._firsts.present[:total]
        self._rows.keep(kept)
        self._firsts.keep(np.flatnonzero(kept))
        self._ends.renumber(np.cumsum(kept) - 1)
        self._order = self._new_order()  # values that no row has any more are forgotten
        self._reorder()

    @property
    def state_rows(self) -> int:
        return self._firsts.count + self.waiting_rows

    @property
    def state_bytes(self) -> int:
        own = self._rows.nbytes + self._firsts.nbytes + self._order.nbytes + self._ends.nbytes
        return own + self.waiting_bytes
