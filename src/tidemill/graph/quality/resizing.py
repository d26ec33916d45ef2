"""Changes of sizes as revisions of running plans."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from tidemill.algebra.adjusting import Changes
from tidemill.algebra.plan import Memo
from tidemill.errors import TidemillError
from tidemill.graph.quality.granules import next_instant
from tidemill.physical.adjusting import AdjustableExec
from tidemill.physical.operator import Exec
from tidemill.physical.operators.filter import FilterExec
from tidemill.physical.operators.granularity import GranularityExec
from tidemill.physical.operators.project import ProjectExec
from tidemill.physical.operators.time_window import TimeWindowExec
from tidemill.physical.operators.union import UnionExec
from tidemill.runtime.operator_progress import OperatorProgress
from tidemill.timeline import BEGIN, add


def resized(
    roots: Mapping[str, Exec],
    changes: Mapping[str, tuple[int, int]],
    settled: Mapping[str, int] = MappingProxyType({}),
) -> tuple[dict[str, Exec], dict[Exec, Exec]]:
    """The plans with a change (t, size) more at some knobs, and what each new part was before.

    Changes that were planned for t or later are forgotten. If it is known until when a knob is
    `settled`, so are changes that have no meaning any more for rows from then on.
    """
    resizing = _Resizing(changes, settled)
    new = {name: resizing.of(plan) for name, plan in roots.items()}
    return new, resizing.carried


class _Resizing:
    def __init__(self, changes: Mapping[str, tuple[int, int]], settled: Mapping[str, int]) -> None:
        self._changes = changes
        self._settled = settled
        self.of = Memo(self._changed)
        self.carried: dict[Exec, Exec] = {}

    def _changed(self, plan: Exec) -> Exec:
        new = plan.with_children([self.of(child) for child in plan.children])
        if isinstance(new, AdjustableExec) and new.knob in self._changes:
            at, size = self._changes[new.knob]
            changes = _pruned(new, _extended(new, at, size), self._settled.get(new.knob, BEGIN))
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


def _pruned(node: AdjustableExec, changes: Changes, settled: int) -> Changes:
    """Without the changes whose rows have all come and, as far as is known, have all ended.

    The first size stays, although no row will have it: what was decided by it stays as it is.
    """
    while len(changes) > 1:
        (_, size), (until, _) = changes[:2]
        longest = 1
        if isinstance(node, TimeWindowExec):
            longest = add(size, node.delay + node.slide - 1)
        if until - 1 + longest > settled:
            break
        changes = changes[1:]
    return changes


Running = Mapping[Exec, OperatorProgress]


def earliest_change(nodes: Iterable[AdjustableExec], size: int, at: int, running: Running) -> int:
    """The first instant from `at` on at which operators may be given another size.

    Rows that have come keep the size that they have, so a change is about others. A granule
    becomes finer only at an instant of the coarser one.
    """
    nodes = list(nodes)
    at = max([at, *(_latest_start(child, running) + 1 for child in _inputs(nodes))])
    granules = [node for node in nodes if isinstance(node, GranularityExec)]
    while (then := max((_next(node, size, at) for node in granules), default=at)) != at:
        at = then  # another granule may be in force there
    return at


def _next(node: GranularityExec, size: int, at: int) -> int:
    granule = node.size_at(at - 1)
    assert granule is not None
    return next_instant(granule, size, at)


def settled_until(nodes: Iterable[AdjustableExec], running: Running) -> int:
    """Before which instant no row will start any more that comes to operators."""
    known = [running[child].watermark for child in _inputs(nodes) if child in running]
    return min(known, default=BEGIN)


def _inputs(nodes: Iterable[AdjustableExec]) -> list[Exec]:
    return [child for node in nodes for child in node.children]


def _latest_start(node: Exec, running: Running) -> int:
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
    return running[node].latest_end - 1 if node in running else BEGIN - 1
