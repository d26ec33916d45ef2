"""Eager plans: those that tell how far they have come, even if nothing changes."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from tidemill.algebra.plan import Plan
from tidemill.physical.coalesce import CoalesceExec
from tidemill.physical.cut import CutExec
from tidemill.physical.filter import FilterExec
from tidemill.physical.granularity import GranularityExec
from tidemill.physical.hand_over import HandOverExec
from tidemill.physical.lookup import LookupExec
from tidemill.physical.merge import MergeExec
from tidemill.physical.operator import Exec
from tidemill.physical.project import ProjectExec
from tidemill.physical.row_number import RowNumberExec
from tidemill.physical.time_window import TimeWindowExec
from tidemill.physical.union import UnionExec

_PASSING = (
    CoalesceExec,
    CutExec,
    FilterExec,
    GranularityExec,
    HandOverExec,
    MergeExec,
    ProjectExec,
    RowNumberExec,
    TimeWindowExec,
    UnionExec,
)
"""The watermark of these is that of their inputs; what waits for its inputs made them eager."""


def eager(plan: Plan) -> Exec:
    """The plan with open results cut now and then at the top, so that its watermark goes on.

    >>> from tidemill.algebra import Scan, Schema
    >>> from tidemill.physical.filter import FilterExec
    >>> from tidemill.physical.aggregate import AggregateExec
    >>> from tidemill.physical.source import SourceExec
    >>> count = AggregateExec(SourceExec(Scan("s", "s", Schema.of())), (), (), (), ())
    >>> eager(MergeExec(count)).child.eager
    True
    """
    assert isinstance(plan, Exec)
    if isinstance(plan, _PASSING):
        return plan.with_children([eager(child) for child in plan.children])
    if isinstance(plan, LookupExec):
        return replace(plan, left=eager(plan.left))
    if any(field.name == "eager" for field in fields(plan)):
        telling: Any = plan
        result: Exec = replace(telling, eager=True)
        return result
    return plan
