"""Star joins under a bound of memory, as operators."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from random import Random
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from sqlglot import exp

from tests.golden.star import cases, data_of
from tests.physical.star import (
    Case,
    Tick,
    Values,
    every_instant,
    named,
    one_tick,
    pieces,
    random_case,
    run,
)
from tidemill.algebra import Policy, Scalar, Shedding
from tidemill.algebra.scalar import column_node
from tidemill.physical.mechanisms.changes import snapshot
from tidemill.physical.operators.star import operator, versions, windows
from tidemill.timeline import OPEN_END

ONLINE = [case for case in cases().values() if case["id"].startswith("online_")]

TICKS = [pytest.param(one_tick, id="one tick"), pytest.param(every_instant, id="a tick an instant")]


def golden(data: Mapping[str, Any], policy: str, facts: Mapping[str, Any], rows: int) -> Case:
    """A case of the text."""
    names = [name for name in ("R", "S") if name in data]
    streams = tuple(
        [((value, weight, f"{name.lower()}({ts})"), ts) for ts, value, weight in data[name]]
        for name in names
    )
    relation = [
        ((*values, f"f{number}"), max(begin, 0), OPEN_END if end is None else end)
        for number, (*values, begin, end) in enumerate(data["F"])
    ]
    settings = {name: float(facts[name]) for name in ("alpha", "beta") if name in facts}
    shedding = Shedding(rows, (None,) * len(names), Policy[policy], **settings)
    return Case(streams, (data.get("m", 1),) * len(names), relation, shedding)


@pytest.mark.parametrize("ticks", TICKS)
@pytest.mark.parametrize("case", ONLINE, ids=lambda case: case["id"])
def test_worked_examples(case: Mapping[str, Any], ticks: Callable[[Case], Iterator[Tick]]) -> None:
    data, expected = data_of(case), case["expected"]
    mine = golden(data, case["inputs"]["heuristic"], case["inputs"], data["M"])
    join = mine.node.operator()
    found = named(mine, run(mine, join, ticks(mine)))
    wanted = Counter(
        (f"r({r})", f"s({s})", step["t"])
        for step in expected["steps"]
        for r, s, _ in step["outputs"]
    )
    assert Counter((r, s, start) for r, s, _, start, _ in found.elements()) == wanted
    measures = join.measures
    assert measures["importance_given"] == expected["importance"]
    assert measures["rows_shed"] == sum(len(step["dropped"]) for step in expected["steps"])
    kept = [len(step["window_R"]) + len(step["window_S"]) for step in expected["steps"]]
    assert measures["most_rows_kept"] == max(kept) <= data["M"]


@pytest.mark.parametrize("number", range(6))
def test_small_instances(number: int) -> None:
    instance = cases()["offline_small_instances"]["expected"]["instances"][number]
    for policy, importance in instance["online_importance"].items():
        case = golden(instance, policy, {"alpha": 4, "beta": 1}, instance["M"])
        join = case.node.operator()
        run(case, join, one_tick(case))
        assert join.measures["importance_given"] == importance


def test_one_stream_is_looked_up_only() -> None:
    facts = cases()["semi_streaming_join"]
    case = golden(facts["inputs"], "DGL", {}, 0)
    join = case.node.operator()
    found = named(case, run(case, join, every_instant(case)))
    assert sorted(row[0] for row in found) == [f"r({ts})" for ts, *_ in facts["expected"]["rows"]]
    assert join.measures["rows_shed"] == join.measures["most_rows_kept"] == 0


def check(case: Case, ticks: Iterator[Tick]) -> None:
    """The operator does what the step-by-step run does, and knows what it has lost."""
    join, found = case.node.operator(), Counter[Values]()
    for tick in ticks:
        found += named(case, run(case, join, iter([tick])))
        join = pickle.loads(pickle.dumps(join))
    assert found == case.expected
    steps, whole = case.steps, case.unbounded.steps
    given, exact = ([r for step in run for r in step.results] for run in (steps, whole))
    assert join.measures == {
        "rows_shed": sum(len(step.dropped) for step in steps),
        "rows_filtered": sum(len(step.filtered) for step in steps),
        "most_rows_kept": max((sum(map(len, s.windows)) for s in steps), default=0),
        "results_given": len(given),
        "importance_given": sum(result.importance for result in given),
        # Exactly, as long as there are few enough to follow all of them.
        "results_lost_estimate": len(exact) - len(given),
        "importance_lost_estimate": sum(r.importance for r in exact)
        - sum(r.importance for r in given),
    }


@pytest.mark.parametrize("changing", [False, True], ids=["constant", "changing"])
@pytest.mark.parametrize("streams", [1, 2, 3])
@pytest.mark.parametrize("policy", list(Policy), ids=lambda policy: policy.value)
def test_random_cases(policy: Policy, streams: int, changing: bool) -> None:
    for seed in range(2):
        random = Random(f"{policy} {streams} {changing} {seed}")
        case = random_case(random, policy, streams, changing)
        for ticks in (one_tick(case), every_instant(case), pieces(case, random)):
            check(case, ticks)


@pytest.mark.slow
@pytest.mark.parametrize("policy", list(Policy), ids=lambda policy: policy.value)
def test_many_random_cases(policy: Policy) -> None:
    for seed in range(60):
        random = Random(f"many {policy} {seed}")
        case = random_case(random, policy, random.choice([1, 2, 2, 3]), random.random() < 0.6)
        check(case, pieces(case, random))


@pytest.mark.parametrize("policy", list(Policy), ids=lambda policy: policy.value)
def test_without_any_slack(policy: Policy, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is done now and then is done all the time: forget, renumber, hand results over."""
    monkeypatch.setattr(operator, "_ROOM", 1)
    monkeypatch.setattr(versions, "_FEWEST_TO_FORGET", 1)
    monkeypatch.setattr(windows, "_SLACK", 0)
    for seed in range(3):
        random = Random(f"{policy} {seed}")
        case = random_case(random, policy, streams=2 + seed % 2, changing=True)
        for ticks in (every_instant(case), pieces(case, random)):
            check(case, ticks)


