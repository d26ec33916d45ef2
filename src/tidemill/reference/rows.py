"""Operators that look at single rows: filter, map and unnest."""

from __future__ import annotations

from collections import Counter

from tidemill.algebra import Filter, Project, Unnest
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


def unnested(plan: Unnest, run: ReferenceRun, child: LogicalStream) -> LogicalStream:
    """Every copy of a row as often as its list has elements."""
    rows = child.rows()
    images = dict(zip(rows, unnested_rows(plan, run, rows), strict=True))

    def made(t: int) -> Snapshot:
        return Counter(new for row in child.at(t).elements() for new in images[row])

    return LogicalStream.build(run.horizon, made)


def unnested_rows(plan: Unnest, run: ReferenceRun, rows: list[Row]) -> list[list[Row]]:
    """For each row, those that its list makes of it, in their order."""
    schema, width = plan.child.schema, len(plan.made)
    kept = [schema.names.index(name) for name in plan.kept]
    found = []
    for row, (values,) in zip(rows, run.compute([plan.values], schema, rows), strict=True):
        new = [(value, place)[:width] for place, value in enumerate(values or (), 1)]
        if not new and plan.outer:
            new = [(None,) * width]
        found.append([tuple(row[at] for at in kept) + each for each in new])
    return found
