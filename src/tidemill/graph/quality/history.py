"""Histories: with which sizes a result was computed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from tidemill.algebra.plan import Plan, carried_down
from tidemill.graph.quality.knobs import adjustable_nodes
from tidemill.physical.adjusting import AdjustableExec
from tidemill.physical.operator import Exec
from tidemill.physical.operators.filter import FilterExec
from tidemill.physical.operators.granularity import GranularityExec
from tidemill.physical.operators.istream import DstreamExec, IstreamExec
from tidemill.physical.operators.project import ProjectExec
from tidemill.physical.operators.time_window import TimeWindowExec
from tidemill.physical.operators.union import UnionExec
from tidemill.timeline import BEGIN, OPEN_END, add


class SizeSetting(NamedTuple):
    """A size, and the instant since which starting rows have it."""

    since: int
    size: int


Histories = Mapping[str, tuple[SizeSetting, ...]]
"""The settings of every knob, in their order."""


def recorded(histories: Histories, running: Iterable[Plan]) -> dict[str, tuple[SizeSetting, ...]]:
    """Histories with what parts of a graph say now. Knobs that are gone are forgotten.

    What was planned, and is not any more, is taken back.
    """
    found: dict[str, tuple[SizeSetting, ...]] = {}
    for knob, (node, *_) in adjustable_nodes(running).items():
        assert node.first is not None
        first = SizeSetting(BEGIN, node.first)
        now = [SizeSetting(*change) for change in node.changes] or [first]
        past = histories.get(knob, (first,))
        found[knob] = (*(each for each in past if each.since < now[0].since), *now)
    return found


def settings(
    plan: Exec, histories: Histories, start: int, end: int
) -> dict[str, list[SizeSetting]]:
    """The settings that a result was computed with that holds in [start, end), by knob.

    These are more than those in force in that time: rows that came before still count, with the
    size that they have. How long a row of a count window holds is not known, so all settings
    before the end are given for these.
    """
    return {knob: sorted(found) for knob, found in _needed([plan], histories, start, end).items()}


def pruned(
    histories: Histories, plans: Iterable[Exec], start: int
) -> dict[str, tuple[SizeSetting, ...]]:
    """What is left once results that start before an instant are no longer asked about."""
    needed = _needed(plans, histories, start, OPEN_END)
    return {knob: tuple(sorted(found)) for knob, found in needed.items()}


def _needed(
    plans: Iterable[Exec], histories: Histories, start: int, end: int
) -> dict[str, set[SizeSetting]]:
    """The settings on which the rows of plans in [start, end) depend."""
    looking = _Looking(histories)
    for _ in carried_down(plans, (start, end), looking.needed_below):
        pass
    return looking.found


class _Looking:
    """Goes down a plan from what is asked for to the rows that it depends on."""

    def __init__(self, histories: Histories) -> None:
        self._histories = histories
        self.found: dict[str, set[SizeSetting]] = {}

    def needed_below(self, plan: Exec, needed: tuple[int, int]) -> list[tuple[int, int]]:
        """Of which time rows of the inputs are needed, if rows of a part in [start, end) are."""
        start, end = needed
        if isinstance(plan, AdjustableExec):
            start = self._adjusted(plan, start, end)
        if isinstance(plan, IstreamExec | DstreamExec):
            start, end = max(start - 1, BEGIN), add(end, 1)
        return [(start, end)] * len(plan.children)

    def _adjusted(self, node: AdjustableExec, start: int, end: int) -> int:
        """Take note of the settings of an operator; the first instant that it depends on."""
        earliest = start
        regimes = self._regimes(node)
        for setting, until in zip(regimes, [*regimes[1:], SizeSetting(OPEN_END, 0)], strict=True):
            longest = self._longest(node, setting.size)
            last = min(until.since, end) - 1  # the last row of this size that may matter
            if setting.since <= last and add(last, longest) > start:
                earliest = min(earliest, max(setting.since, start - longest + 1))
                if node.knob:
                    self.found.setdefault(node.knob, set()).add(setting)
        return max(earliest, BEGIN)

    def _regimes(self, node: AdjustableExec) -> tuple[SizeSetting, ...]:
        if node.knob in self._histories:
            return self._histories[node.knob]
        first = OPEN_END if node.first is None else node.first
        return (SizeSetting(BEGIN, first), *(SizeSetting(*change) for change in node.changes))

    def _longest(self, node: AdjustableExec, size: int) -> int:
        """For how long after it comes a row may hold, with a size."""
        match node:
            case TimeWindowExec():
                return add(size, node.delay + node.slide - 1)
            case GranularityExec():
                return add(self._length(node.child), size - 1)
        return OPEN_END

    def _length(self, plan: Exec) -> int:
        """For how long a row of a plan may hold."""
        if plan.validity.chronon:
            return 1
        match plan:
            case TimeWindowExec() | GranularityExec():
                return max(self._longest(plan, setting.size) for setting in self._regimes(plan))
            case FilterExec() | ProjectExec() | UnionExec():
                return max(map(self._length, plan.children))
        return OPEN_END
