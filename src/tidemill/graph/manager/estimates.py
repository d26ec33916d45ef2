"""What a whole graph will need, every shared part once, at any sizes of its windows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from tidemill.algebra.nodes import Adjustable, Aggregate, Scan, TimeWindow
from tidemill.algebra.plan import Plan
from tidemill.graph.manager.calibration import Calibration, Sums
from tidemill.optimize.conditions import localized
from tidemill.optimize.cost.estimates import Estimator
from tidemill.optimize.cost.state import kind_of
from tidemill.optimize.cost.usage import CostModel, Usage
from tidemill.optimize.statistics import Statistics
from tidemill.physical.adjusting import AdjustableExec
from tidemill.physical.operator import Exec

GROWS = 1e9
"""More rows than any machine keeps: no size bounds them, so they are left to be measured."""

_STATELESS = {"scan", "filter", "project", "time window", "granularity", "union"}
"""Kinds of operators that keep nothing."""


@dataclass
class Part:
    """An operator: the node that it stands for, what it was estimated to need, and its knobs.

    `plan` is that of its result; `own` tells whether it stands for a node of its own. `span` is
    the longest window below it whose size does not change; `born` is when it began, `spent` the
    seconds that it had worked at the last look.
    """

    number: int
    plan: Plan
    own: bool
    knobs: frozenset[str]
    span: int = 0
    born: int = 0
    spent: float = 0.0
    usage: Usage | None = None

    @property
    def kind(self) -> str:
        return kind_of(type(self.plan)) or type(self.plan).__name__.lower()


class GraphEstimates:
    """The estimates of a graph: memory in bytes, processing in seconds of a core per instant.

    A part is looked at again only if a knob below it was set to another size. Without `work`, only
    memory is estimated, which is faster.
    """

    def __init__(self, statistics: Statistics | None = None, work: bool = True) -> None:
        self.calibration = Calibration()
        self.parts: dict[Exec, Part] = {}
        self.sizes: dict[str, int] = {}
        self._work = work
        self._windows: dict[str, list[Adjustable]] = {}
        self._above: dict[str, list[Part]] = {}
        self._sums: dict[str, Sums] = {}
        self._count = 0
        self._known(statistics or Statistics())

    def learn(self, statistics: Statistics) -> None:
        """Estimate everything again, with what is known now."""
        self._known(statistics)
        self._tell_shares(part.plan for part in self.parts.values())
        self._estimate(self.parts.values())

    def revise(
        self, nodes: Iterable[Exec], carried: Mapping[Exec, Exec] | None = None, now: int = 0
    ) -> None:
        """These operators run from now on, inputs first; `carried` are those that go on as others.

        They keep what was estimated, although their sizes may be others: those are set with `at`.
        """
        for new, old in (carried or {}).items():
            if old in self.parts:
                self.parts.setdefault(new, self.parts.pop(old))
        there = dict.fromkeys(nodes)
        self._drop(self.parts.keys() - there.keys())
        self.extend(there, now)

    def extend(self, nodes: Iterable[Exec], now: int = 0) -> None:
        """These operators come, inputs first, if they are not there yet."""
        added = [self._add(node, now) for node in nodes if node not in self.parts]
        self._tell_shares(part.plan for part in added)
        self._estimate(added)

    def at(self, sizes: Mapping[str, int]) -> Usage:
        """What the graph needs if its knobs are set to these sizes; others stay as they are."""
        known = self.sizes
        changed = [n for n, size in sizes.items() if n in known and known[n] != size]
        for name in changed:
            self.sizes[name] = sizes[name]
            for window in self._windows[name]:
                # These nodes are ours alone, and known by identity: the estimates of all parts
                # above can stay where they are.
                object.__setattr__(window, "changes", ((0, sizes[name]),))
        above = {part.number: part for name in changed for part in self._above[name]}
        self._estimate(above[number] for number in sorted(above))
        return self.calibration.usage(self._sums)

    @property
    def ranges(self) -> list[str]:
        """The knobs of windows of time."""
        return [n for n, windows in self._windows.items() if isinstance(windows[0], TimeWindow)]

    @property
    def usage(self) -> Usage:
        """What the graph needs at the sizes that were set last."""
        return self.calibration.usage(self._sums)

    def of(self, node: Exec) -> Usage:
        """What one operator needs."""
        part = self.parts[node]
        return Usage() if part.usage is None else self.calibration.of(part.kind, part.usage)

    def rate(self, node: Exec) -> float:
        """Rows that an operator gives per instant."""
        return self._estimator.rate(self.parts[node].plan)

    def _known(self, statistics: Statistics) -> None:
        self._told = statistics
        self._shares: dict[str, float] = {}
        self._scans: dict[tuple[str, str], Scan] = {}
        self._estimator = Estimator(Statistics(statistics.streams, self._shares))
        self._model = CostModel(self._estimator)

    def _tell_shares(self, plans: Iterable[Plan]) -> None:
        """What is known about conditions, in the words of the scans among these plans."""
        scans = {(plan.source, plan.alias): plan for plan in plans if isinstance(plan, Scan)}
        new = [scan for names, scan in scans.items() if names not in self._scans]
        self._scans |= scans
        if new:
            self._shares |= localized(self._told.selectivities, self._scans.values())

    def _add(self, node: Exec, now: int) -> Part:
        inputs = [self.parts[child] for child in node.children]
        plan = _without_distinct(node, node.meaning([part.plan for part in inputs]))
        knob = knob_of(node)
        knobs = frozenset({knob} - {""}).union(*(part.knobs for part in inputs))
        own = all(plan is not part.plan for part in inputs)
        span = max([0 if knob else _span(plan), *(part.span for part in inputs)])
        part = Part(self._count, plan, own, knobs, span, now)
        self._count += 1
        self.parts[node] = part
        for name in knobs if own else ():
            self._above.setdefault(name, []).append(part)
        if knob and isinstance(plan, Adjustable) and plan.current is not None:
            self._windows.setdefault(knob, []).append(plan)
            self.sizes.setdefault(knob, plan.current)
        return part

    def _drop(self, gone: Iterable[Exec]) -> None:
        dropped = [self.parts.pop(node) for node in list(gone)]
        numbers = {part.number for part in dropped}
        for part in dropped:
            self._take(part, -1)
        for name in {name for part in dropped for name in part.knobs}:
            self._above[name] = [p for p in self._above[name] if p.number not in numbers]
            known = {id(part.plan) for part in self._above[name]}
            self._windows[name] = [w for w in self._windows[name] if id(w) in known]
            if not self._windows[name]:
                del self._windows[name], self._above[name], self.sizes[name]

    def _estimate(self, parts: Iterable[Part]) -> None:
        """Inputs come first."""
        own = [part for part in parts if part.own]
        self._estimator.forget(part.plan for part in own)
        for part in own:
            if not self._work and part.kind in _STATELESS:
                continue
            if part.usage is not None:
                self._take(part, -1)
            part.usage = _bounded(self._model.of(part.plan, self._work))
            self._take(part, 1)

    def _take(self, part: Part, sign: int) -> None:
        if part.usage is not None:
            self._sums.setdefault(part.kind, Sums()).add(part.usage, sign)


def _without_distinct(node: Exec, plan: Plan) -> Plan:
    """What counts distinct values reads inputs of its own, with estimates of their own."""
    if not isinstance(plan, Aggregate) or len(node.children) == 1:
        return plan
    return replace(plan, calls=tuple(call for call in plan.calls if not call.distinct))


def knob_of(node: Exec) -> str:
    """The name of the knob that sets an operator's size; none, if nothing does."""
    return node.knob if isinstance(node, AdjustableExec) else ""


def _span(plan: Plan) -> int:
    return plan.size or 0 if isinstance(plan, TimeWindow) else 0


def _bounded(usage: Usage) -> Usage:
    return Usage(seconds=usage.seconds) if usage.state_rows > GROWS else usage
