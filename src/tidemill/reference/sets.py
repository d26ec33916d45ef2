"""Set operations on copies of rows, and duplicate elimination."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from tidemill.algebra import Distinct
from tidemill.algebra.sets import (
    Difference,
    Intersection,
    MaxUnion,
    SetOperation,
    StrictDifference,
    Union,
)
from tidemill.reference.run import ReferenceRun
from tidemill.reference.stream import LogicalStream, Snapshot


def union(a: Snapshot, b: Snapshot) -> Snapshot:
    """The copies of both together."""
    return a + b


def difference(a: Snapshot, b: Snapshot) -> Snapshot:
    """Copies of the left less copies of the right, never below zero."""
    return a - b


def strict_difference(a: Snapshot, b: Snapshot) -> Snapshot:
    """The rows of the left that the right does not have at all."""
    return Counter({row: copies for row, copies in a.items() if row not in b})


def intersection(a: Snapshot, b: Snapshot) -> Snapshot:
    """The smaller number of copies."""
    return a & b


def max_union(a: Snapshot, b: Snapshot) -> Snapshot:
    """The larger number of copies."""
    return a | b


Combine = Callable[[Snapshot, Snapshot], Snapshot]

DEFINITIONS: Mapping[type[SetOperation], Combine] = {
    Union: union,
    Difference: difference,
    StrictDifference: strict_difference,
    Intersection: intersection,
    MaxUnion: max_union,
}
"""What a set operation makes of the copies on both sides."""


def each_instant(
    combine: Combine,
) -> Callable[[SetOperation, ReferenceRun, LogicalStream, LogicalStream], LogicalStream]:
    """The operator that combines the snapshots of every instant."""

    def operator(
        plan: SetOperation, run: ReferenceRun, left: LogicalStream, right: LogicalStream
    ) -> LogicalStream:
        return LogicalStream.build(run.horizon, lambda t: combine(left.at(t), right.at(t)))

    return operator


def distinct(plan: Distinct, run: ReferenceRun, child: LogicalStream) -> LogicalStream:
    """Every row of an instant once."""
    return LogicalStream.build(run.horizon, lambda t: Counter(set(child.at(t))))
