"""Set operations, each by its number of copies: see `tidemill.physical.operators.counting`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tidemill.algebra import sets
from tidemill.physical.mechanisms.arrays import Array
from tidemill.physical.operators.counting import CountingExec


@dataclass(frozen=True)
class DifferenceExec(CountingExec):
    """Keep the copies of the left side, less those of the right."""

    LOGICAL = sets.Difference

    @staticmethod
    def copies(left: Array, right: Array) -> Array:
        copies: Array = np.maximum(left - right, 0)
        return copies


@dataclass(frozen=True)
class StrictDifferenceExec(CountingExec):
    """Keep the copies of rows that the right side does not have."""

    LOGICAL = sets.StrictDifference

    @staticmethod
    def copies(left: Array, right: Array) -> Array:
        return np.where(right == 0, left, 0)


@dataclass(frozen=True)
class IntersectionExec(CountingExec):
    """Keep the smaller number of copies."""

    LOGICAL = sets.Intersection

    @staticmethod
    def copies(left: Array, right: Array) -> Array:
        return np.minimum(left, right)


@dataclass(frozen=True)
class MaxUnionExec(CountingExec):
    """Keep the larger number of copies."""

    LOGICAL = sets.MaxUnion

    @staticmethod
    def copies(left: Array, right: Array) -> Array:
        return np.maximum(left, right)
