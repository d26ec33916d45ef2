"""The optimum: that of the memory-state graphs, and one that no policy beats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from experiments.offline.graphs import By
from tests.golden.star import cases, data_of
from tests.offline.stars import Star, golden, random_star
from tidemill.algebra import Policy

SEEDS = [range(first, first + 50) for first in range(0, 150, 50)]
MEMORY = [0, 1, 2, 4, 6, 14]
EXAMPLES = ["example_optimal_approximation", "second_example_offline"]


def pairs(star: Star, by: By = "importance", split: int = 1) -> Counter[tuple[int, int, float]]:
    """Results as their instants and importances."""
    outputs = star.best(by, split).outputs.select(["r_ts", "s_ts", "importance"])
    return Counter(zip(*outputs.to_pydict().values(), strict=True))


def total(found: Counter[tuple[int, int, float]]) -> float:
    return sum(importance * copies for (_, _, importance), copies in found.items())


@pytest.mark.parametrize("seeds", SEEDS, ids=str)
def test_it_is_the_best_path_of_the_graphs(seeds: range) -> None:
    for star in map(random_star, seeds):
        best, largest = star.best(), star.best("count")
        assert best.importance == total(pairs(star)) == star.graphs().best
        assert largest.tuples == largest.outputs.num_rows == star.graphs("count").best
        assert largest.tuples >= best.tuples
        assert largest.importance <= best.importance


@pytest.mark.parametrize("case", EXAMPLES)
def test_examples(case: str) -> None:
    data, expected = data_of(cases()[case]), cases()[case]["expected"]
    best, largest = golden(data).best(), golden(data).best("count")
    facts = expected.get("optimal", expected)
    assert best.importance == facts["importance"]
    assert best.tuples in facts.get("possible_tuple_counts", [facts.get("tuples")])
    facts = expected.get("largest") or cases()["example_semantic_load_shedding"]["expected"]
    assert largest.tuples == facts["tuples"]
    # Among the largest results we take the most important one.
    assert largest.importance == max(facts["possible_importances"])


@pytest.mark.parametrize(
    "instance", cases()["offline_small_instances"]["expected"]["instances"], ids=range(6)
)
def test_small_instances(instance: Mapping[str, Any]) -> None:
    best, largest = golden(instance).best(), golden(instance).best("count")
    assert best.importance == instance["optimal"]["importance"]
    assert largest.tuples == instance["largest"]["tuples"]
    exact = instance["exact"]
    assert (best.exact_tuples, best.exact_importance) == (exact["tuples"], exact["importance"])


@pytest.mark.parametrize("by", ["importance", "count"])
def test_more_memory_is_never_worse_and_enough_is_exact(by: By) -> None:
    for star in map(random_star, range(1000, 1025)):
        found = [star.with_memory(memory).best(by) for memory in MEMORY]
        measures = [each.importance if by == "importance" else each.tuples for each in found]
        assert measures == sorted(measures)
        enough = star.with_memory(2 * max(len(star.r), len(star.s))).best(by)
        assert enough.importance == enough.exact_importance
        assert enough.tuples == enough.exact_tuples


def test_results_are_some_of_the_exact_ones() -> None:
    for star in map(random_star, range(2000, 2040)):
        exact = pairs(star.with_memory(1000))
        for by in ("importance", "count"):
            assert pairs(star, by) <= exact


def test_rows_that_are_kept_fit_into_memory() -> None:
    for star in map(random_star, range(3000, 3040)):
        kept = star.best().kept.to_pylist()
        for name, stream in (("r", star.r), ("s", star.s)):
            spans = [
                (stream[each["row"]].ts, each["until"]) for each in kept if each["stream"] == name
            ]
            for t, _, _ in stream:
                assert sum(begin <= t <= end for begin, end in spans) <= star.memory // 2


@pytest.mark.parametrize("policy", list(Policy))
def test_no_policy_beats_it(policy: Policy) -> None:
    """Neither in importance nor in number, whatever the data."""
    for seed in range(4000, 4040):
        star = random_star(seed, rows=16)
        best, results = star.best(), star.online(policy, seed)
        assert sum(each.importance for each in results) <= best.importance <= best.exact_importance
        assert len(results) <= star.best("count").tuples <= best.exact_tuples


@pytest.mark.parametrize("split", [2, 5])
def test_a_split_join_is_at_most_as_good(split: int) -> None:
    for star in map(random_star, range(5000, 5025)):
        whole, parts = star.best(), star.best(split=split)
        assert parts.importance <= whole.importance
        assert parts.exact_importance == whole.exact_importance
        assert pairs(star.with_memory(1000), split=split) == pairs(star.with_memory(1000))
