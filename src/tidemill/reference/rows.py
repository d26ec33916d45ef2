"""Operators that look at single rows: filter and map."""

from __future__ import annotations

from collections import Counter

from tidemill.algebra import Filter, Project
from tidemill.reference.run import ReferenceRun
from tidemill.reference.stream import LogicalStream, Row, Snapshot


def filtered(plan: Filter, run: ReferenceRun, child: LogicalStream) -> LogicalStream:
    """The copies of rows for which the predicate is true."""
    kept = run.accepted(plan.predicate, plan.child.schema, child.rows())

    def keep(t: int) -> Snapshot:
        return Counter({row: copies for row, copies in child.at(t).items() if row in kept})

    return LogicalStream.build(run.horizon, keep)


def projected(plan: Project, run: ReferenceRun, child: LogicalStream) -> LogicalStream:
    """Every copy mapped; copies of rows that become equal add up."""
    rows = child.rows()
    scalars = [scalar for _, scalar in plan.items]
    image: dict[Row, Row] = dict(
        zip(rows, run.compute(scalars, plan.child.schema, rows), strict=True)
    )

    def mapped(t: int) -> Snapshot:
        return Counter(image[row] for row in child.at(t).elements())

    return LogicalStream.build(run.horizon, mapped)
