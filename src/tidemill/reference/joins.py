"""Joins: pairs of rows that hold at the same instant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tidemill.algebra import AntiJoin, Join, MultiJoin, SemiJoin
from tidemill.reference.run import ReferenceRun
from tidemill.reference.stream import LogicalStream, Row, Snapshot


def join(plan: Join, run: ReferenceRun, left: LogicalStream, right: LogicalStream) -> LogicalStream:
    """All pairs for which the condition is true; the copies multiply."""
    partners = _partners(plan, run, left, right)

    def pairs(t: int) -> Snapshot:
        return Counter(
            {
                one + other: copies * more
                for one, copies in left.at(t).items()
                for other, more in right.at(t).items()
                if one + other in partners
            }
        )

    return LogicalStream.build(run.horizon, pairs)


def multi_join(plan: MultiJoin, run: ReferenceRun, *inputs: LogicalStream) -> LogicalStream:
    """All combinations for which the condition is true; the copies multiply."""
    meeting = {row for t in inputs[0] for row in _combinations(inputs, t)}
    partners = run.accepted(plan.condition, plan.schema, meeting)

    def kept(t: int) -> Snapshot:
        found = _combinations(inputs, t)
        return Counter({row: copies for row, copies in found.items() if row in partners})

    return LogicalStream.build(run.horizon, kept)


def _combinations(inputs: Sequence[LogicalStream], t: int) -> Snapshot:
    found: Snapshot = Counter({(): 1})
    for stream in inputs:
        found = Counter(
            {
                row + other: copies * more
                for row, copies in found.items()
                for other, more in stream.at(t).items()
            }
        )
    return found


def semi_join(
    plan: SemiJoin, run: ReferenceRun, left: LogicalStream, right: LogicalStream
) -> LogicalStream:
    """The left copies, once each, that have a partner."""
    return _by_existence(plan, run, left, right, wanted=True)


def anti_join(
    plan: AntiJoin, run: ReferenceRun, left: LogicalStream, right: LogicalStream
) -> LogicalStream:
    """The left copies that have no partner."""
    return _by_existence(plan, run, left, right, wanted=False)


def _by_existence(
    plan: SemiJoin | AntiJoin,
    run: ReferenceRun,
    left: LogicalStream,
    right: LogicalStream,
    wanted: bool,
) -> LogicalStream:
    partners = _partners(plan, run, left, right)

    def kept(t: int) -> Snapshot:
        def exists(row: Row) -> bool:
            return any(row + other in partners for other in right.at(t))

        return Counter({row: n for row, n in left.at(t).items() if exists(row) is wanted})

    return LogicalStream.build(run.horizon, kept)


def _partners(
    plan: Join | SemiJoin | AntiJoin, run: ReferenceRun, left: LogicalStream, right: LogicalStream
) -> set[Row]:
    """The concatenated rows that meet the condition.

    Only rows that meet at some instant are tried: a condition may fail on others.
    """
    meeting = {one + other for t in left for one in left.at(t) for other in right.at(t)}
    return run.accepted(plan.condition, plan.left.schema + plan.right.schema, meeting)
