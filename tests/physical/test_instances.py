"""The text's definitions against the golden runs."""

from __future__ import annotations

import numpy as np
import pytest

from tests.golden.topk import cases
from tests.physical.instances import Instance, OneByOne, Row, at_most
from tests.physical.test_appearance import _shown


def _run(name: str) -> dict:
    return cases()[name]


@pytest.mark.parametrize("name", ["run_small_count_sum", "run_small_count_weighted_sum"])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_small_runs(name: str, k: int) -> None:
    inputs, steps = _run(name)["inputs"], _run(name)["expected"]["steps"]
    ranking = OneByOne(k, inputs["window"]["size"], inputs["weights"], at_most(1))
    for (time, stream, id, value), step in zip(inputs["arrivals"], steps, strict=True):
        ranking.arrive(id, Row(time, stream - 1, value))
        assert len(ranking.instances) == step["size_with_forgetting"][str(k)]
        assert ranking.first(k) == [id for id, _ in step["top"][str(k)]]


@pytest.mark.parametrize("k", [1, 3, 5, 10])
def test_a_longer_run(k: int) -> None:
    case = _run("run_medium_count_sum")
    columns = case["expected"]["columns"]
    ranking = OneByOne(k, 40, [1, 1, 1], at_most(1))
    arrivals = zip(case["inputs"]["arrivals"], case["expected"]["rows"], strict=True)
    for (time, stream, id, value), step in arrivals:
        ranking.arrive(id, Row(time, stream - 1, value))
        expected = dict(zip(columns, step, strict=True))
        assert len(ranking.instances) == expected[f"kept_{k}"]
        assert ranking.first(k) == expected[f"top_{k}"]


def test_pairs_of_instances() -> None:
    for pair in _run("interval_dominance")["expected"]["pairs"]:
        p, q = (
            Instance(name, one["t"], one["currentscore"], one["bestscore"])
            for name, one in (("p", pair["p"]), ("q", pair["q"]))
        )
        assert p.dominates(q) == pair["p_dominates_q"], pair["why"]
        assert q.dominates(p) == pair["q_dominates_p"], pair["why"]


@pytest.mark.parametrize("object_", ["a", "b"])
def test_best_scores_with_probabilities(object_: str) -> None:
    case = _run("approximate_bestscore")
    streams = _run("conditional_probabilities")["inputs"]["objects_in_stream"].values()
    appearances = _shown([[ord(name) for name in names] for names in streams])

    def likely(seen: tuple[int, ...], stream: int) -> float:
        bits = sum(1 << at for at, count in enumerate(seen) if count)
        return 0 if seen[stream] else appearances.chances(np.array([bits]))[0, stream]

    exact, approximate = (OneByOne(1, 100, [1, 1, 1], e) for e in (at_most(1), likely))
    for stream, time, value in case["inputs"][object_]["seen"]:
        exact.arrive(object_, Row(time, stream - 1, value))
        approximate.arrive(object_, Row(time, stream - 1, value))
    found = [
        {
            "t": one.time,
            "currentscore": pytest.approx(one.current),
            "bestscore_exact": pytest.approx(one.best),
            "bestscore_approx": pytest.approx(other.best),
        }
        for one, other in zip(exact.instances, approximate.instances, strict=True)
    ]
    assert case["expected"][object_] == found
