"""Operators on whole rows, each with its start and end, where snapshots do not tell enough.

A granule that changes is that: which one a row is rounded to depends on when it started. Only
plans whose rows are whole (`tidemill.algebra.whole_rows`) have a meaning here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tidemill.algebra import Filter, Granularity, Plan, Project, TimeWindow, Union, Unnest
from tidemill.algebra.adjusting import size_at
from tidemill.reference.rows import unnested_rows
from tidemill.reference.run import ReferenceRun
from tidemill.reference.stream import LogicalStream, WholeRow
from tidemill.timeline import OPEN_END

WholeRows = list[WholeRow]


def of_instants(stream: LogicalStream) -> WholeRows:
    """Rows that hold for one instant each."""
    return [(row, t, t + 1) for t, snapshot in stream.items() for row in snapshot.elements()]


def time_window(plan: TimeWindow, child: LogicalStream) -> WholeRows:
    """A row of instant t holds from its next move to that of t + size, after the delay."""
    found: WholeRows = []
    for row, came, _ in of_instants(child):
        size, t = size_at(plan.size, plan.changes, came), came + plan.delay
        end = OPEN_END if size is None else _next(t + size + 1, plan.slide) - 1
        found.append((row, _next(t + 1, plan.slide) - 1, end))
    return found


def filtered(plan: Filter, run: ReferenceRun, child: WholeRows) -> WholeRows:
    """The rows for which the predicate is true."""
    kept = run.accepted(plan.predicate, plan.child.schema, [row for row, _, _ in child])
    return [each for each in child if each[0] in kept]


def projected(plan: Project, run: ReferenceRun, child: WholeRows) -> WholeRows:
    """Every row mapped."""
    scalars = [scalar for _, scalar in plan.items]
    images = run.compute(scalars, plan.child.schema, [row for row, _, _ in child])
    return [(row, start, end) for row, (_, start, end) in zip(images, child, strict=True)]


def unnested(plan: Unnest, run: ReferenceRun, child: WholeRows) -> WholeRows:
    """The elements of every row, for as long as it holds."""
    images = unnested_rows(plan, run, [row for row, _, _ in child])
    pairs = zip(images, child, strict=True)
    return [(new, start, end) for made, (_, start, end) in pairs for new in made]


def granularity(plan: Granularity, run: ReferenceRun, child: WholeRows) -> WholeRows:
    """Start and end rounded up to multiples of the granule that was in force at the start."""
    found: WholeRows = []
    for row, start, end in child:
        granule = size_at(plan.granule, plan.changes, start)
        assert granule is not None
        found.append((row, _next(start, granule), _next(end, granule)))
    return found


def united(plan: Union, run: ReferenceRun, left: WholeRows, right: WholeRows) -> WholeRows:
    """The rows of both sides."""
    return left + right


OPERATORS: Mapping[type[Plan], Callable[..., WholeRows]] = {
    Filter: filtered,
    Project: projected,
    Unnest: unnested,
    Granularity: granularity,
    Union: united,
}


def _next(t: int, step: int) -> int:
    """The first multiple of a step at or after t."""
    return -(-t // step) * step
