"""Relations in a running graph: which of its readings of a relation a new query joins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tidemill.algebra.nodes import SourceKind
from tidemill.algebra.plan import Plan
from tidemill.graph.missing import Missing
from tidemill.physical.operator import Exec
from tidemill.physical.source import SourceExec
from tidemill.runtime.graph import NodeProgress


def with_readings(plan: Exec, running: Mapping[Exec, NodeProgress], missing: Missing) -> Exec:
    """The plan over readings of its relations of which it has missed the least.

    Rows of a relation come once, with the first tick of a reading. What begins later can go on
    from where another query has taken them in, or has to read them again.
    """
    relations = {leaf.scan.source for leaf in _relations(plan)}
    if not relations:
        return plan
    known = {leaf for leaf in running if isinstance(leaf, SourceExec)}
    readings = sorted({leaf.reading for leaf in known if leaf.scan.source in relations})
    fresh = max(readings, default=-1) + 1
    choices = [_reading(plan, number) for number in [*readings, fresh]]
    # Of equally good ones, the first is shared with most other queries.
    return min(choices, key=missing.until)


def _relations(plan: Plan) -> list[SourceExec]:
    leaves = [node for node in plan.walk() if isinstance(node, SourceExec)]
    return [leaf for leaf in leaves if leaf.scan.kind is not SourceKind.STREAM]


def _reading(plan: Exec, number: int) -> Exec:
    done: dict[int, Plan] = {}

    def changed(node: Plan) -> Plan:
        if id(node) not in done:
            if isinstance(node, SourceExec) and node.scan.kind is not SourceKind.STREAM:
                done[id(node)] = replace(node, reading=number)
            else:
                done[id(node)] = node.with_children([changed(child) for child in node.children])
        return done[id(node)]

    result = changed(plan)
    assert isinstance(result, Exec)
    return result
