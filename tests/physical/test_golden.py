"""The worked examples of the PIPES text, through the physical operators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import polars as pl
import pytest
from sqlglot import exp

from tests.checking.changes import from_changes
from tests.golden import formulas, plans
from tests.golden.loader import (
    Case,
    cases,
    logical_stream,
    physical_source,
    raw_source,
    scan_of,
)
from tests.physical.running import as_elements, in_order, run_exec, run_plan
from tests.reference.test_golden import PLANS, expected, leaves, plan_of, sources
from tidemill.algebra import SourceKind
from tidemill.physical.mechanisms.changes import snapshot, to_changes
from tidemill.physical.operator import Exec
from tidemill.physical.operators.coalesce import CoalesceExec
from tidemill.physical.operators.source import SourceExec
from tidemill.physical.operators.split import SplitExec
from tidemill.physical.operators.union import UnionExec
from tidemill.testing import assert_snapshots_equal

FILES = ("logical", "windows_advance", "cql", "granularity", "physical")

TICKS = [pytest.param(1000, id="one tick"), pytest.param(1, id="a tick per row")]

NOT_RUN = {
    "logical.semi_join.not_equal": "formula 8.11 repeats rows, SQL does not; see the reference",
    "granularity.plan.before_window": "evaluated with the logical reading of granularity",
}


def check_elements(case: Case, rows_per_tick: int) -> None:
    """The very intervals that the incremental algorithms produce."""
    found = run_plan(plan_of(case), sources(case), rows_per_tick)
    assert as_elements(found) == in_order(case.expected)


def check_snapshots(case: Case, rows_per_tick: int) -> None:
    found = run_plan(plan_of(case), sources(case), rows_per_tick)
    assert_snapshots_equal(found.to_arrow(), expected(case), _instants(case))


def check_textual_plan(case: Case, rows_per_tick: int) -> None:
    (leaf,) = leaves(case, physical=True)
    found = run_plan(PLANS[case.id](leaf), sources(case, physical=True), rows_per_tick)
    assert as_elements(found) == in_order(case.expected)


def check_cut(case: Case, rows_per_tick: int) -> None:
    """Split and coalesce, which exist only as physical operators."""
    (leaf,) = (SourceExec(scan) for scan in leaves(case))  # type: ignore[arg-type]
    node: Exec = (
        SplitExec(leaf, case.params["length"])
        if case.operator == "split"
        else CoalesceExec(leaf, case.params["max_length"])
    )
    found = run_exec(node, sources(case), rows_per_tick)
    assert as_elements(found) == in_order(case.expected)


def check_changes(case: Case, rows_per_tick: int) -> None:
    """Intervals as changes, and back again."""
    (leaf,) = leaves(case, physical=True)
    rows = run_plan(leaf, sources(case, physical=True), rows_per_tick)
    changes = to_changes(rows)
    assert in_order(map(list, changes.iter_rows())) == in_order(case.expected)
    assert as_elements(from_changes(changes)) == as_elements(rows)


def check_grouping(case: Case, rows_per_tick: int) -> None:
    (leaf,) = leaves(case)
    for name, plan in plans.groups(case.params, leaf).items():
        found = run_plan(plan, sources(case), rows_per_tick)
        wanted = logical_stream(case.expected[name], case.horizon)
        assert_snapshots_equal(found.to_arrow(), wanted, range(case.horizon + 1))


def check_raw(case: Case, rows_per_tick: int) -> None:
    ((name, stream),) = case.inputs.items()
    leaf = scan_of(name, stream, SourceKind.STREAM)
    found = run_plan(leaf, {name: raw_source(stream)}, rows_per_tick)
    assert_snapshots_equal(found.to_arrow(), expected(case), range(case.horizon + 1))


def check_intervals_read(case: Case, rows_per_tick: int) -> None:
    """Intervals read as snapshots: at every instant, or for two streams compared."""
    results = [
        run_plan(leaf, sources(case, physical=True), rows_per_tick)
        for leaf in leaves(case, physical=True)
    ]
    if case.operator == "physical_to_logical":
        assert_snapshots_equal(results[0].to_arrow(), expected(case), range(case.horizon + 1))
        return
    one, other = ([_at(rows, t) for t in range(case.horizon + 1)] for rows in results)
    assert (one == other) is case.expected


def check_timeslice(case: Case, rows_per_tick: int) -> None:
    (leaf,) = leaves(case)
    rows = run_plan(leaf, sources(case), rows_per_tick)
    assert _at(rows, case.params["at"]) == Counter({(v,): n for v, n in case.expected})


def check_window_intervals(case: Case, rows_per_tick: int) -> None:
    for facts in case.facts["instances"]:
        leaf = scan_of("S", [["a", 0]], SourceKind.STREAM)
        window = plans.build("time_window", facts, leaf)
        found = run_plan(window, {"S": [({"v": "a"}, facts["t"])]}, rows_per_tick)
        assert as_elements(found) == ([["a", *facts["expected"]]] if facts["expected"] else [])


def check_interval_subtraction(case: Case, rows_per_tick: int) -> None:
    for facts in case.facts["instances"]:
        streams = {name: [["a", *facts[name]]] for name in ("interval", "minus")}
        scans = [scan_of(name, s, SourceKind.INTERVALS) for name, s in streams.items()]
        data = {name: physical_source(s) for name, s in streams.items()}
        found = run_plan(plans.build("difference", {}, *scans), data, rows_per_tick)
        assert as_elements(found) == [["a", *rest] for rest in facts["expected"]]


def check_heartbeats(case: Case, rows_per_tick: int) -> None:
    """Time goes on with the slowest input; a heartbeat moves its input alone."""
    leaf = SourceExec(scan_of("S", [["a", 0, 1]], SourceKind.STREAM))
    nothing = run_exec(leaf, {"S": []}, rows_per_tick)
    operator = UnionExec(leaf, leaf).operator()
    for facts in case.facts["instances"]:
        marks = list(facts["latest"])
        marks[facts["heartbeat"]["input"] - 1] = facts["heartbeat"]["t"]
        assert operator.step([nothing] * len(marks), marks)[1] == facts["expected"]


def _at(rows: pl.DataFrame, instant: int) -> Counter[tuple[object, ...]]:
    return Counter(snapshot(rows, instant).iter_rows())


def _instants(case: Case) -> range:
    """Granularity is exact at multiples of the granule only, by the logical reading."""
    step = case.params.get("granule", 1) if case.operator == "granularity" else 1
    return range(0, case.horizon + 1, step)


def _is_operator(case: Case) -> bool:
    return case.operator in plans.OPERATORS and case.id not in NOT_RUN


CHECKS: dict[Callable[[Case, int], None], Callable[[Case], bool]] = {
    check_elements: lambda c: _is_operator(c) and c.facts.get("compare") == "elements",
    check_snapshots: lambda c: _is_operator(c) and c.facts.get("compare") != "elements",
    check_textual_plan: lambda c: c.operator == "plan" and c.id not in NOT_RUN,
    check_cut: lambda c: c.operator in {"split", "coalesce"},
    check_changes: lambda c: c.operator == "physical_to_pn",
    check_grouping: lambda c: c.operator == "grouping",
    check_raw: lambda c: c.operator in {"raw_to_logical", "raw_to_physical"},
    check_intervals_read: lambda c: c.operator in {"physical_to_logical", "snapshot_equivalent"},
    check_timeslice: lambda c: c.operator == "timeslice",
    check_window_intervals: lambda c: c.operator == "time_window_interval",
    check_interval_subtraction: lambda c: c.operator == "interval_subtraction",
    check_heartbeats: lambda c: c.operator == "time_progress",
}


def selected(check: Callable[[Case, int], None]) -> list[Case]:
    return [case for file in FILES for case in cases(file) if CHECKS[check](case)]


def test_every_case_is_run_or_excused() -> None:
    everything = {case.id for file in FILES for case in cases(file)}
    run = [case.id for check in CHECKS for case in selected(check)]
    assert Counter(run) == Counter(everything - NOT_RUN.keys())


RUNS = [pytest.param(check, case, id=case.id) for check in CHECKS for case in selected(check)]


@pytest.mark.parametrize("rows_per_tick", TICKS)
@pytest.mark.parametrize(("check", "case"), RUNS)
def test_case(check: Callable[[Case, int], None], case: Case, rows_per_tick: int) -> None:
    check(case, rows_per_tick)


def test_formula_of_the_semi_join() -> None:
    """The plan of formula 8.11 runs, too, and repeats rows as the formula says."""
    (case,) = (c for c in cases("logical") if c.id == "logical.semi_join.not_equal")
    left, right = leaves(case)
    found = run_plan(formulas.formula_semi_join(left, right, exp.NEQ), sources(case), 1000)
    assert_snapshots_equal(found.to_arrow(), expected(case), range(case.horizon + 1))
