"""Difference: the copies of the left side, less those of the right."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tidemill.physical.arrays import Array
from tidemill.physical.counting import CountingExec


@dataclass(frozen=True)
class DifferenceExec(CountingExec):
    """Keep the copies of the left side, less those of the right."""

    @staticmethod
    def copies(left: Array, right: Array) -> Array:
        copies: Array = np.maximum(left - right, 0)
        return copies
