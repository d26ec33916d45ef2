"""Rankings against the worked examples: every first k, every instance, every size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.golden.topk import cases
from tests.physical.ranking import Case, Row, Tick, at_once, run
from tidemill.physical.mechanisms.changes import snapshot
from tidemill.physical.operators.ranking.kernel.dominance import undominated
from tidemill.timeline import OPEN_END

SMALL = ["count_sum", "count_weighted_sum", "time_sum", "time_weighted_sum"]


def rows_of(inputs: Mapping[str, Any]) -> list[Row]:
    """Arrivals as rows; half instants become whole ones where the window needs them."""
    named = [dict(zip(inputs["arrival_columns"], a, strict=True)) for a in inputs["arrivals"]]
    return [
        (_time(a.get("t", a["n"])), {"id": a["id"], "stream": a["stream"] - 1, "value": a["value"]})
        for a in named
    ]


def _time(t: float) -> int:
    return int(2 * t)


def golden(case: Mapping[str, Any], limit: int) -> Case:
    """A run of the text as a ranking."""
    inputs, window = case["inputs"], case["inputs"]["window"]
    weighted = inputs.get("function") == "weighted_sum"
    size = (
        {"size": int(2 * window["size"])} if window["kind"] == "time" else {"count": window["size"]}
    )
    found = Case(rows_of(inputs), limit, streams=inputs["streams"], **size)
    return replace(found, score="weighted", weights=inputs["weights"]) if weighted else found


def after_each(case: Case) -> Iterator[Tick]:
    """A tick for every row, with the watermark right behind it."""
    return ((([row]), row[0] + 1) for row in case.rows)


def firsts(found: pl.DataFrame, instant: int) -> list[tuple[str, float]]:
    """The first objects of an instant, in order."""
    rows = snapshot(found, instant).iter_rows()
    return sorted(((id, score) for id, score in rows), key=lambda row: (-row[1], row[0]))


def approx(rows: list[Any]) -> Any:
    return [(id, pytest.approx(score)) for id, score in rows]


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("name", SMALL)
def test_small_runs(name: str, k: int) -> None:
    golden_case = cases()[f"run_small_{name}"]
    case, steps = golden(golden_case, k), golden_case["expected"]["steps"]
    whole = run(case, case.node.operator(), at_once(case))
    ranking: Any = case.node.operator()
    arrivals = {step["arrival"]: row for step, row in zip(steps, case.rows, strict=False)}
    for step in steps:
        row = arrivals.get(step.get("arrival"))
        instant = _time(step["probe_at"]) if row is None else row[0]
        found = run(case, ranking, [([] if row is None else [row], instant + 1)])
        assert firsts(found, instant) == approx(step["top"][str(k)])
        assert firsts(whole, instant) == approx(step["top"][str(k)])
        check_instances(ranking, step, k, 1 if case.size is None else 2)
        window_rows = ranking.measures["ranking_window_rows"]
        assert window_rows == step["valid_tuples"]


def check_instances(ranking: Any, step: Mapping[str, Any], k: int, scale: int) -> None:
    """Those are retained that fewer than k dominate.

    The text counts every row that ever came; what is forgotten and comes back is new to us.
    """
    size = step["size_with_forgetting"][str(k)]
    retained = ranking.instances
    assert retained.height == size == ranking.measures["ranking_instances"]
    expected = {(id, t * scale): tuple(rest) for id, t, *rest in step["instances"]}
    found = {(id, t): (current, best) for id, t, current, best in retained.iter_rows()}
    assert {key for key, (*_, dominators) in expected.items() if dominators < k} <= set(found)
    for key, (current, best) in found.items():
        assert current == pytest.approx(expected[key][0])
        assert best == pytest.approx(expected[key][1]) or best > expected[key][1]


@pytest.mark.parametrize("k", [1, 3, 5, 10])
def test_a_longer_run(k: int) -> None:
    golden_case = cases()["run_medium_count_sum"]
    case, columns = golden(golden_case, k), golden_case["expected"]["columns"]
    ranking: Any = case.node.operator()
    whole = run(case, case.node.operator(), at_once(case))
    for tick, row in zip(after_each(case), golden_case["expected"]["rows"], strict=True):
        step = dict(zip(columns, row, strict=True))
        found = run(case, ranking, [tick])
        instant = tick[1] - 1
        assert [id for id, _ in firsts(found, instant)] == step[f"top_{k}"]
        assert [id for id, _ in firsts(whole, instant)] == step[f"top_{k}"]
        assert ranking.instances.height == step[f"kept_{k}"]


def test_several_occurrences_in_a_run() -> None:
    golden_case = cases()["run_multiple_occurrences"]
    case = replace(golden(golden_case, 2), most=8, in_window=True)
    found = run(case, case.node.operator(), after_each(case))
    for (instant, _), step in zip(case.rows, golden_case["expected"]["steps"], strict=True):
        assert firsts(found, instant) == approx(step["top_2"])


def instances_after(case: Case) -> Iterator[list[tuple[int, float, float]]]:
    """The instances of the only object, after every row."""
    ranking: Any = case.node.operator()
    for tick in after_each(case):
        run(case, ranking, [tick])
        yield [row[1:] for row in ranking.instances.iter_rows()]


def rows_of_one(arrivals: list[Mapping[str, Any]]) -> list[Row]:
    return [(a["t"], {"id": "p", "stream": a["stream"] - 1, "value": a["value"]}) for a in arrivals]


def as_instances(expected: list[Mapping[str, Any]]) -> list[Any]:
    return [
        (one["t"], pytest.approx(one["currentscore"]), pytest.approx(one["bestscore"]))
        for one in expected
    ]


@pytest.mark.parametrize("score", ["sum", "weighted"])
def test_figure_2(score: str) -> None:
    golden_case = cases()["figure_2_numeric"]
    inputs = golden_case["inputs"]
    case = Case(rows_of_one(inputs["arrivals"]), 1, size=100, score=score)
    steps = golden_case["expected"][{"sum": "sum", "weighted": "weighted_sum"}[score]]
    for found, step in zip(instances_after(case), steps, strict=True):
        assert found == as_instances(step["instances"])


def test_expired_attributes_bring_nothing_more() -> None:
    golden_case = cases()["instance_expiry"]
    case = Case(rows_of_one(golden_case["inputs"]["arrivals"]), 1, size=10)
    ranking: Any = case.node.operator()
    found, rows = [], list(case.rows)
    for step in golden_case["expected"]["evaluations"]:
        found.append(run(case, ranking, [(rows, step["now"] + 1)]))
        rows = []
        assert [row[1:] for row in ranking.instances.iter_rows()] == as_instances(step["instances"])
        scores = snapshot(pl.concat(found), step["now"])["score"].to_list()
        assert scores == ([] if step["score"] is None else [pytest.approx(step["score"])])


def test_attributes_of_one_instant_are_one_instance() -> None:
    golden_case = cases()["same_time_attributes"]
    case = Case(rows_of_one(golden_case["inputs"]["arrivals"]), 1, size=10)
    ranking: Any = case.node.operator()
    run(case, ranking, [(case.rows, 5)])
    expected = as_instances(golden_case["expected"]["instances"])
    assert [row[1:] for row in ranking.instances.iter_rows()] == expected


def test_several_occurrences() -> None:
    golden_case = cases()["multiple_occurrences"]
    inputs = golden_case["inputs"]
    rows = rows_of_one(inputs["occurrences"])
    case = Case(rows, 1, streams=2, size=100, most=inputs["m"])
    steps = golden_case["expected"]["instances"]
    for found, step in zip(instances_after(case), steps, strict=True):
        assert found == as_instances(step["instances"])


def kept(instances: list[tuple[int, int, float, float]], k: int) -> list[bool]:
    """Which of the instances (id, t, current, best) fewer than k dominate."""
    scaled = [(id, t, round(c * 1000), round(b * 1000)) for id, t, c, b in instances]
    items, places, current, best = np.array(scaled, np.int64).T.copy()
    newest = np.argsort(places, kind="stable")[::-1].copy()
    stays = np.zeros(len(items), np.bool_)
    room = int(items.max()) + 1
    heap, keys, where = np.empty(k, np.int64), np.empty(room, np.int64), np.full(room, -1)
    undominated(newest, places, items, current, best, heap, keys, where, stays)
    return stays.tolist()


def as_instance(id: int, facts: Mapping[str, float]) -> tuple[int, int, float, float]:
    return id, int(facts["t"]), facts["currentscore"], facts["bestscore"]


def test_pairs_of_instances() -> None:
    for pair in cases()["interval_dominance"]["expected"]["pairs"]:
        found = kept([as_instance(0, pair["p"]), as_instance(1, pair["q"])], 1)
        assert found == [not pair["q_dominates_p"], not pair["p_dominates_q"]], pair["why"]


def test_dominators_are_counted_by_object() -> None:
    case = cases()["distinct_dominators"]
    given = case["inputs"]["instances"]
    instances = [as_instance(ord(one["id"]) - ord("a"), one) for one in given]
    for k, members in case["expected"]["members"].items():
        stays = kept(instances, int(k))
        found = [[one["id"], one["t"]] for one, stay in zip(given, stays, strict=True) if stay]
        assert found == members


def test_dominance_that_begins_at_the_old_score() -> None:
    first, second = cases()["counter_update_boundaries"]["inputs"].values()
    low = 0.5
    for p_current, dominated in ((first["p_current_old"], False), (first["p_current_new"], True)):
        pair = [(0, first["p_t"], p_current, 3.0), (1, first["q_t"], low, first["q_best"])]
        assert kept(pair, 1) == [True, not dominated]
    for p_best, dominated in ((second["p_best_old"], False), (second["p_best_new"], True)):
        pair = [(0, second["p_t"], low, p_best), (1, second["r_t"], second["r_current"], 3.0)]
        assert kept(pair, 1) == [not dominated, True]


def test_ties() -> None:
    golden_case = cases()["ties"]
    scores, k = golden_case["inputs"]["scores"], golden_case["inputs"]["k"]
    rows = [(1, {"id": id, "stream": 0, "value": value}) for id, value in scores.items()]
    case = Case(rows[::-1], k, size=5, high=2.0)
    found = run(case, case.node.operator(), [(case.rows, OPEN_END)])
    assert [id for id, _ in firsts(found, 1)] == golden_case["expected"]["top_by_id"]


@pytest.mark.parametrize("eps", [0.0, 0.1])
def test_the_lemma_on_linear_growth(eps: float) -> None:
    points = cases()["lemma_1_expected_size"]["expected"]["points"]
    expected = next(p["expected"] for p in points if p["n"] == 1000 and p["eps"] == eps)
    random, sizes = Random(1), []
    for _ in range(60):
        current = [random.random() for _ in range(1000)]
        instances = [(n, n, c, min(c + eps, 1)) for n, c in enumerate(current)]
        sizes.append(sum(kept([(i, t, c * 1e6, b * 1e6) for i, t, c, b in instances], 1)))
    assert sum(sizes) / len(sizes) == pytest.approx(expected, rel=0.06)
