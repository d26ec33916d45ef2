"""Which rows an operator remembers: others need not be kept to get its state back."""

from __future__ import annotations

from collections.abc import Mapping

from tidemill.algebra.nodes import SourceKind
from tidemill.fragments.stages import EdgeExec, Stage
from tidemill.physical.filter import FilterExec
from tidemill.physical.lookup import LookupExec
from tidemill.physical.operator import Exec
from tidemill.physical.project import ProjectExec
from tidemill.physical.reference_point import ReferencePointExec
from tidemill.physical.star import AssignPartitionExec
from tidemill.physical.time_window import TimeWindowExec
from tidemill.physical.union import UnionExec
from tidemill.timeline import OPEN_END


def traced(stage: Stage, watermarks: Mapping[int, int]) -> frozenset[int]:
    """The leaves of a stage, by tag, whose rows leave a trace in its state in a tick."""
    found: set[int] = set()
    for _, root in stage.outputs:
        _collect(root, False, watermarks, found)
    return frozenset(found)


def _collect(node: Exec, kept: bool, watermarks: Mapping[int, int], found: set[int]) -> None:
    match node:
        case EdgeExec():
            if kept:
                found.add(node.tag)
        case FilterExec() | ProjectExec() | TimeWindowExec() | UnionExec() | ReferencePointExec():
            for child in node.children:
                _collect(child, kept, watermarks, found)
        case LookupExec() | AssignPartitionExec():
            rows, relation = node.children
            # Rows wait for a relation that is not complete.
            waits = not (isinstance(node, LookupExec) and node.source is SourceKind.CHANGING)
            waits = waits and any(watermarks[tag] < OPEN_END for tag in _tags(relation))
            _collect(rows, kept or waits, watermarks, found)
            _collect(relation, True, watermarks, found)
        case _:
            for child in node.children:
                _collect(child, True, watermarks, found)


def _tags(plan: Exec) -> list[int]:
    return [node.tag for node in plan.walk() if isinstance(node, EdgeExec)]
