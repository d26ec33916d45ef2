"""Relations in plans."""

from __future__ import annotations

from tidemill.algebra.nodes import (
    VERSION,
    CountWindow,
    Dstream,
    Filter,
    Granularity,
    Istream,
    Project,
    Rstream,
    Scan,
    SessionWindow,
    SourceKind,
    TimeWindow,
)
from tidemill.algebra.plan import Plan


def relation_scan(plan: Plan) -> Scan | None:
    """The scan of a relation, below filters and projections; None if a plan is something else.

    >>> from tidemill.algebra import Schema
    >>> label = Scan("label", "l", Schema.of(), SourceKind.CONSTANT)
    >>> print(relation_scan(Project(label, ())))
    01 Scan label as l columns=[] constant
    >>> relation_scan(Scan("bid", "b", Schema.of()))
    """
    match plan:
        case Scan():
            return None if plan.kind is SourceKind.STREAM else plan
        case Filter() | Project():
            return relation_scan(plan.child)
    return None


def is_constant(plan: Plan) -> bool:
    """Whether all rows of a plan hold from the beginning, for ever.

    >>> from tidemill.algebra import Distinct, Schema, TimeWindow
    >>> label = Scan("label", "l", Schema.of(), SourceKind.CONSTANT)
    >>> is_constant(Distinct(label)), is_constant(TimeWindow(label, 5))
    (True, False)
    """
    match plan:
        case Scan():
            return plan.kind is SourceKind.CONSTANT
        case TimeWindow() | CountWindow() | SessionWindow() | Granularity():
            return False
        case Istream() | Dstream() | Rstream():
            return False
    return all(map(is_constant, plan.children))


def is_changing(plan: Plan) -> bool:
    """Whether a plan is a relation whose rows are inserted and deleted."""
    scan = relation_scan(plan)
    return scan is not None and scan.kind is SourceKind.CHANGING


def version_column(plan: Plan) -> str | None:
    """The column of a plan that tells the rows of a time-varying relation apart, if it has one."""
    return next((name for name in plan.schema.names if name.endswith(VERSION)), None)
