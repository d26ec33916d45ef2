"""Plans whose sizes are changed while they run, at random instants."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count
from random import Random
from typing import Any

from tests.checking.plans import reference_of
from tests.checking.sources import opener
from tests.random.case import Case
from tests.random.plans import PlanGenerator
from tidemill.algebra import Plan, render
from tidemill.algebra.nodes import Adjustable, CountWindow, Granularity, TimeWindow
from tidemill.algebra.plan import nodes_of
from tidemill.algebra.whole_rows import has_whole_rows
from tidemill.connectors.sinks import SinkRequest
from tidemill.graph.quality import (
    Histories,
    earliest_change,
    recorded,
    resized,
    settings,
    settled_until,
)
from tidemill.graph.quality.knobs import adjustable_nodes
from tidemill.optimize import optimize
from tidemill.physical.lowering import lower
from tidemill.physical.operator import Exec
from tidemill.runtime.fabric import InProcess
from tidemill.runtime.interface import Job, Root
from tidemill.runtime.run import Run
from tidemill.testing.reference import check_result
from tidemill.testing.snapshots import Element, elements
from tidemill.timeline import BEGIN, TimeDomain

_LARGEST = 9


@dataclass(frozen=True)
class AdaptingCase(Case):
    """A plan with knobs: its answers must be exact for the sizes in force, and tell them."""

    plan: Plan
    random: Random

    def check(self) -> None:
        run = _Adapted(self)
        run.to_the_end()
        whole = with_histories(self.plan, run.histories)
        try:
            check_result(run.answers, reference_of(whole, self.inputs))
            for _ in range(3):
                self._check_settings(run, whole)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{render(whole)}") from error

    def _check_settings(self, run: _Adapted, whole: Plan) -> None:
        """Rows of sizes that are not told have no part in a result: they might as well be gone."""
        start = self.random.randrange(30)
        end = start + self.random.randint(1, 5)
        told = settings(run.plan, run.histories, start, end)
        other = {
            knob: tuple(
                each if each in told.get(knob, ()) else each._replace(size=1) for each in history
            )
            for knob, history in run.histories.items()
        }
        expected, found = (
            reference_of(plan, self.inputs) for plan in (whole, with_histories(self.plan, other))
        )
        for t in range(start, min(end, found.horizon + 1)):
            assert found.at(t) == expected.at(t), f"at {t}, told for [{start}, {end}): {told}"

    @property
    def text(self) -> str:
        return render(self.plan)


class _Adapted:
    """A run in this process; between two ticks, knobs are turned."""

    def __init__(self, case: AdaptingCase) -> None:
        self._random = case.random
        self.plan: Exec = lower(optimize(case.plan), {})
        self.answers: list[Element] = []
        self.histories: Histories = recorded({}, nodes_of(self.plan))
        self._run = Run(InProcess(case.random.randint(1, 2)), opener(case.inputs.sources()))
        self._sink = SinkRequest(lambda table, _: self.answers.extend(elements(table)))
        self._revise({})

    def to_the_end(self) -> None:
        while self._run.has_more:
            self._run.tick()
            assert not self._run.failures, self._run.failures
            if self._random.random() < 0.4:
                self._turn()

    def _turn(self) -> None:
        knobs = sorted(self.histories)
        chosen = self._random.sample(knobs, self._random.randint(0, len(knobs)))
        changes = {knob: self._change(knob) for knob in chosen}
        nodes = adjustable_nodes(nodes_of(self.plan))
        some = self._random.sample(knobs, len(knobs) // 2)
        settled = {knob: settled_until(nodes[knob], self._run.nodes) for knob in some}
        plans, carried = resized({"q": self.plan}, changes, settled)
        self.plan = plans["q"]
        self._revise(carried)
        self.histories = recorded(self.histories, nodes_of(self.plan))

    def _change(self, knob: str) -> tuple[int, int]:
        nodes = adjustable_nodes(nodes_of(self.plan))[knob]
        size = self._random.randint(1, _LARGEST)
        at = earliest_change(nodes, size, BEGIN, self._run.nodes)
        if self._random.random() < 0.6:
            at = earliest_change(nodes, size, at + self._random.randint(1, 5), self._run.nodes)
        return at, size

    def _revise(self, carried: dict[Exec, Exec]) -> None:
        root = Root(Job(self.plan, TimeDomain.TICKS, self._sink), BEGIN)
        self._run.revise({"q": root}, carried)


def random_adjustable(random: Random) -> Plan:
    """A random plan with a knob at every window and granularity that can be adjusted."""
    numbers = count(1)

    def with_knob(node: Plan) -> Plan:
        if not isinstance(node, Adjustable) or node.first is None or random.random() < 0.2:
            return node
        if isinstance(node, Granularity) and not has_whole_rows(node.child):
            return node
        node = replace(node, knob=f"k{next(numbers)}")
        above = not isinstance(node, Granularity | CountWindow) and random.random() < 0.2
        return with_knob(Granularity(node, random.randint(1, 4))) if above else node

    return PlanGenerator(random).plan(random.choice([1, 1, 2])).rewrite(with_knob)


def with_histories(plan: Plan, histories: Histories) -> Plan:
    """The plan with all changes that there were, as its definition wants them."""

    def sized(node: Plan) -> Plan:
        if not isinstance(node, Adjustable) or node.knob not in histories:
            return node
        first, *changes = histories[node.knob]
        field: dict[str, Any] = {_FIELDS[type(node)]: first.size}
        return replace(node, **field, changes=tuple((at, size) for at, size in changes))

    return plan.rewrite(sized)


_FIELDS = {TimeWindow: "size", CountWindow: "rows", Granularity: "granule"}
