"""Extremes in one phase and in two, in partitions, against the reference."""

from __future__ import annotations

import pytest

from tests.random.plans import may_stay_open
from tests.runtime.cases import check_plan_on, make_case
from tidemill.algebra import Aggregate, AggregateCall, Plan, TimeWindow
from tidemill.physical.lowering import lower
from tidemill.physical.operators.merge import MergeExec
from tidemill.runtime.fabric import InProcess
from tidemill.stages import stage_plans


def extremes(plan: Plan) -> Plan:
    """The smallest and the largest value of every column, at every instant."""
    calls = [
        AggregateCall(f"{function}:{name}", function, name, plan.schema[name])
        for name in plan.schema.names
        for function in ("MIN", "MAX")
    ]
    return Aggregate(plan, (), tuple(calls))


@pytest.mark.parametrize("windowed", [False, True], ids=["plain", "windowed"])
@pytest.mark.parametrize("seed", range(40))
def test_extremes_are_those_of_the_reference(seed: int, windowed: bool) -> None:
    """Over rows of any type, with NULL and NaN; a window above wants rows of single instants."""
    case, below, _ = make_case("plans", seed)
    if windowed and may_stay_open(below):
        pytest.skip("a row for every instant, for ever")
    plan = TimeWindow(extremes(below), 3, 1) if windowed else extremes(below)
    check_plan_on(InProcess(2 + seed % 3, packs=True), plan, case.inputs)


def test_there_is_something_to_check() -> None:
    """Extremes in two phases, in one, and of single instants, which are not merged."""
    plans = [stage_plans([lower(extremes(make_case("plans", n)[1]), {})]) for n in range(40)]
    merging = [sum(isinstance(node, MergeExec) for node in plan.walk()) for plan in plans]
    assert all(merging.count(number) >= 3 for number in (0, 1, 2))
