"""Relation-to-stream operators: what comes, what goes, what is there."""

from __future__ import annotations

from tidemill.algebra import Dstream, Istream, Rstream
from tidemill.reference.run import ReferenceRun
from tidemill.reference.stream import LogicalStream


def istream(plan: Istream, run: ReferenceRun, child: LogicalStream) -> LogicalStream:
    """Copies beyond those of the instant before; at 0, all."""
    return LogicalStream.build(run.horizon, lambda t: child.at(t) - child.at(t - 1))


def dstream(plan: Dstream, run: ReferenceRun, child: LogicalStream) -> LogicalStream:
    """Copies beyond those of the next instant; the child is known one instant further."""
    assert child.horizon > run.horizon
    return LogicalStream.build(run.horizon, lambda t: child.at(t) - child.at(t + 1))


def rstream(plan: Rstream, run: ReferenceRun, child: LogicalStream) -> LogicalStream:
    """The same snapshots: only the intervals that carry them differ."""
    return child
