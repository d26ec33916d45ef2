"""Snapshots: all rows of a result that hold at the newest instant that is complete."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from tidemill.physical.facts import PacedBy, Partitioning, RowValidity
from tidemill.physical.operator import (
    Exec,
    InstantExec,
    Operator,
    OverExec,
    Own,
    SameMeaningExec,
    empty_batch,
    owned,
)
from tidemill.timeline import BEGIN, VALID_FROM, VALID_TO


@dataclass(frozen=True)
class SnapshotExec(SameMeaningExec, OverExec, InstantExec):
    """With every step, all rows that hold one instant before the watermark.

    Nothing starts before the watermark any more, so there the result is complete. The rows hold
    for that instant only. While the watermark stands still, they come again with every step.
    """

    together = Partitioning.OWN
    paced_by = PacedBy.OWN

    @property
    def unsaid(self) -> str | None:
        return "answers that depend on when ticks are made"

    @cached_property
    def validity(self) -> RowValidity:
        return RowValidity(self.child.validity.chronon)

    def operator(self) -> Operator:
        return _Snapshot(self)


class _Snapshot(Operator):
    """Keeps the rows that this or a later snapshot needs."""

    STATE = ("_rows",)

    def __init__(self, node: SnapshotExec) -> None:
        self._rows = empty_batch(node.schema)

    def step(
        self, inputs: Sequence[pl.DataFrame], watermarks: Sequence[int]
    ) -> tuple[pl.DataFrame, int]:
        until = watermarks[0]
        rows = pl.concat([self._rows, inputs[0]]) if inputs[0].height else self._rows
        self._rows = rows.filter(pl.col(VALID_TO) >= until)
        holding = self._rows.filter(pl.col(VALID_FROM) < until)
        instant = pl.lit(until - 1, pl.Int64)
        snapshot = holding.with_columns(
            instant.alias(VALID_FROM), pl.lit(until, pl.Int64).alias(VALID_TO)
        )
        return snapshot, max(BEGIN, until - 1)

    def share(self, others: Sequence[Any], own: Sequence[Sequence[Own]]) -> None:
        self._rows = owned([other._rows for other in others], [mine for (mine,) in own])

    @property
    def state_rows(self) -> int:
        return self._rows.height

    @property
    def state_bytes(self) -> int:
        return int(self._rows.estimated_size())


def snapshots_of(plan: Exec) -> Exec:
    """The plan of the snapshots of a plan's result.

    Its operators let results go that are still open; else the watermark would wait for their
    end, and with it the snapshot.

    >>> from tidemill.algebra import Scan, Schema
    >>> from tidemill.physical.operators.source import SourceExec
    >>> from tidemill.physical.operators.topk import TopKExec
    >>> plan = snapshots_of(TopKExec(SourceExec(Scan("s", "s", Schema.of())), (), 3))
    >>> print(plan)
    01 SnapshotExec
    02   TopKExec order=[] limit=3
    03     SourceExec s columns=[]
    >>> plan.child.eager
    1
    """
    return SnapshotExec(plan.with_eager(True))
