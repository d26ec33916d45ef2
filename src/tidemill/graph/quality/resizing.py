"""Changes of sizes as revisions of running plans."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from tidemill.algebra.adjusting import Changes
from tidemill.algebra.plan import Plan
from tidemill.errors import TidemillError
from tidemill.graph.quality.granules import next_instant
from tidemill.graph.quality.knobs import adjustable_nodes
from tidemill.physical.adjusting import AdjustableExec
from tidemill.physical.filter import FilterExec
from tidemill.physical.granularity import GranularityExec
from tidemill.physical.operator import Exec
from tidemill.physical.project import ProjectExec
from tidemill.physical.time_window import TimeWindowExec
from tidemill.physical.union import UnionExec
from tidemill.runtime.graph import NodeProgress
from tidemill.timeline import BEGIN


def resized(
    roots: Mapping[str, Exec],
    changes: Mapping[str, tuple[int, int]],
    settled: Mapping[str, int] = MappingProxyType({}),
) -> tuple[dict[str, Exec], dict[Exec, Exec]]:
    """The plans with a change (t, size) more at some knobs, and what each new part was before.

    Changes that were planned for t or later are forgotten. If it is known until when a knob is
    `settled`, so are all sizes of that time but the last.
    """
    resizing = _Resizing(changes, settled)
    new = {name: resizing.of(plan) for name, plan in roots.items()}
    return new, resizing.carried


class _Resizing:
    def __init__(self, changes: Mapping[str, tuple[int, int]], settled: Mapping[str, int]) -> None:
        self._changes = changes
        self._settled = settled
        self._done: dict[int, Exec] = {}
        self._kept: list[Exec] = []  # else another could get the identity of one that is gone
        self.carried: dict[Exec, Exec] = {}

    def of(self, plan: Plan) -> Exec:
        assert isinstance(plan, Exec)
        if id(plan) not in self._done:
            self._done[id(plan)] = self._changed(plan)
            self._kept.append(plan)
        return self._done[id(plan)]

    def _changed(self, plan: Exec) -> Exec:
        new: Exec = plan.with_children([self.of(child) for child in plan.children])
        if isinstance(new, AdjustableExec) and new.knob in self._changes:
            at, size = self._changes[new.knob]
            changes = _pruned(_extended(new, at, size), self._settled.get(new.knob, BEGIN))
            if changes != new.changes:
                new = replace(new, changes=changes)
        if new is not plan and new != plan:
            self.carried[new] = plan
        return new


def _extended(node: AdjustableExec, at: int, size: int) -> Changes:
    before = tuple(change for change in node.changes if change[0] < at)
    known = before[-1][1] if before else node.first
    assert known is not None
    if isinstance(node, GranularityExec) and (then := next_instant(known, size, at)) != at:
        raise TidemillError(
            f"a granule of {known} cannot become {size} at {at}: rows would start out of order",
            help=f"change it at an instant of the coarser granule: {then} is the next",
        )
    return before if known == size else (*before, (at, size))


def _pruned(changes: Changes, settled: int) -> Changes:
    """Without changes that another follows before any row can come.

    The first size stays, although no row will have it: what was decided by it stays as it is.
    """
    past = [change for change in changes if change[0] <= settled]
    return changes[max(len(past) - 1, 0) :]


def earliest_change(knob: str, running: Mapping[Exec, NodeProgress]) -> int:
    """The first instant at which no row has come yet to the operators of a knob.

    A row keeps the size that it was given, so a change must not be about one that is there.
    """
    inputs = _inputs(knob, running)
    return max((_latest_start(child, running) + 1 for child in inputs), default=BEGIN)


def settled_until(knob: str, running: Mapping[Exec, NodeProgress]) -> int:
    """Before which instant no row will start any more that comes to the operators of a knob."""
    return min((running[child].watermark for child in _inputs(knob, running)), default=BEGIN)


def _inputs(knob: str, running: Mapping[Exec, NodeProgress]) -> list[Exec]:
    nodes = adjustable_nodes(running).get(knob, [])
    return [child for node in nodes for child in node.children if isinstance(child, Exec)]


def _latest_start(node: Plan, running: Mapping[Exec, NodeProgress]) -> int:
    """An instant after which no row of a part has started yet."""
    match node:
        case FilterExec() | ProjectExec() | UnionExec():
            return max(_latest_start(child, running) for child in node.children)
        case TimeWindowExec():
            child = _latest_start(node.child, running)
            return int(node.interval(np.array([child]))[0][0])
        case GranularityExec():
            child = _latest_start(node.child, running)
            return child + max(node.granule, *(size for _, size in node.changes), 1) - 1
    assert isinstance(node, Exec)
    return running[node].latest_end - 1
