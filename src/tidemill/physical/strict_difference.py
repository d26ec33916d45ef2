"""StrictDifference: the copies of rows that the right side does not have."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tidemill.physical.arrays import Array
from tidemill.physical.counting import CountingExec


@dataclass(frozen=True)
class StrictDifferenceExec(CountingExec):
    """Keep the copies of rows that the right side does not have."""

    @staticmethod
    def copies(left: Array, right: Array) -> Array:
        return np.where(right == 0, left, 0)
