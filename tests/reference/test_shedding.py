"""The step-by-step run of star joins, against the worked examples of the text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.golden.star import cases, data_of, relation, stream
from tests.reference.shedding import (
    Candidate,
    Step,
    StreamRow,
    Version,
    first_priority,
    is_outdated,
    later_priority,
    matches,
    order_of_going,
    run_shedding,
)
from tidemill.algebra import Policy, Shedding
from tidemill.errors import PlanError
from tidemill.timeline import OPEN_END

ONLINE = [case for case in cases().values() if case["id"].startswith("online_")]


def shedding(policy: str, rows: int = 0, facts: Mapping[str, Any] | None = None) -> Shedding:
    facts = facts or {}
    alpha, beta = facts.get("alpha", 1), facts.get("beta", 1)
    return Shedding(rows, ("x", "y"), Policy[policy], alpha, beta)


def run(data: Mapping[str, Any], settings: Shedding) -> list[Step]:
    streams = [stream(data[name], data["m"], name.lower()) for name in ("R", "S")]
    return run_shedding(streams, relation(data["F"]), settings)


def as_printed(step: Step) -> dict[str, Any]:
    """A step in the words of the golden data."""
    outputs = [
        [*(row.arrival for row in result.rows), result.importance] for result in step.results
    ]
    return {
        "t": step.instant,
        "filtered_on_arrival": [row.row for row in step.filtered],
        "expired": [row.row for row in step.expired],
        "rule_8": [row.row for row in step.outdated],
        "priorities": {row.row: priority for row, priority in step.priorities.items()},
        "dropped": [row.row for row in step.dropped],
        "window_R": [row.row for row in step.windows[0]],
        "window_S": [row.row for row in step.windows[1]],
        "outputs": sorted(outputs),
        "importance": sum(importance for *_, importance in outputs),
    }


@pytest.mark.parametrize("case", ONLINE, ids=lambda case: case["id"])
def test_every_step_is_as_printed(case: Mapping[str, Any]) -> None:
    data, inputs, expected = data_of(case), case["inputs"], case["expected"]
    steps = run(data, shedding(inputs["heuristic"], data["M"], inputs))
    assert list(map(as_printed, steps)) == expected["steps"]
    results = [result for step in steps for result in step.results]
    assert len(results) == expected["tuples"]
    assert sum(result.importance for result in results) == expected["importance"]


@pytest.mark.parametrize("number", range(6))
def test_importance_of_small_instances(number: int) -> None:
    instance = cases()["offline_small_instances"]["expected"]["instances"][number]
    for policy, importance in instance["online_importance"].items():
        steps = run(instance, shedding(policy, instance["M"], {"alpha": 4, "beta": 1}))
        assert sum(r.importance for step in steps for r in step.results) == importance


@pytest.mark.parametrize("case", ["example_exact", "second_example_exact"])
@pytest.mark.parametrize("policy", list(Policy))
def test_with_enough_memory_nothing_is_lost(case: str, policy: Policy) -> None:
    data, expected = data_of(cases()[case]), cases()[case]["expected"]
    steps = run(data, shedding(policy.name, 2 * data["m"]))
    results = [result for step in steps for result in step.results]
    found = [
        [result.validity[0], r.arrival, s.arrival, r.key[0], s.key[0], result.importance]
        for result in results
        for r, s in [result.rows]
    ]
    assert sorted(found) == sorted(expected["rows"])


def test_one_stream_keeps_nothing_and_loses_nothing() -> None:
    case = cases()["semi_streaming_join"]
    rows, facts = case["inputs"]["R"], case["inputs"]["F"]
    steps = run_shedding([stream(rows, 3, "r")], relation(facts), Shedding(0, ("x",)))
    found = [result.rows[0] for step in steps for result in step.results]
    assert [[r.arrival, r.key[0], r.importance] for r in found] == case["expected"]["rows"]
    assert not any(step.windows[0] or step.dropped for step in steps)


@pytest.mark.parametrize("case", cases()["dynamic_relation_condition"]["expected"]["cases"])
def test_a_version_must_be_active_at_both_arrivals(case: Mapping[str, Any]) -> None:
    rows = [StreamRow(case[n]["ts"], 100, (case[n]["value"],)) for n in ("r", "s")]
    facts = relation(case.get("F_tuples", [case.get("F_tuple")]))
    steps = run_shedding([[row] for row in rows], facts, Shedding(2, (None, None)))
    assert any(step.results for step in steps) == case["output"], case["why"]


@pytest.mark.parametrize("case", cases()["pre_filter_rule_8"]["expected"]["cases"])
def test_rows_go_with_the_last_version_that_they_match(case: Mapping[str, Any]) -> None:
    row = StreamRow(case["r"]["ts"], 100, (case["r"]["value"],))
    versions = frozenset(v for v in relation(case["F"]) if v.meets(0, row))
    candidate = Candidate(0, row, versions)
    found = [is_outdated(candidate, t) for t in case["at"]]
    assert found == case["priority_is_minus_1"], case["why"]


def test_matches_need_a_version_at_both_arrivals() -> None:
    case = cases()["match_count"]
    facts = relation(case["inputs"]["F"])

    def candidate(number: int, row: Mapping[str, int]) -> Candidate:
        arrived = StreamRow(row["ts"], OPEN_END, (row["value"],))
        return Candidate(number, arrived, frozenset(v for v in facts if v.meets(number, arrived)))

    opposite = [candidate(1, row) for row in case["inputs"]["opposite_window"]]
    found = [matches(candidate(0, row), [[], opposite]) for row in case["inputs"]["r"]]
    assert found == case["expected"]["matches"]


def test_matches_of_three_streams_are_combinations() -> None:
    facts = [Version((("a",), ("b",), ("c",)), 0, 9), Version((("a",), ("b",), ("d",)), 0, 9)]
    rows = [StreamRow(1, 9, (key,)) for key in "abc"]
    present = [
        [Candidate(number, row, frozenset(v for v in facts if v.meets(number, row)))]
        for number, row in enumerate(rows)
    ]
    present[2] *= 3
    assert matches(present[0][0], present) == 3
    assert matches(present[2][0], present) == 1


@pytest.mark.parametrize("case", cases()["drop_choice"]["expected"]["cases"])
def test_which_row_is_dropped(case: Mapping[str, Any]) -> None:
    candidates = {
        row["name"]: Candidate(
            0,
            StreamRow(row["ts"], 100, (1,), row["importance"]),
            frozenset(),
            row["priority"],
            row["matches"] or 0,
        )
        for row in case["tuples"]
    }
    policy = Policy[case["heuristic"]]
    first = min(candidates, key=lambda name: order_of_going(policy, candidates[name]))
    assert first == case["dropped"], case["why"]


@pytest.mark.parametrize("name", ["x", "y"])
def test_priorities_of_dgl_rise_and_fall(name: str) -> None:
    case = cases()["dgl_priority_trace"]
    settings = shedding("DGL", 0, case["inputs"])
    (facts,) = (row for row in case["inputs"]["tuples"] if row["name"] == name)
    row = StreamRow(facts["ts"], facts["ts"] + case["inputs"]["m"], (1,), facts["importance"])
    first, *later = case["expected"][name]
    candidate = Candidate(0, row, frozenset())
    candidate.priority = first_priority(settings, row, facts["matches_at_arrival"])
    found = [candidate.priority]
    for at in later:
        gives, number, t = at["produced_output"], at["matches"], at["t"]
        candidate.priority = later_priority(settings, candidate, number, t, t - 1, gives)
        found.append(candidate.priority)
    assert found == [at["priority"] for at in (first, *later)]


def test_dgl_falls_over_instants_at_which_nothing_arrives() -> None:
    candidate = Candidate(0, StreamRow(0, 100, (1,), 3.0), frozenset(), priority=6.0)
    settings = Shedding(0, ("x", "y"), Policy.DGL, alpha=4, beta=1)
    assert later_priority(settings, candidate, 0, 5, 1, gives=False) == 2
    assert later_priority(settings, candidate, 0, 50, 1, gives=False) == 0
    assert later_priority(settings, candidate, 2, 4, 1, gives=True) == 4 + 3 * 2 * 96 / 4


@pytest.mark.parametrize("settings", [{"alpha": 0.0}, {"alpha": -1.0}, {"beta": -0.5}])
def test_constants_that_make_no_sense(settings: dict[str, float]) -> None:
    with pytest.raises(PlanError, match="invalid parameters of the policy: alpha"):
        Shedding(9, (None, None), Policy.DGL, **settings)


@pytest.mark.parametrize("policy", ["SIMPPROB", "DIMPPROB", "SIMP"])
def test_static_priorities_stay(policy: str) -> None:
    case = cases()["simpprob_vs_dimpprob"]
    facts, settings = case["inputs"]["tuple"], shedding(policy)
    first, *later = case["inputs"]["matches_in_opposite_window"]
    row = StreamRow(facts["ts"], 100, (1,), facts["importance"])
    candidate = Candidate(0, row, frozenset())
    candidate.priority = first_priority(settings, row, first["matches"])
    found = [candidate.priority]
    for at in later:
        t = at["t"]
        found.append(later_priority(settings, candidate, at["matches"], t, t - 1, gives=False))
    assert found == case["expected"][policy]
