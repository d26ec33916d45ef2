"""The worked examples of the PIPES text, through the reference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from sqlglot import exp

from tests.golden import formulas, laws, plans
from tests.golden.loader import (
    Case,
    cases,
    logical_source,
    logical_stream,
    physical_source,
    physical_stream,
    raw_source,
    row,
    scan_of,
)
from tidemill.algebra import Granularity, Plan, SourceKind, TimeWindow
from tidemill.reference import LogicalStream, SourceData, evaluate

FILES = ("logical", "windows_advance", "cql", "granularity", "physical")

NOT_RUN = {
    "physical.to_positive_negative": "converts intervals to changes; has no logical counterpart",
    "physical.heartbeat_progress": "arithmetic on watermarks; has no logical counterpart",
}

# They change how intervals are cut, and no snapshot: as plans they are the identity.
IDENTITIES = {"split", "coalesce"}

# These plans are printed as text only.
PLANS: dict[str, Callable[[Plan], Plan]] = {
    "granularity.plan.count": lambda s: _count(Granularity(TimeWindow(s, 12), 5)),
    "granularity.plan.before_window": lambda s: _count(TimeWindow(Granularity(s, 5), 12)),
}


def _count(child: Plan) -> Plan:
    return plans.build("scalar_aggregation", {"aggregate": "COUNT"}, child)


def test_every_case_is_run_or_excused() -> None:
    everything = {case.id for file in FILES for case in cases(file)}
    run = [case.id for check in CHECKS for case in selected(check)]
    assert Counter(run) == Counter(everything - NOT_RUN.keys())
    assert everything >= NOT_RUN.keys()


def check_operator(case: Case) -> None:
    assert result(plan_of(case), case) == expected(case)


def check_formula_semi_join(case: Case) -> None:
    left, right = leaves(case)
    assert case.params["theta"] == "left != right"
    assert result(formulas.formula_semi_join(left, right, exp.NEQ), case) == expected(case)
    # SQL's EXISTS keeps each left row once, whatever the number of partners.
    ours = result(plans.build("semi_join", case.params, left, right), case)
    assert ours.at(4) == Counter({("a",): 3, ("b",): 1, ("c",): 1})


def check_textual_plan(case: Case) -> None:
    (leaf,) = leaves(case, physical=True)
    plan = PLANS[case.id](leaf)
    logical = not case.physical
    found = evaluate(plan, sources(case, physical=True), case.horizon, logical_granularity=logical)
    assert found == expected(case)


def check_grouping(case: Case) -> None:
    (leaf,) = leaves(case)
    groups = plans.groups(case.params, leaf)
    assert groups.keys() == case.expected.keys()
    for name, plan in groups.items():
        assert result(plan, case) == logical_stream(case.expected[name], case.horizon)


def check_raw(case: Case) -> None:
    ((name, stream),) = case.inputs.items()
    leaf = scan_of(name, stream, SourceKind.STREAM)
    assert evaluate(leaf, {name: raw_source(stream)}, case.horizon) == expected(case)


def check_physical_to_logical(case: Case) -> None:
    (leaf,) = leaves(case, physical=True)
    assert evaluate(leaf, sources(case, physical=True), case.horizon) == expected(case)


def check_equivalence(case: Case) -> None:
    one, other = (result(leaf, case) for leaf in leaves(case))
    assert (one == other) is case.expected


def check_timeslice(case: Case) -> None:
    (leaf,) = leaves(case)
    wanted = Counter({row(value): copies for value, copies in case.expected})
    assert result(leaf, case).at(case.params["at"]) == wanted


def check_window_intervals(case: Case) -> None:
    for facts in case.facts["instances"]:
        horizon = facts["t"] + 2 * (facts["size"] + facts["slide"])
        leaf = scan_of("S", [["a", 0]], SourceKind.STREAM)
        window = plans.build("time_window", facts, leaf)
        found = evaluate(window, {"S": [({"v": "a"}, facts["t"])]}, horizon)
        interval = [["a", *facts["expected"]]] if facts["expected"] else []
        assert found == physical_stream(interval, horizon), facts


def check_interval_subtraction(case: Case) -> None:
    for facts in case.facts["instances"]:
        streams = {name: [["a", *facts[name]]] for name in ("interval", "minus")}
        scans = [scan_of(name, s, SourceKind.INTERVALS) for name, s in streams.items()]
        data = {name: physical_source(s) for name, s in streams.items()}
        found = evaluate(plans.build("difference", {}, *scans), data, 20)
        assert found == physical_stream([["a", *rest] for rest in facts["expected"]], 20), facts


CHECKS: dict[Callable[[Case], None], Callable[[Case], bool]] = {
    check_operator: lambda case: (
        case.operator in plans.OPERATORS | IDENTITIES and case.id != "logical.semi_join.not_equal"
    ),
    check_formula_semi_join: lambda case: case.id == "logical.semi_join.not_equal",
    check_textual_plan: lambda case: case.operator == "plan",
    check_grouping: lambda case: case.operator == "grouping",
    check_raw: lambda case: case.operator in {"raw_to_logical", "raw_to_physical"},
    check_physical_to_logical: lambda case: case.operator == "physical_to_logical",
    check_equivalence: lambda case: case.operator == "snapshot_equivalent",
    check_timeslice: lambda case: case.operator == "timeslice",
    check_window_intervals: lambda case: case.operator == "time_window_interval",
    check_interval_subtraction: lambda case: case.operator == "interval_subtraction",
}


def selected(check: Callable[[Case], None]) -> list[Case]:
    return [case for file in FILES for case in cases(file) if CHECKS[check](case)]


RUNS = [pytest.param(check, case, id=case.id) for check in CHECKS for case in selected(check)]


@pytest.mark.parametrize(("check", "case"), RUNS)
def test_case(check: Callable[[Case], None], case: Case) -> None:
    check(case)


CHANGES = [case for case in cases("cql") if case.operator in {"istream", "dstream"}]


@pytest.mark.parametrize("case", CHANGES, ids=lambda case: case.id)
def test_changes_are_what_the_words_say(case: Case) -> None:
    (leaf,) = leaves(case)
    came = result(plans.build("istream", {}, leaf), case)
    assert came == result(formulas.istream_in_words(leaf), case)
    # The words date a deletion at the first instant without the row, we at the last with it.
    gone = result(plans.build("dstream", {}, leaf), case)
    later = result(formulas.dstream_in_words(leaf), case)
    assert [gone.at(t) for t in range(case.horizon)] == [
        later.at(t + 1) for t in range(case.horizon)
    ]


@pytest.mark.parametrize("case", cases("laws"), ids=lambda case: case.id)
def test_law(case: Case) -> None:
    left, right = (laws.result(case, laws.side(case, side)) for side in ("left", "right"))
    assert (left == right) is case.facts["holds"]
    if not case.facts["holds"]:
        check_first_difference(case.facts["differs_at"], left, right)


def check_first_difference(facts: Any, left: LogicalStream, right: LogicalStream) -> None:
    differing = [t for t in range(left.horizon + 1) if left.at(t) != right.at(t)]
    assert differing[0] == facts["t"]
    for side, found in (("left", left), ("right", right)):
        assert found.at(facts["t"]) == Counter({row(value): n for value, n in facts[side]})


def plan_of(case: Case) -> Plan:
    operator = "identity" if case.operator in IDENTITIES else case.operator
    return plans.build(operator, case.params, *leaves(case))


def result(plan: Plan, case: Case) -> LogicalStream:
    logical = not case.physical
    return evaluate(plan, sources(case), case.horizon, logical_granularity=logical)


def leaves(case: Case, physical: bool | None = None) -> list[Plan]:
    is_physical = case.physical if physical is None else physical
    kind = SourceKind.INTERVALS if is_physical else SourceKind.STREAM
    return [scan_of(name, stream, kind) for name, stream in case.inputs.items()]


def sources(case: Case, physical: bool | None = None) -> dict[str, SourceData]:
    is_physical = case.physical if physical is None else physical
    load = physical_source if is_physical else logical_source
    return {name: load(stream) for name, stream in case.inputs.items()}


def expected(case: Case) -> LogicalStream:
    if case.physical:
        return physical_stream(case.expected, case.horizon)
    return logical_stream(case.expected, case.horizon, case.facts.get("expected_open_from"))
