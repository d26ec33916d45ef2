"""Time windows: how long a row holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import polars as pl

from tidemill.algebra.nodes import TimeWindow
from tidemill.algebra.plan import Plan
from tidemill.physical.adjusting import AdjustableExec, sizes_at
from tidemill.physical.facts import PacedBy, Partitioning, RowValidity
from tidemill.physical.mechanisms.arrays import Ints
from tidemill.physical.operator import Exec, Operator, Stateless, payload, starts, with_validity
from tidemill.timeline import OPEN_END, add_all


@dataclass(frozen=True)
class TimeWindowExec(AdjustableExec):
    """Let every row of one instant hold for `size` instants, moving every `slide`."""

    SIZE: ClassVar = "size"

    size: int | None
    slide: int = 1
    delay: int = 0

    together = Partitioning.ANY
    paced_by = PacedBy.ALL
    same_rows = True
    keeps_columns = True

    def details(self) -> str:
        sizes: dict[str, Any] = {"changes": self.changes, "knob": self.knob}
        return TimeWindow(self.child, self.size, self.slide, self.delay, **sizes).details()

    def interval(self, times: Ints) -> tuple[Ints, Ints]:
        """The validity of rows by their instants; empty where a row is never in the window."""
        size: int | Ints | None = self.size
        if self.size is not None and self.changes:
            size = sizes_at(times, self.size, self.changes)
        return window_interval(
            add_all(times, self.delay) if self.delay else times, size, self.slide
        )

    def remembers(self, complete: bool) -> tuple[bool, ...]:
        return (False,)

    @cached_property
    def validity(self) -> RowValidity:
        now = self.size == 1 and self.slide == 1 and self.is_fixed
        # After a window becomes smaller, new rows end before old ones.
        return RowValidity(now, self.is_fixed, self.size is None)

    def meaning(self, inputs: Sequence[Plan]) -> Plan:
        adjusting: dict[str, Any] = {"bounds": self.bounds, "changes": self.changes}
        return TimeWindow(inputs[0], self.size, self.slide, self.delay, **adjusting)

    def rows_at_once(self, inputs: Sequence[float]) -> float:
        return inputs[0] * (self.size or OPEN_END)

    def through(self, missed: int) -> int:
        _, ends = self.interval(np.array(self.last_starts(missed)))
        return int(ends.max())

    def operator(self) -> Operator:
        return _TimeWindow(self)


class _TimeWindow(Stateless):
    def __init__(self, node: TimeWindowExec) -> None:
        self._node = node

    def take_over(self, node: Exec) -> None:
        assert isinstance(node, TimeWindowExec)
        self._node = node

    def apply(self, batch: pl.DataFrame) -> pl.DataFrame:
        start, end = self._node.interval(starts(batch))
        result = with_validity(payload(batch), start, end)
        empty = start >= end
        return result.filter(~empty) if empty.any() else result


def window_interval(times: Ints, size: int | Ints | None, slide: int) -> tuple[Ints, Ints]:
    """The validity of rows under a window; empty where a row is never in it.

    A window that slides changes its content at slide - 1, 2 * slide - 1, and so on.

    >>> [bounds.tolist() for bounds in window_interval(np.array([1, 10]), 50, 10)]
    [[9, 19], [59, 69]]
    """
    end = np.full_like(times, OPEN_END) if size is None else add_all(times, size)
    if slide == 1:
        return times, end
    return _next_change(times, slide), _next_change(end, slide)


def _next_change(times: Ints, slide: int) -> Ints:
    """The first instant at or after each time at which the window moves."""
    moved = (times // slide + 1) * slide - 1
    return np.where(times > OPEN_END - slide, OPEN_END, moved).astype(np.int64)
