"""The formulas of chapter 22 against every number of the golden data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tests.golden.loader import contents
from tidemill.optimize.cost import characteristics as formulas
from tidemill.optimize.cost.characteristics import Characteristics

Given = Mapping[str, Any]


def stream(given: Given, number: str = "") -> Characteristics:
    return Characteristics(given[f"d{number}"], given.get(f"l{number}", 1), given.get("g", 1))


def union(given: Given) -> Characteristics:
    inputs = zip(given["d"], given["l"], strict=True)
    return formulas.united([Characteristics(*each, given["g"]) for each in inputs])


CHARACTERISTICS: dict[str, Callable[[Given], Characteristics]] = {
    "filter": lambda g: formulas.filtered(stream(g), g["sel"]),
    "map": lambda g: formulas.mapped(stream(g)),
    "union": union,
    "cartesian_product": lambda g: formulas.product(stream(g, "1"), stream(g, "2")),
    "theta_join": lambda g: formulas.joined(stream(g, "1"), stream(g, "2"), g["sel_join"]),
    "duplicate_elimination": lambda g: formulas.deduplicated(stream(g), g["n"]),
    "scalar_aggregation": lambda g: formulas.aggregated(stream(g)),
    "scalar_aggregation.regular": lambda g: formulas.aggregated_regularly(stream(g)),
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
