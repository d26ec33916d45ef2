"""The golden runs: every plan shows the same aggregation set after every step."""

from collections.abc import Mapping
from itertools import pairwise, product
from typing import Any

import pytest

from tests.golden.early import cases
from tests.optimize.early.algorithm import AggregationSet, Execution, Input, Totals, coalesced


def data(case: Mapping[str, Any]) -> Mapping[str, Any]:
    """A run's inputs; some share the rows of another."""
    inputs = case["inputs"]
    other = inputs.get("same_data_as")
    return data(cases()[other]) | inputs if other else inputs


RUNS = [case for case in cases().values() if "steps" in case["expected"]]
PLANS = [
    pytest.param(case, mask, id=f"{case['id']}-{''.join(map(str, mask))}")
    for case in RUNS
    for mask in product((0, 1), repeat=len(data(case)["query"]["streams"]))
]


@pytest.mark.parametrize(("case", "mask"), PLANS)
def test_golden_run(case: Mapping[str, Any], mask: tuple[int, ...]) -> None:
    given = data(case)
    execution = Execution.of(given["query"], given["rows"], mask)
    for step in case["expected"]["steps"]:
        changes = execution.step(step["t"])
        assert execution.shown() == step["AS"], step["t"]
        if "join_rows" in step:
            shown = sum(totals.count for totals in execution.result.groups.values())
            assert shown == step["join_rows"]
        for kind in ("increment", "decrement"):
            for name, times in step.get(kind, {}).items():
                assert [row[f"{name}.ts"] for row in changes[kind][name]] == times
        if "EA" in step and all(mask):
            assert early_sets(execution, case["expected"]["EA_columns"]) == step["EA"]


def early_sets(execution: Execution, columns: Mapping[str, list[str]]) -> dict[str, Any]:
    """Early aggregation sets with the columns that the golden data names."""
    shown = {}
    for name, source in execution.inputs.items():
        calls = [
            text.rstrip(")").split("(") for text in columns[name] if text.isupper() or "(" in text
        ]
        shown[name] = [
            [
                *key,
                *(totals.value(f, *(f"{name}.{a}" for a in rest or ["*"])) for f, *rest in calls),
            ]
            for key, totals in sorted(source.set.groups.items())
        ]
    return shown


def join_rows(case: Mapping[str, Any], plan: str) -> list[int]:
    """Rows handed to the late aggregate, by step."""
    given = data(case)
    execution = Execution.of(given["query"], given["rows"], [digit == "1" for digit in plan])
    counts = [0]
    for time in given["step_times"]:
        execution.step(time)
        counts.append(execution.join_rows)
    return [after - before for before, after in pairwise(counts)]


def test_join_rows_by_plan() -> None:
    expected = cases()["run_two_streams_join_rows_by_plan"]["expected"]
    for plan, total in expected["total"].items():
        found = join_rows(cases()["run_two_streams"], plan)
        assert found == [step["rows"][plan] for step in expected["per_step"]]
        assert sum(found) == total


def test_join_rows_of_three_inputs() -> None:
    case = cases()["run_three_streams"]
    totals = case["expected"]["join_rows_by_plan_total"]
    assert {plan: sum(join_rows(case, plan)) for plan in totals} == totals


@pytest.mark.parametrize("id", ["window_definition", "step_longer_than_window"])
def test_windows(id: str) -> None:
    given, expected = cases()[id]["inputs"], cases()[id]["expected"]
    source = Input([(ts, {"ts": ts}) for ts in given["timestamps"]], given["T"], [], None)
    before, now = given["t1"], given["t2"]
    found = {
        "window_t1": source.increment(before - given["T"], before),
        "increment": source.increment(before, now),
        "decrement": source.decrement(before, now),
        "window_t2": source.increment(now - given["T"], now),
    }
    assert {name: [row["ts"] for row in rows] for name, rows in found.items()} == expected


def test_coalescing_function() -> None:
    given, expected = cases()["coalescing_function"]["inputs"], cases()["coalescing_function"]
    found = coalesced([Totals.of({"a": given["a"]}), Totals(given["c"])])
    assert {f: found.value(f, "a") for f in expected["expected"]} == expected["expected"]


def test_three_way_coalescing() -> None:
    case = cases()["three_way_coalescing"]
    sets = [case["inputs"]["AS1"], case["inputs"]["AS3"]]
    one, three = (
        Totals(s["COUNT"], {name: v for name, v in s.items() if name.startswith("SUM")})
        for s in sets
    )
    found = coalesced([one, Totals(1), three])
    assert found.sums | {"COUNT": found.count} == case["expected"]


def test_aggregation_set_update() -> None:
    case = cases()["as_update"]
    found, rows = AggregationSet(), []
    for step, expected in zip(case["inputs"]["steps"], case["expected"]["after"], strict=True):
        [(kind, (group, value))] = step.items()
        if kind == "add":
            rows.append((group, value))
            found.add((group,), Totals.of({"a": value}))
        else:
            rows.remove((group, value))
            left = (Totals.of({"a": v}) for g, v in rows if g == group)
            found.subtract((group,), Totals.of({"a": value}), left)
        functions = case["expected"]["columns"][1:]
        shown = [[*key, *(t.value(f, "a") for f in functions)] for key, t in found.groups.items()]
        assert sorted(shown) == expected


def test_example_4() -> None:
    case = cases()["example_4_numeric"]
    one, matches = case["inputs"]["s1"], case["inputs"]["s2_matches"]
    query = {
        "streams": [
            {"name": "S1", "columns": ["ts", "g1", "j", "a1"], "window": 9},
            {"name": "S2", "columns": ["ts", "g2", "j", "a2"], "window": 9},
        ],
        "join": [["S1.j", "S2.j"]],
        "group_by": ["S1.g1", "S2.g2"],
        "aggregates": ["SUM(S1.a1)", "SUM(S2.a2)", "COUNT(*)"],
    }
    second = [[0, match["g2"], one["j"], match["a2"]] for match in matches]
    rows = {"S1": [[1, one["g1"], one["j"], one["a1"]]], "S2": second}
    for early, count in ((False, "late_join_rows"), (True, "early_join_rows")):
        execution = Execution.of(query, rows, [False, early])
        execution.step(1)
        execution.step(2)
        expected = [
            [*part["group"], part["SUM_A1"], part["SUM_A2"], part["COUNT"]]
            for part in case["expected"]["increase"]
        ]
        assert execution.shown() == expected
        assert execution.join_rows == case["expected"][count]
