"""Split: cut validities into pieces, as windows over derived streams need it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from tidemill.algebra.nodes import Rstream
from tidemill.algebra.plan import Plan
from tidemill.deadline import look
from tidemill.errors import ExecutionError
from tidemill.physical.facts import PacedBy, Partitioning, RowValidity
from tidemill.physical.mechanisms.arrays import Ints
from tidemill.physical.operator import (
    Operator,
    OverExec,
    Own,
    empty_batch,
    ends,
    owned,
    payload,
    starts,
    with_validity,
)
from tidemill.timeline import OPEN_END

_MOST_PIECES = 50_000_000


@dataclass(frozen=True)
class SplitExec(OverExec):
    """Cut every validity into pieces of `length`, counted from its start."""

    length: int = 1

    together = Partitioning.ANY
    paced_by = PacedBy.OWN

    def details(self) -> str:
        return f"length={self.length}"

    @cached_property
    def validity(self) -> RowValidity:
        below = self.child.validity
        return RowValidity(self.length == 1 or below.chronon, below.end_order)

    def meaning(self, inputs: Sequence[Plan]) -> Plan:
        # Other pieces than instants make no difference to what holds at one.
        return Rstream(inputs[0]) if self.length == 1 else inputs[0]

    def through(self, missed: int) -> int:
        return missed

    def operator(self) -> Operator:
        return _Split(self)


class _Split(Operator):
    """Pieces are made as the watermark passes them, so that a long validity costs no more
    than the time that has gone by. A row that never ends is followed as far as time was seen.
    """

    STATE = ("_rest", "_horizon")

    def __init__(self, node: SplitExec) -> None:
        self._length = node.length
        self._rest = empty_batch(node.schema)
        self._horizon = 0

    def step(
        self, inputs: Sequence[pl.DataFrame], watermarks: Sequence[int]
    ) -> tuple[pl.DataFrame, int]:
        until = watermarks[0]
        self._see(inputs[0], until)
        rows = pl.concat([self._rest, inputs[0]]) if self._rest.height else inputs[0]
        bound = self._horizon if until == OPEN_END else until
        start, end = starts(rows), ends(rows)
        # At the end of the stream all is known but how long open rows go on.
        stop = np.where(end == OPEN_END, bound, end) if until == OPEN_END else end
        count = self._pieces_before(start, stop, until)
        first = start + count * self._length
        left_over = first < end
        self._rest = with_validity(payload(rows), first, end).filter(left_over)
        return self._cut(rows, start, stop, count), until

    def _see(self, batch: pl.DataFrame, until: int) -> None:
        """How far time was seen to go."""
        seen = [starts(batch) + 1, ends(batch)[ends(batch) < OPEN_END]]
        latest = max((int(times.max()) for times in seen if len(times)), default=0)
        self._horizon = max(self._horizon, latest, 0 if until == OPEN_END else until)

    def _pieces_before(self, start: Ints, stop: Ints, until: int) -> Ints:
        """How many pieces of each row start before the watermark."""
        limit = np.minimum(stop, until)
        count = np.maximum(-((start - limit) // self._length), 0)
        if count.sum() > _MOST_PIECES:
            raise ExecutionError(
                f"a window over rows that hold long would make {int(count.sum()):,} pieces",
                help="put the window on the changes: ISTREAM(...) WINDOW(...)",
            )
        look(int(count.sum()))
        return count

    def _cut(self, rows: pl.DataFrame, start: Ints, stop: Ints, count: Ints) -> pl.DataFrame:
        row = np.repeat(np.arange(len(count)), count)
        position = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
        begin = start[row] + position * self._length
        return with_validity(payload(rows)[row], begin, np.minimum(begin + self._length, stop[row]))

    def share(self, others: Sequence[Any], own: Sequence[Sequence[Own]]) -> None:
        self._rest = owned([other._rest for other in others], [mine for (mine,) in own])
        self._horizon = max(other._horizon for other in others)

    @property
    def state_rows(self) -> int:
        return self._rest.height

    @property
    def state_bytes(self) -> int:
        return int(self._rest.estimated_size())
