"""Istream and Dstream: the rows that come, and the rows that go."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from tidemill.algebra.nodes import Dstream, Istream
from tidemill.algebra.plan import Plan
from tidemill.algebra.schema import Schema
from tidemill.physical.facts import PER_INSTANT, Columns, PacedBy, Partitioning, RowValidity
from tidemill.physical.mechanisms.arrays import Array, Ints
from tidemill.physical.mechanisms.keys import canonical
from tidemill.physical.mechanisms.ledger import Change, Ledger, Moments
from tidemill.physical.operator import (
    Operator,
    OverExec,
    Own,
    Sweep,
    empty_frame,
    with_validity,
)
from tidemill.timeline import OPEN_END, add

_COPIES = "copies"


@dataclass(frozen=True)
class CopyChangesExec(OverExec):
    """What the number of copies of rows tells when it changes, each for one instant."""

    paced_by = PacedBy.OWN

    @cached_property
    def validity(self) -> RowValidity:
        return RowValidity(chronon=True)

    @property
    def together(self) -> Columns | Partitioning:
        return self.schema.names

    def rows_at_once(self, inputs: Sequence[float]) -> float:
        return min(PER_INSTANT, inputs[0])


@dataclass(frozen=True)
class IstreamExec(CopyChangesExec):
    """Each copy of a row at the instant at which it comes."""

    def meaning(self, inputs: Sequence[Plan]) -> Plan:
        return Istream(inputs[0])

    def through(self, missed: int) -> int:
        return add(missed, 1)  # what holds an instant before counts, too

    def operator(self) -> Operator:
        return _Arrivals(self.schema)


@dataclass(frozen=True)
class DstreamExec(CopyChangesExec):
    """Each copy of a row at the last instant at which it holds."""

    def meaning(self, inputs: Sequence[Plan]) -> Plan:
        return Dstream(inputs[0])

    def through(self, missed: int) -> int:
        return missed

    def operator(self) -> Operator:
        return _Departures(self.schema)


class _CopyChanges(Sweep):
    """Watches how many copies of each row there are."""

    STATE = ("_ledger",)

    def __init__(self, schema: Schema) -> None:
        super().__init__(schema)
        self._columns = list(schema.names)
        self._ledger = Ledger(empty_frame(schema), schema.names, _COPIES)

    def sweep(self, slices: Sequence[pl.DataFrame], until: int) -> pl.DataFrame:
        batch = canonical(slices[0])
        change = Change(batch, {_COPIES: np.ones(batch.height, dtype=np.int64)})
        moments = self._ledger.advance([change], until)
        result = self._chronons(moments, moments.totals[_COPIES] - moments.previous(_COPIES))
        last = moments.last
        self._ledger.release(moments.slots[last][moments.totals[_COPIES][last] == 0])
        self._ledger.compact()
        return result

    def share(self, others: Sequence[Any], own: Sequence[Sequence[Own]]) -> None:
        super().share(others, own)
        for other, (mine,) in zip(others, own, strict=True):
            self._ledger.adopt(other._ledger, mine)

    @abstractmethod
    def _chronons(self, moments: Moments, change: Array) -> pl.DataFrame:
        """What to report, from the change of the number of copies at each moment."""

    def _batch(self, slots: Ints, times: Ints, copies: Ints) -> pl.DataFrame:
        """So many copies of each row, for one instant."""
        rows = self._ledger.table.rows(np.repeat(slots, copies)).select(self._columns)
        start = np.repeat(times, copies)
        return with_validity(rows, start, start + 1)

    @property
    def state_rows(self) -> int:
        return self._ledger.open_ends + self.waiting_rows

    @property
    def state_bytes(self) -> int:
        return self._ledger.nbytes + self.waiting_bytes


class _Arrivals(_CopyChanges):
    def _chronons(self, moments: Moments, change: Array) -> pl.DataFrame:
        return self._batch(moments.slots, moments.times, np.maximum(change, 0))


class _Departures(_CopyChanges):
    def _chronons(self, moments: Moments, change: Array) -> pl.DataFrame:
        return self._batch(moments.slots, moments.times - 1, np.maximum(-change, 0))

    def output_watermark(self, until: int) -> int:
        # What ends at the watermark is reported for the instant before it.
        return until if until == OPEN_END else max(until - 1, 0)
