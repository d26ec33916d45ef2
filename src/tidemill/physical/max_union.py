"""MaxUnion: the larger number of copies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tidemill.physical.arrays import Array
from tidemill.physical.counting import CountingExec


@dataclass(frozen=True)
class MaxUnionExec(CountingExec):
    """Keep the larger number of copies."""

    @staticmethod
    def copies(left: Array, right: Array) -> Array:
        return np.maximum(left, right)