@pytest.mark.parametrize("streams", [1, 2, 3])
@pytest.mark.parametrize("changing", [False, True], ids=["constant", "changing"])
def test_results_are_part_of_the_exact_ones(streams: int, changing: bool) -> None:
    for seed in range(6):
        random = Random(f"{streams} {changing} {seed}")
        case = random_case(random, random.choice(list(Policy)), streams, changing)
        horizon = case.last + max(case.lives)
        exact = case.snapshots(horizon)
        some = run(case, case.node.operator(), one_tick(case))
        every = run(case, case.unbounded.node.operator(), one_tick(case))
        for t in range(horizon + 1):
            assert Counter(snapshot(some, t).iter_rows()) <= exact.at(t)
            assert Counter(snapshot(every, t).iter_rows()) == exact.at(t)


def uniform(rows: int, keys: int, life: int, facts: int, shedding: Shedding) -> Case:
    """One row an instant in every stream, keys at random; importances from 1 to 10."""
    random = Random(1)
    n = len(shedding.importances)
    streams = tuple(
        [((random.randrange(keys), float(random.randint(1, 10)), f"{t}"), t) for t in range(rows)]
        for _ in range(n)
    )
    relation = [
        ((*(random.randrange(keys) for _ in range(n)), f"f{number}"), 0, OPEN_END)
        for number in range(facts)
    ]
    return Case(streams, (life,) * n, relation, shedding, changing=False)


@pytest.mark.parametrize("policy", [Policy.SIMP, Policy.DGL, Policy.RANDOM])
def test_losses_are_estimated_from_a_sample(policy: Policy) -> None:
    """Of about 5,000 rows that are shed and live on, no more than 256 are followed."""
    case = uniform(20_000, 500, 4_000, 1_000, Shedding(1_000, (None, None), policy))
    exact, join = case.unbounded.node.operator(), case.node.operator()
    for each in (exact, join):
        run(case, each, one_tick(case))
    for what in ("results", "importance"):
        lost = exact.measures[f"{what}_given"] - join.measures[f"{what}_given"]
        assert lost > join.measures[f"{what}_given"]
        assert join.measures[f"{what}_lost_estimate"] == pytest.approx(lost, rel=0.15)


def test_all_rows_at_one_instant() -> None:
    rows = [((n % 4_000, float(n), f"{n}"), 3) for n in range(12_000)]
    facts = [((key, key, f"f{key}"), 0, OPEN_END) for key in range(4_000)]
    case = Case((rows, rows), (5, 5), facts, Shedding(20, (None, None), Policy.SIMP), False)
    join = case.node.operator()
    assert run(case, join, iter([(case.inputs, [4, 4, 4])])).height == 4_000 * 3 * 3
    assert join.measures["most_rows_kept"] == 20
    assert join.measures["rows_shed"] == 2 * 12_000 - 20
    assert join.state_rows == 20 + len(facts)
    assert join.state_bytes < 1_000_000  # the rows alone would take three times as much
    run(case, join, iter([([[], [], []], [8, 8, 8])]))
    assert join.state_rows == len(facts)


def test_one_key_for_all_rows() -> None:
    rows = [((1, 1.0, f"{t}"), t) for t in range(60)]
    shedding = Shedding(8, (None, None), Policy.DIMPPROB)
    check(
        case := Case((rows, rows), (20, 20), [((1, 1, "f"), 0, OPEN_END)], shedding), one_tick(case)
    )


def test_conditions_are_checked_afterwards() -> None:
    rows = [((1, float(t), f"{t}"), t) for t in range(8)]
    case = Case((rows, rows), (3, 3), [((1, 1, "f"), 0, OPEN_END)], Shedding(4, (None, None)))
    one, other = (child.schema.names[1] for child in case.node.streams)
    less = Scalar(exp.LT(this=column_node(one), expression=column_node(other)), pa.bool_())
    every, some = case.node.operator(), replace(case.node, conditions=(less,)).operator()
    found, kept = (run(case, each, one_tick(case)) for each in (every, some))
    assert kept.equals(found.filter(pl.col(one) < pl.col(other)))
    assert 0 < kept.height < found.height
    assert some.measures["results_given"] == kept.height
    assert some.measures["importance_given"] == kept[one].sum()
    share = kept.height / found.height
    lost = every.measures["results_lost_estimate"]
    assert some.measures["results_lost_estimate"] == pytest.approx(share * lost)


def test_words_as_keys() -> None:
    random = Random(3)
    case = random_case(random, Policy.DGL, streams=2, changing=True)

    def worded(values: Values) -> Values:
        return tuple(f"key {v}" if isinstance(v, int) else v for v in values)

    words = replace(
        case,
        streams=tuple([(worded(values), t) for values, t in rows] for rows in case.streams),
        relation=[(worded(values), start, end) for values, start, end in case.relation],
        key=pa.string(),
    )
    check(words, pieces(words, random))


@pytest.mark.parametrize("facts", [[], [((9, 9, "f"), 0, OPEN_END)]], ids=["none", "others"])
def test_a_relation_that_nothing_matches(facts: list[tuple[Values, int, int]]) -> None:
    rows = [((1, 1.0, f"{t}"), t) for t in range(9)]
    case = Case((rows, rows), (5, 5), facts, Shedding(4, (None, None)), changing=False)
    check(case, one_tick(case))
    check(case, every_instant(case))
