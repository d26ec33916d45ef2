"""Strategies: the text's, as its worked example says, and ours beside it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.golden.loader import contents
from tidemill.graph.manager.knobs import Demand, Knob
from tidemill.graph.manager.strategy import (
    STRATEGIES,
    Strategy,
    marginal,
    quality,
    rough_fraction,
    uniform,
)
from tidemill.graph.quality import Granules

CASES = {case["id"]: case for case in contents("adaptation")["cases"]}


@pytest.mark.parametrize("instance", CASES["adapt.fraction"]["instances"])
def test_a_fraction_of_the_range(instance: dict[str, object]) -> None:
    low, high, fraction = (float(str(instance[key])) for key in ("min", "max", "fraction"))
    expected = instance["expected"]
    assert isinstance(expected, dict)
    assert low + fraction * (high - low) == expected["value"]
    allowed = instance.get("allowed")
    if isinstance(allowed, list):
        knob = Knob("g", int(low), int(high), granules=frozenset(allowed))
        assert Granules(frozenset(allowed)).nearest(expected["value"]) == expected["chosen"]
        assert knob.at(fraction) == expected["chosen"]
    else:
        assert Knob("w", int(low), int(high)).at(fraction) == expected["value"]


def test_the_worked_example_of_the_text() -> None:
    case = CASES["adapt.strategy"]
    windows, distances = case["params"]["windows"], case["params"]["distances"]
    knobs = [Knob(str(n), low, high) for n, (low, high) in enumerate(windows)]
    seen = []

    def estimate(sizes: Mapping[str, int]) -> Demand:
        seen.append(sum(sizes[str(n)] / d for n, d in enumerate(distances)))
        return Demand(seen[-1], 0.0)

    bound = Demand(case["params"]["bound"], 1.0)
    expected = case["expected"]
    assert rough_fraction(knobs, estimate, bound, case["params"]["p"]) == expected["step1_fraction"]
    assert seen == [step["estimate"] for step in expected["step1"]]
    found = uniform(knobs, estimate, bound)
    assert found is not None
    for knob, size in zip(knobs, expected["step2_windows"], strict=True):
        assert found[knob.name] == pytest.approx(size, abs=(knob.high - knob.low) / 256 + 1)


KNOBS = [
    Knob("a", 60, 1800, 3),
    Knob("b", 60, 600),
    Knob("c", 120, 900, 2),
    Knob("g", 1000, 10, 1, frozenset({10, 20, 100, 200, 500, 1000})),
]


def needs(sizes: Mapping[str, int]) -> Demand:
    """Two joins, one upon the other, and an aggregation that a granule makes cheaper."""
    a, b, c = (sizes[name] for name in "abc")
    joined = a + b + a * b * 1e-3 + c + a * b * c * 1e-6
    return Demand(joined + a / sizes["g"] * 10, 1e-4 * joined)


@pytest.mark.parametrize("strategy", STRATEGIES.values())
@pytest.mark.parametrize("share", [0.3, 0.6, 0.9, 2.0])
def test_bounds_are_kept_and_sizes_lie_within_theirs(strategy: Strategy, share: float) -> None:
    best = needs({knob.name: knob.high for knob in KNOBS})
    found = strategy(KNOBS, needs, best * share)
    assert found is not None
    assert needs(found).within(best * share)
    for knob in KNOBS:
        low, high = sorted((knob.low, knob.high))
        assert low <= found[knob.name] <= high
    if share >= 1:
        assert quality(KNOBS, found) == 1


@pytest.mark.parametrize("strategy", STRATEGIES.values())
def test_what_does_not_fit_at_all_is_said(strategy: Strategy) -> None:
    least = needs({knob.name: knob.low for knob in KNOBS})
    assert strategy(KNOBS, needs, least * 0.9) is None


def test_processing_is_bounded_too() -> None:
    best = needs({knob.name: knob.high for knob in KNOBS})
    bound = Demand(best.memory * 2, best.cpu / 2)
    for strategy in STRATEGIES.values():
        found = strategy(KNOBS, needs, bound)
        assert found is not None
        assert needs(found).cpu <= bound.cpu


def test_marginal_benefit_leaves_more_quality() -> None:
    for share in (0.3, 0.5, 0.7):
        bound = needs({knob.name: knob.high for knob in KNOBS}) * share
        ours, texts = marginal(KNOBS, needs, bound), uniform(KNOBS, needs, bound)
        assert ours is not None
        assert texts is not None
        assert quality(KNOBS, ours) > quality(KNOBS, texts)
