"""The formulas of chapter 22 against every number of the golden data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from experiments.pipes import resources
from tests.golden.loader import contents
from tidemill.optimize.cost import characteristics as formulas
from tidemill.optimize.cost.characteristics import Characteristics

Given = Mapping[str, Any]


def stream(given: Given, number: str = "") -> Characteristics:
    return Characteristics(given[f"d{number}"], given.get(f"l{number}", 1), given.get("g", 1))


def union(given: Given) -> Characteristics:
    inputs = zip(given["d"], given["l"], strict=True)
    return formulas.united([Characteristics(*each, given["g"]) for each in inputs])


def aggregated_regularly(given: Given) -> Characteristics:
    """Remark 22.1: distance and length are constant and one divides the other, so that starts
    meet ends."""
    return replace(stream(given), length=stream(given).distance)


CHARACTERISTICS: dict[str, Callable[[Given], Characteristics]] = {
    "filter": lambda g: formulas.filtered(stream(g), g["sel"]),
    "map": lambda g: formulas.mapped(stream(g)),
    "union": union,
    "cartesian_product": lambda g: formulas.product(stream(g, "1"), stream(g, "2")),
    "theta_join": lambda g: formulas.joined(stream(g, "1"), stream(g, "2"), g["sel_join"]),
    "duplicate_elimination": lambda g: formulas.deduplicated(stream(g), g["n"]),
    "scalar_aggregation": lambda g: formulas.aggregated(stream(g)),
    "scalar_aggregation.regular": aggregated_regularly,
    "grouping_aggregation": lambda g: formulas.grouped(stream(g), g["n"]),
    "split": lambda g: formulas.split(stream(g), g["l_split"]),
    "granularity": lambda g: formulas.coarsened(stream(g), g["g_new"]),
    "time_window": lambda g: formulas.time_window(stream(g), g["w"]),
    "count_window": lambda g: formulas.count_window(stream(g), g["N"]),
    "partitioned_window": lambda g: formulas.partitioned_window(stream(g), g["n"], g["N"]),
}


def instances(prefix: str) -> list[Any]:
    """The instances of all cases whose names start so, with the rest of the name."""
    return [
        pytest.param(case["id"].removeprefix(prefix), instance, id=f"{case['id']}-{number}")
        for case in contents("cost_model")["cases"]
        if case["id"].startswith(prefix)
        for number, instance in enumerate(case["instances"])
    ]


@pytest.mark.parametrize(("name", "instance"), instances("cost.chars."))
def test_characteristics(name: str, instance: dict[str, Any]) -> None:
    found = CHARACTERISTICS[name](instance["given"])
    named = {"d_out": found.distance, "l_out": found.length, "g_out": found.granularity}
    assert named == pytest.approx(instance["expected"], rel=1e-9)


def use_of_union(given: Given) -> resources.Resources:
    return resources.of_union([Characteristics(d, 1) for d in given["d"]], given)


# Constants are looked up by name, so the given values serve as costs and sizes.
RESOURCES: dict[str, Callable[[Given], resources.Resources]] = {
    "filter": lambda g: resources.of_filter(stream(g), g["sel"], g),
    "map": lambda g: resources.of_map(stream(g), g),
    "union": use_of_union,
    "join": lambda g: resources.of_join(stream(g, "1"), stream(g, "2"), g["sel_join"], g, g),
    "duplicate_elimination": lambda g: resources.of_deduplication(stream(g), g["n"], g, g),
    "scalar_aggregation": lambda g: resources.of_aggregation(stream(g), g, g),
    "grouping_aggregation": lambda g: resources.of_grouping(stream(g), g["n"], g, g),
    "split": lambda g: resources.of_split(stream(g), g["l_split"], g, g),
    "granularity": lambda g: resources.of_granularity(stream(g), g["g_new"], g),
    "time_window": lambda g: resources.of_time_window(stream(g), g),
    "count_window": lambda g: resources.of_count_window(stream(g), g["N"], g, g),
    "partitioned_window": lambda g: resources.of_partitioned_window(
        stream(g), g["n"], g["N"], g, g
    ),
}

INTERMEDIATE = {"d_out", "state", "dg", "dg_out", "Cg_init", "Cg_update", "Cg_extract"}
"""Numbers on the way, which other formulas give."""


@pytest.mark.parametrize(("name", "instance"), instances("cost.use."))
def test_resources(name: str, instance: dict[str, Any]) -> None:
    expected = {
        key: value for key, value in instance["expected"].items() if key not in INTERMEDIATE
    }
    assert RESOURCES[name](instance["given"]) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("name", "instance"), instances("cost.use.scalar_aggregation"))
def test_partial_results(name: str, instance: dict[str, Any]) -> None:
    found = resources.partial_results(stream(instance["given"]))
    assert found == pytest.approx(instance["expected"]["state"], rel=1e-9)


# Plans of two operators, and figures that the text prints


def windows_joined(given: Given) -> dict[str, float]:
    sides = (
        formulas.time_window(Characteristics(given[f"d{side}"], 1), given[f"w{side}"])
        for side in (1, 2)
    )
    left, right = sides
    out = formulas.joined(left, right, given["sel_join"])
    return {
        "d_1": left.distance,
        "l_1": left.length,
        "d_2": right.distance,
        "l_2": right.length,
        "d_out": out.distance,
        "l_out": out.length,
    }


def window_coarsened_aggregated(given: Given) -> dict[str, float]:
    window = formulas.time_window(stream(given), given["w"])
    coarse = formulas.coarsened(window, given["g_new"])
    out = formulas.aggregated(coarse)
    return {
        "d_1": window.distance,
        "l_1": window.length,
        "d_2": coarse.distance,
        "l_2": coarse.length,
        "d_out": out.distance,
        "l_out": out.length,
    }


def window_state(given: Given) -> dict[str, float]:
    stream = Characteristics(1 / given["rate_per_s"], given["window_s"])
    return {"elements": stream.live_rows}


def join_state(given: Given) -> dict[str, float]:
    live = Characteristics(given["d_ms"], given["window_ms"]).live_rows
    return {"elements": live, "partners": live / given["keys"]}


def halves(given: Given) -> dict[str, float]:
    """What is left of a join if its windows are halved, or if half of its input is dropped."""
    costs = dict.fromkeys(("C_H", "C_B", "C_L1", "C_L2", "C_R"), 0.0)  # per row, neglected
    costs |= {"C_P": 1.0, "C_F": 1.0, "C_O": 1.0}
    sizes = dict.fromkeys(("s1", "s2", "B1", "B2"), 1.0)

    def use(distance: float, length: float) -> resources.Resources:
        side = Characteristics(distance, length)
        return resources.of_join(side, side, 0.01, sizes, costs)

    whole, window, shed = use(1, 10_000), use(1, 5_000), use(2, 10_000)
    return {
        "M_window": window["M"] / whole["M"],
        "C_window": window["C"] / whole["C"],
        "M_shedding": shed["M"] / whole["M"],
        "C_shedding": shed["C"] / whole["C"],
        "results_shedding": shed["C_result"] / whole["C_result"],
    }


PLANS: dict[str, Callable[[Given], dict[str, float]]] = {
    "plan.window_join": windows_joined,
    "plan.window_granularity_aggregation": window_coarsened_aggregated,
    "figure.pn_window_state": window_state,
    "figure.join_state": join_state,
}


@pytest.mark.parametrize(
    ("name", "instance"),
    [each for each in instances("cost.") if each.values[0] in PLANS],
)
def test_plans_and_figures(name: str, instance: dict[str, Any]) -> None:
    assert PLANS[name](instance["given"]) == pytest.approx(instance["expected"], rel=1e-9)


def test_half_a_window_against_half_the_rows() -> None:
    (param,) = instances("cost.figure.window_vs_shedding")
    assert halves({}) == pytest.approx(param.values[1]["expected"], rel=1e-3)


def test_no_case_is_left_out() -> None:
    named = {
        *(f"chars.{name}" for name in CHARACTERISTICS),
        *(f"use.{name}" for name in RESOURCES),
        *PLANS,
        "figure.window_vs_shedding",
    }
    assert {param.values[0] for param in instances("cost.")} == named
