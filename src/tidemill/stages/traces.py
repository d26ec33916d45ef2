"""Which rows an operator remembers: others need not be kept to get its state back."""

from __future__ import annotations

from collections.abc import Mapping

from tidemill.algebra.plan import carried_down
from tidemill.physical.operator import Exec
from tidemill.stages.stages import ReceiveExec, Stage
from tidemill.timeline import OPEN_END


def traced(stage: Stage, watermarks: Mapping[int, int]) -> frozenset[int]:
    """The leaves of a stage, by tag, whose rows leave a trace in its state in a tick."""

    def onward(node: Exec, kept: bool) -> list[bool]:
        if not node.children:
            return []
        # Only what has several inputs may wait for the last of them.
        tags = _tags(node.children[-1]) if len(node.children) > 1 else []
        complete = all(watermarks[tag] == OPEN_END for tag in tags)
        return [kept or keeps for keeps in node.remembers(complete)]

    parts = carried_down((root for _, root in stage.outputs), False, onward)
    return frozenset(node.tag for node, kept in parts if kept and isinstance(node, ReceiveExec))


def _tags(plan: Exec) -> list[int]:
    return [node.tag for node in plan.walk() if isinstance(node, ReceiveExec)]
