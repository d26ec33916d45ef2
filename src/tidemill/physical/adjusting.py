"""Operators with sizes that change while they run."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tidemill.algebra.adjusting import Changes, check_changes
from tidemill.physical.arrays import Ints
from tidemill.physical.operator import Exec


@dataclass(frozen=True)
class AdjustableExec(Exec):
    """A node whose size changes: see `tidemill.algebra.nodes.Adjustable`.

    Bounds are no part of it: nodes that differ only in what users allow are one operator. The
    knob is: two that are adjusted apart stay two, whatever their sizes are now.
    """

    changes: Changes = field(default=(), kw_only=True)
    knob: str = field(default="", kw_only=True)

    @property
    def is_fixed(self) -> bool:
        """Whether the size is the same now and ever after."""
        return not self.changes and not self.knob


def sizes_at(starts: Ints, first: int, changes: Changes) -> Ints:
    """The sizes of rows by their starts.

    >>> sizes_at(np.array([6, 7, 8]), 50, ((7, 20),)).tolist()
    [50, 20, 20]
    """
    check_changes(first, changes)
    known = np.array([first, *(size for _, size in changes)], np.int64)
    instants = np.array([at for at, _ in changes], np.int64)
    found: Ints = known[np.searchsorted(instants, starts, side="right")]
    return found
