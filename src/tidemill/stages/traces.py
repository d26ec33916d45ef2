"""Which rows an operator remembers: others need not be kept to get its state back."""

from __future__ import annotations

from collections.abc import Mapping

from tidemill.physical.operator import Exec
from tidemill.stages.stages import ReceiveExec, Stage
from tidemill.timeline import OPEN_END


def traced(stage: Stage, watermarks: Mapping[int, int]) -> frozenset[int]:
    """The leaves of a stage, by tag, whose rows leave a trace in its state in a tick."""
    found: set[int] = set()
    for _, root in stage.outputs:
        _collect(root, False, watermarks, found)
    return frozenset(found)


def _collect(node: Exec, kept: bool, watermarks: Mapping[int, int], found: set[int]) -> None:
    if isinstance(node, ReceiveExec):
        found |= {node.tag} if kept else set()
        return
    # Only what has several inputs may wait for the last of them.
    tags = _tags(node.children[-1]) if len(node.children) > 1 else []
    complete = all(watermarks[tag] == OPEN_END for tag in tags)
    for child, keeps in zip(node.children, node.remembers(complete), strict=True):
        _collect(child, kept or keeps, watermarks, found)


def _tags(plan: Exec) -> list[int]:
    return [node.tag for node in plan.walk() if isinstance(node, ReceiveExec)]
