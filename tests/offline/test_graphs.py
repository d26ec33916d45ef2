"""The memory-state graphs, against the worked examples of the text."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import pytest

from experiments.offline.graphs import By, MemoryGraph, Output, StarGraphs, State
from tests.golden.star import cases, data_of
from tests.offline.stars import golden

EXAMPLE = data_of(cases()["example_optimal_approximation"])
OPTIMAL = cases()["example_optimal_approximation"]["expected"]
SWEEP = cases()["example_memory_sweep"]["expected"]["points"]
SECOND = cases()["second_example_offline"]
SMALL = [
    *cases()["offline_small_instances"]["expected"]["instances"],
    {**data_of(SECOND), **SECOND["expected"], "exact": cases()["second_example_exact"]["expected"]},
]


# A path through the state of the example, which no best path visits.
WORSE_PATH = ((0,), (0, 1), (0, 1), (1, 3), (1, 3), (3, 5))


def graphs(data: Mapping[str, Any], memory: int | None = None, by: By = "importance") -> StarGraphs:
    return golden(data, memory).graphs(by)


def names(state: State, stream: str) -> list[str]:
    return [f"{stream}({number})" for number in state]


def printed(output: Output, swap: bool = False) -> list[float]:
    """[r.ts, s.ts, importance]; in the examples tuples are numbered by their instants."""
    pair = [output.own, output.other]
    return [*(reversed(pair) if swap else pair), output.importance]


def part(star: StarGraphs, name: str) -> MemoryGraph:
    graph: MemoryGraph = getattr(star, name)
    return graph


def totals(star: StarGraphs) -> set[tuple[int, float]]:
    """Number and importance of results, for all combinations of best paths."""
    ways = [
        {_total(graph.outputs(path)) for path in graph.paths()} for graph in (star.r, star.s)
    ] + [{_total(star.together)}]
    return {
        (sum(count for count, _ in way), sum(total for _, total in way)) for way in product(*ways)
    }


def _total(outputs: list[Output]) -> tuple[int, float]:
    return len(outputs), sum(output.importance for output in outputs)


@pytest.mark.parametrize("name", ["r", "s"])
def test_states_and_their_best_weights(name: str) -> None:
    graph = part(graphs(EXAMPLE), name)
    for t, layer, expected in zip(
        graph.instants, graph.layers, OPTIMAL[f"{name.upper()}_graph_states"], strict=True
    ):
        assert t == expected["t"]
        wanted = {tuple(state["tuples"]): state["MI"] for state in expected["states"]}
        assert {tuple(names(state, name)): best for state, best in layer.items()} == wanted


@pytest.mark.parametrize("name", ["r", "s"])
def test_optimal_paths(name: str) -> None:
    graph = part(graphs(EXAMPLE), name)
    found = [
        {
            "states": [names(state, name) for state in path],
            "outputs": [printed(output, name == "s") for output in graph.outputs(path)],
        }
        for path in graph.paths()
    ]
    wanted = OPTIMAL[f"{name.upper()}_optimal_paths"]
    assert sorted(found, key=str) == sorted(wanted, key=str)
    assert graph.sequences() == OPTIMAL["memory_sequences_examined"][name.upper()]
    assert {
        "importance": graph.best,
        "tuples": len(graph.outputs(next(graph.paths()))),
    } == OPTIMAL[f"{name.upper()}_graph"]


def test_what_meets_at_once() -> None:
    outputs = graphs(EXAMPLE).together
    assert [printed(output) for output in outputs] == OPTIMAL["SA_graph"]["outputs"]
    assert _total(outputs) == (OPTIMAL["SA_graph"]["tuples"], OPTIMAL["SA_graph"]["importance"])


def test_the_optimum_of_the_example() -> None:
    assert graphs(EXAMPLE).best == OPTIMAL["importance"]
    assert totals(graphs(EXAMPLE)) == {(OPTIMAL["tuples"], OPTIMAL["importance"])}


def test_weight_of_an_edge() -> None:
    case = cases()["example_edge_weight"]
    expected, t = case["expected"], case["inputs"]["t"]
    star = graphs(EXAMPLE)
    assert star.r.weight((1, 3), t) == expected["weight_R_graph"]
    (output,) = (each for each in star.r.outputs(WORSE_PATH) if each.time == t)
    assert output.importance == expected["output"]["importance"]
    (together,) = (each for each in star.together if each.time == t)
    assert together.importance == expected["SA_weight"]


def test_the_stop_vertex_follows_the_last_states() -> None:
    """Linked one instant earlier, as the printed indices say, it would lose the last results."""
    expected = cases()["stop_vertex_index"]["expected"]
    star = graphs(EXAMPLE)
    assert star.best == expected["linked_to_last_states"]
    early = [max(graph.layers[-2].values()) for graph in (star.r, star.s)]
    assert sum(early) + star.r.worth(star.together) == expected["linked_to_last_but_one"]


@pytest.mark.parametrize("point", SWEEP, ids=lambda point: f"M={point['M']}")
def test_memory_sweep(point: Mapping[str, Any]) -> None:
    best, largest = (graphs(EXAMPLE, point["M"], by) for by in ("importance", "count"))
    assert best.best == point["optimal_importance"]
    assert sorted({count for count, _ in totals(best)}) == point["possible_tuple_counts"]
    assert {count for count, _ in totals(largest)} == {point["largest_tuples"]}
    found = sorted(importance for _, importance in totals(largest))
    assert found == point["largest_possible_importances"]


def test_the_largest_result() -> None:
    expected = cases()["example_semantic_load_shedding"]["expected"]
    star = graphs(EXAMPLE, by="count")
    assert [star.r.best, star.s.best, len(star.together)] == list(expected["parts"].values())
    assert totals(star) == {
        (expected["tuples"], importance) for importance in expected["possible_importances"]
    }
    assert expected["printed_importance"] in expected["possible_importances"]


@pytest.mark.parametrize("instance", SMALL, ids=range(len(SMALL)))
def test_small_instances(instance: Mapping[str, Any]) -> None:
    best, largest = (graphs(instance, by=by) for by in ("importance", "count"))
    parts = [best.r.best, best.s.best, best.r.worth(best.together)]
    expected = instance["optimal"]
    assert parts == [expected[name] for name in ("R", "S", "SA")]
    assert sorted({count for count, _ in totals(best)}) == expected["possible_tuple_counts"]
    expected = instance["largest"]
    assert [largest.r.best, largest.s.best, len(largest.together)] == [
        expected[name] for name in ("R", "S", "SA")
    ]
    assert sorted(total for _, total in totals(largest)) == expected["possible_importances"]
    exact = graphs(instance, 2 * instance["m"])
    assert totals(exact) == {(instance["exact"]["tuples"], instance["exact"]["importance"])}


def test_sequences_of_the_second_example() -> None:
    expected = SECOND["expected"]["sequences_examined"]
    star = graphs(data_of(SECOND))
    assert {"R": star.r.sequences(), "S": star.s.sequences()} == expected
    found = sorted(printed(output) for output in star.together)
    assert found == SECOND["expected"]["SA_outputs"]
