"""Operators with sizes that change while they run."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from tidemill.algebra.adjusting import Bounds, Changes, size_at
from tidemill.physical.mechanisms.arrays import Ints
from tidemill.physical.operator import OverExec


@dataclass(frozen=True)
class AdjustableExec(OverExec):
    """A node whose size changes: see `tidemill.algebra.nodes.Adjustable`.

    Bounds have no part in its identity: nodes that differ only in what users allow are one
    operator, as long as nobody adjusts it. A running graph gives it a knob for that. The knob is
    part of the identity: operators that are adjusted apart stay apart, whatever their sizes are.
    """

    SIZE: ClassVar[str]
    """The field with the size before all changes."""

    bounds: Bounds | None = field(default=None, kw_only=True, compare=False)
    changes: Changes = field(default=(), kw_only=True)
    knob: str = field(default="", kw_only=True)

    @property
    def first(self) -> int | None:
        """The size before all changes."""
        size: int | None = getattr(self, self.SIZE)
        return size

    @property
    def is_fixed(self) -> bool:
        """Whether the size is the same now and ever after."""
        return self.bounds is None and not self.is_adjusted

    @property
    def is_adjusted(self) -> bool:
        """Whether someone adjusts the size while the operator runs."""
        return bool(self.changes or self.knob)

    def size_at(self, start: int) -> int | None:
        """The size of rows that start then."""
        return size_at(self.first, self.changes, start)

    def last_starts(self, missed: int) -> list[int]:
        """The instants of the newest rows of each size, of those that end before `missed`."""
        return [missed - 1, *(at - 1 for at, _ in self.changes if 0 < at < missed)]

    def with_sizes(self, first: int | None, changes: Changes, knob: str) -> Self:
        """The same operator with other sizes."""
        size: dict[str, Any] = {self.SIZE: first}
        return replace(self, changes=changes, knob=knob, **size)


def sizes_at(starts: Ints, first: int, changes: Changes) -> Ints:
    """The sizes of rows by their starts.

    >>> sizes_at(np.array([6, 7, 8]), 50, ((7, 20),)).tolist()
    [50, 20, 20]
    """
    known = np.array([first, *(size for _, size in changes)], np.int64)
    instants = np.array([at for at, _ in changes], np.int64)
    found: Ints = known[np.searchsorted(instants, starts, side="right")]
    return found
