"""Eager plans: those that tell how far they have come, even if nothing changes."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from tidemill.algebra.plan import Plan
from tidemill.physical.coalesce import CoalesceExec
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
    FilterExec,
    GranularityExec,
    HandOverExec,
    MergeExec,
    ProjectExec,
    RowNumberExec,
    TimeWindowExec,
    UnionExec,
)
"""The watermark of these is that of their inputs. Other operators made their inputs eager."""


def eager(plan: Plan) -> Exec:
    """The plan with open results cut now and then at the top, so that its watermark goes on.

    >>> from tidemill.algebra import Scan, Schema
    >>> from tidemill.physical.aggregate import AggregateExec
    >>> from tidemill.physical.source import SourceExec
    >>> count = AggregateExec(SourceExec(Scan("s", "s", Schema.of())), (), (), (), ())
    >>> eager(MergeExec(count)).child.eager
    True
    """
    return _with_eager(plan, True)


def patient(plan: Plan) -> Exec:
    """The plan with open results that wait for their ends, since nobody above waits for them."""
    return _with_eager(plan, False)


def _with_eager(plan: Plan, value: bool) -> Exec:
    assert isinstance(plan, Exec)
    if isinstance(plan, _PASSING):
        return plan.with_children([_with_eager(child, value) for child in plan.children])
    if isinstance(plan, LookupExec):
        return replace(plan, left=_with_eager(plan.left, value))
    if any(field.name == "eager" for field in fields(plan)):
        telling: Any = plan
        result: Exec = replace(telling, eager=value)
        return result
    return plan
