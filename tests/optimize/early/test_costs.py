"""The text's cost formulas on the golden settings, to a millionth."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from experiments.early.costs import (
    Stream,
    Terms,
    Tuning,
    Work,
    generic_work,
    hash_work,
    memory,
    nested_loop_work,
    output_buckets,
    output_size,
    plan_costs,
    printed_equation_20,
)
from tests.golden.early import cases, points, streams
from tidemill.optimize.early.choice import choose
from tidemill.optimize.early.plans import Masks, all_masks, plan_name

PRINTED = "EAP10_eq20_as_printed"

COSTED = [
    pytest.param(case["id"], *point, id=f"{case['id']}-{number}")
    for case in cases().values()
    if case["id"].startswith(("figure_4", "figure_5", "figure_6", "sweep"))
    for number, point in enumerate(points(case))
]


def exactly(numbers: Any) -> Any:
    return pytest.approx(numbers, rel=1e-6)


def work(case: str, setting: Mapping[str, Any], masks: Masks) -> Work:
    nested = "nlj" in case or case == "figure_6_showcases"
    formula = nested_loop_work if nested else hash_work
    return formula(streams(setting), masks, setting["B"])


def masks_of(setting: Mapping[str, Any]) -> Masks:
    return all_masks([True] * len(setting["rate"]))


def by_name(setting: Mapping[str, Any], values: Any) -> dict[str, Any]:
    return dict(zip(map(plan_name, masks_of(setting)), values, strict=True))


@pytest.mark.parametrize(("case", "setting", "expected"), COSTED)
def test_golden_costs(case: str, setting: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    found = by_name(setting, work(case, setting, masks_of(setting)))
    if PRINTED in expected.get("coefficients", {}):
        first, second = streams(setting)
        found[PRINTED] = printed_equation_20(first, second, setting["B"])
    for name, parts in expected.get("coefficients", {}).items():
        assert [*found[name], found[name].sum()] == exactly(list(parts.values()))
    tuning = setting.get("tuning", {"P": 1, "U": 1, "Ug": 1})
    costs = {name: parts @ list(tuning.values()) for name, parts in found.items()}
    stated = expected.get("cost", expected.get("unit_cost", {}))
    assert {name: costs[name] for name in stated} == exactly(stated)


@pytest.mark.parametrize(("case", "setting", "expected"), COSTED)
def test_derived_parameters(
    case: str, setting: Mapping[str, Any], expected: Mapping[str, Any]
) -> None:
    inputs, largest = streams(setting), setting["B"]
    found = {"al": output_size(inputs), "B_g": output_buckets(inputs, largest)}
    for number, stream in enumerate(inputs, 1):
        found[f"al{number}"] = stream.set_size
        found[f"m{number}"] = stream.window_matches
        found[f"n{number}"] = stream.set_matches
        found[f"B{number}"] = stream.buckets(largest)
    stated = expected.get("derived", {})
    assert {name: found[name] for name in stated} == exactly(stated)


@pytest.mark.parametrize(("case", "setting", "expected"), COSTED)
def test_golden_rankings(
    case: str, setting: Mapping[str, Any], expected: Mapping[str, Any]
) -> None:
    def ranking(tuning: Tuning) -> list[str]:
        def price(masks: Masks) -> Any:
            return plan_costs(work(case, setting, masks), np.zeros(len(masks)), tuning)

        choice = choose(price, [True] * len(setting["rate"]))
        assert choice.mask == choice.ranking[0][0]
        return [plan_name(mask) for mask, _ in choice.ranking]

    if "ranking_unit_tuning" in expected:
        assert ranking(Tuning()) == expected["ranking_unit_tuning"]
    if "expected_best" in expected:
        assert ranking(Tuning())[0] == expected["expected_best"]
    for part in expected.get("cheapest_by_ratio", []):
        low, high = part["Ug_over_P_from"], part["Ug_over_P_to"]
        middle = low + 1 if high is None else (low + high) / 2
        assert ranking(Tuning(group=middle))[0] in part["cheapest"]


def test_generic_formulas() -> None:
    case = cases()["generic_cost_instance"]
    given = case["inputs"]
    inputs = [
        Terms(
            rate=given[f"l{i}"],
            window_matches=given[f"m{i}"],
            set_matches=given[f"n{i}"],
            update_window=np.array([given[f"Cuw{i}"]]),
            match_window=np.array([given[f"CfmtW{i}"]]),
            match_set=np.array([given[f"CfmtAS{i}"]]),
            update_set=np.array([given[f"CiauAS{i}"]]),
        )
        for i in (1, 2)
    ]
    masks = all_masks([True, True])
    costs = generic_work(inputs, np.array([given["CiauAS"]]), masks)[:, 0]
    names = ["C_" + plan_name(mask).replace("P", "") for mask in masks]
    found = dict(zip(names, costs.tolist(), strict=True))
    assert found == exactly(case["expected"])


def test_memory_of_windows_and_sets() -> None:
    inputs = [Stream(1, 100, 3, 0.1), Stream(1, 50, 2, 0.5)]
    tuning = Tuning(byte=0.5, row_bytes=10, group_bytes=20)
    held = memory(inputs, all_masks([True, True]), tuning)
    assert held.tolist() == [1500 + 20 * (6 + s) for s in (0, 4, 30, 34)]
    work = np.zeros((4, 3))
    assert plan_costs(work, held, tuning).tolist() == (held / 2).tolist()


def test_dear_memory_makes_the_late_plan_best() -> None:
    setting = cases()["figure_4_default_hash"]["inputs"]
    inputs = streams(setting)

    def best(byte: float) -> str:
        def price(masks: Masks) -> Any:
            tuning = Tuning(byte=byte)
            done = hash_work(inputs, masks, setting["B"])
            return plan_costs(done, memory(inputs, masks, tuning), tuning)

        return plan_name(choose(price, [True, True]).mask)

    assert [best(0), best(10), best(10_000)] == ["EAP11", "EAP01", "LAP"]
