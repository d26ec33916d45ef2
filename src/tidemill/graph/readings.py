"""Sources in a running graph: which of its readings of a source a new query joins."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from itertools import count
from typing import TypeGuard

from tidemill.algebra.nodes import SourceKind
from tidemill.algebra.plan import Plan
from tidemill.graph.missing import Missing
from tidemill.physical.operator import Exec
from tidemill.physical.operators.source import SourceExec
from tidemill.runtime.operator_progress import OperatorProgress


def with_readings(
    plan: Exec,
    running: Mapping[Exec, OperatorProgress],
    missing: Missing,
    refillable: Collection[str] = (),
    before: Collection[SourceExec] = (),
) -> Exec:
    """The plan over those readings of its relations that have missed the least.

    Rows of a relation come once, with the first tick of a reading. What begins later can go on
    from where another query has taken them in, or has to read them again. So it is with streams
    whose rows are kept for a while: they are `refillable`. Leaves that ran `before`, in the last
    tick, and do not run now have had their rows, and do not begin anew.
    """
    again = {leaf.scan.source for leaf in _leaves(plan) if _can_begin_anew(leaf, refillable)}
    if not again:
        return plan
    known = {leaf.reading for leaf in running if _reads(leaf, again)}
    # Of one reading, some leaves may be gone and others, with other columns, still run.
    gone = {leaf for leaf in before if _reads(leaf, again) and leaf not in running}
    used = known | {leaf.reading for leaf in gone}
    fresh = next(number for number in count() if number not in used)
    choices = [_reading(plan, number, again) for number in sorted({*known, fresh})]
    choices = [choice for choice in choices if gone.isdisjoint(_leaves(choice))]
    # Of equally good ones, the first is shared with most other queries.
    return min(choices, key=missing.until)


def _reads(leaf: Exec, sources: Collection[str]) -> TypeGuard[SourceExec]:
    return isinstance(leaf, SourceExec) and leaf.scan.source in sources


def _can_begin_anew(leaf: SourceExec, refillable: Collection[str]) -> bool:
    return leaf.scan.kind is not SourceKind.STREAM or leaf.scan.source in refillable


def _leaves(plan: Plan) -> list[SourceExec]:
    return [node for node in plan.walk() if isinstance(node, SourceExec)]


def _reading(plan: Exec, number: int, sources: Collection[str]) -> Exec:
    return plan.rewrite(
        lambda node: replace(node, reading=number) if _reads(node, sources) else node
    )
