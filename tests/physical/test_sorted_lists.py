"""Rankings with sorted lists: against the reference, the plain plan and the worked examples."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from tests.golden.topk import cases
from tests.physical.ranking import Case, Row, at_once, in_pieces, one_by_one, run
from tests.physical.running import run_plan
from tests.physical.test_ranking import check, random_case
from tests.physical.test_ranking_golden import (
    SMALL,
    after_each,
    approx,
    firsts,
    golden,
    rows_of_one,
)
from tidemill.algebra.ranking import Ranking, Strategy
from tidemill.errors import ExecutionError
from tidemill.physical.mechanisms.changes import snapshot
from tidemill.physical.operators.ranking import view
from tidemill.timeline import OPEN_END


def with_lists(case: Case) -> Case:
    return replace(case, strategy=Strategy.SLA)


@pytest.mark.parametrize("seed", range(8))
def test_random_rankings(seed: int) -> None:
    random = Random(f"lists {seed}")
    case = with_lists(random_case(random))
    check(case, at_once(case))
    check(case, one_by_one(case), state_is_written=seed % 3 == 0)
    check(case, in_pieces(case, random, slack=random.choice([0, 4])))


def many_rows(random: Random, objects: int, streams: int) -> list[Row]:
    rows = []
    for time in range(400):
        id, stream = f"o{random.randrange(objects)}", random.randrange(streams)
        value = round(random.random(), random.choice([1, 9]))
        rows.append((time // 2, {"id": id, "stream": stream, "value": value}))
    return rows


@pytest.mark.parametrize("window", [{"size": 30}, {"count": 60}], ids=str)
@pytest.mark.parametrize("score", ["sum", "weighted", "max", "count"])
def test_views_that_run_dry(score: str, window: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view, "_SPARE", 1)
    monkeypatch.setattr(view, "_FIRST_DEPTH", 1)
    rows = many_rows(Random(score), objects=80, streams=3)
    case = with_lists(Case(rows, 5, score=score, most=None, **window))
    data = {"s": [(case.full(values), time) for time, values in rows]}
    expected = run_plan(Ranking(case.scan, case.ranked).exact, data, 100)
    ranking: Any = case.node.operator()
    ticks = [(rows[at : at + 40], at // 2 + 20) for at in range(0, 400, 40)]
    found = run(case, ranking, [*ticks, ([], OPEN_END)])
    for instant in range(0, 240, 3):
        assert firsts(found, instant) == firsts(expected, instant)
    assert ranking.measures["ranking_recomputed"] > 20


def test_objects_that_bring_nothing() -> None:
    values: list[float | None] = [None, 0.5, None, 0.0, None]
    rows = [(t, {"id": f"o{t}", "stream": t % 2, "value": v}) for t, v in enumerate(values)]
    rows += [(t + 10, {**values, "id": values["id"] + "'"}) for t, values in rows]
    for score in ("sum", "max", "count"):
        case = with_lists(Case(rows, 3, streams=2, size=4, score=score))
        check(case, one_by_one(case))


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("name", SMALL)
def test_small_runs(name: str, k: int) -> None:
    golden_case = cases()[f"run_small_{name}"]
    case, steps = with_lists(golden(golden_case, k)), golden_case["expected"]["steps"]
    ranking: Any = case.node.operator()
    arrivals = {step["arrival"]: row for step, row in zip(steps, case.rows, strict=False)}
    for step in steps:
        row = arrivals.get(step.get("arrival"))
        instant = int(2 * step["probe_at"]) if row is None else row[0]
        found = run(case, ranking, [([] if row is None else [row], instant + 1)])
        assert firsts(found, instant) == approx(step["top"][str(k)])
        measures = ranking.measures
        assert measures["ranking_rows"] == measures["ranking_window_rows"] == step["valid_tuples"]


@pytest.mark.parametrize("k", [1, 10])
def test_a_longer_run(k: int) -> None:
    golden_case = cases()["run_medium_count_sum"]
    case, columns = with_lists(golden(golden_case, k)), golden_case["expected"]["columns"]
    ranking: Any = case.node.operator()
    for tick, row in zip(after_each(case), golden_case["expected"]["rows"], strict=True):
        step = dict(zip(columns, row, strict=True))
        found = run(case, ranking, [tick])
        assert [id for id, _ in firsts(found, tick[1] - 1)] == step[f"top_{k}"]


def test_several_occurrences_in_a_run() -> None:
    golden_case = cases()["run_multiple_occurrences"]
    case = with_lists(replace(golden(golden_case, 2), most=8, in_window=True))
    found = run(case, case.node.operator(), after_each(case))
    for (instant, _), step in zip(case.rows, golden_case["expected"]["steps"], strict=True):
        assert firsts(found, instant) == approx(step["top_2"])


def test_entries_of_several_occurrences() -> None:
    golden_case = cases()["multiple_occurrences"]
    inputs = golden_case["inputs"]
    case = Case(rows_of_one(inputs["occurrences"]), 1, streams=2, size=100, most=inputs["m"])
    ranking: Any = with_lists(case).node.operator()
    steps = zip(after_each(case), golden_case["expected"]["sorted_lists"], strict=True)
    for tick, step in steps:
        run(case, ranking, [tick])
        for stream, expected in step["entries"].items():
            found = ranking.entries.filter(pl.col("stream") == int(stream) - 1)
            values = [(t, pytest.approx(value)) for t, value in expected]
            assert found.select("t", "value").rows() == values
            lookup = found["value"].max() if found.height else 0
            assert lookup == pytest.approx(step["lookup"][stream])


def test_sums_are_not_below_what_was_rounded() -> None:
    # 0.1 + 0.2 in one stream and 0.3 in the other: the sum of all three is rounded once.
    values = [(0, "a", 0, 0.1), (1, "a", 0, 0.2), (2, "a", 1, 0.3), (2, "b", 0, 0.6)]
    rows = [(t, {"id": id, "stream": s, "value": value}) for t, id, s, value in values]
    case = with_lists(Case(rows, 1, streams=2, size=9, most=2))
    ranking: Any = case.node.operator()
    run(case, ranking, [(rows, 3)])
    entries = ranking.entries.filter(pl.col("s.id") == "a").group_by("stream").agg(pl.max("value"))
    assert entries["value"].sum() >= 0.6
    check(case, at_once(case))


def test_more_rows_than_promised() -> None:
    rows = [(1, "a"), (2, "b"), (4, "a")]
    case = Case([(t, {"id": id, "stream": 0, "value": 0.5}) for t, id in rows], 3, size=10)
    with pytest.raises(ExecutionError, match=r"stream 1 .* s\.id = 'a' .* the 1 that"):
        run(case, with_lists(case).node.operator(), one_by_one(case))
    check(with_lists(replace(case, size=3)), one_by_one(case))


def test_rows_that_go_are_forgotten() -> None:
    rows = [(t, {"id": f"{t:05}", "stream": 0, "value": t % 7 / 7}) for t in range(6000)]
    case = with_lists(Case(rows, 2, streams=1, size=20, value=pa.float64()))
    ranking: Any = case.node.operator()
    for start in range(0, 6000, 500):
        found = run(case, ranking, [(rows[start : start + 500], start + 500)])
        assert snapshot(found, start + 499).height == 2
    assert ranking.measures["ranking_rows"] == 20
    assert ranking.state_bytes < 1_000_000


def test_items_are_numbered_anew_when_few_are_left() -> None:
    # Many objects in a burst, then few at a time, and a view that is filled again meanwhile.
    burst = [(n // 500, f"{n * 7919 % 6000:04}", n % 97 / 97) for n in range(6000)]
    calm = [(12 + n, f"x{n * 31 % 900:03}", n % 89 / 89) for n in range(900)]
    rows = [(t, {"id": id, "stream": 0, "value": v}) for t, id, v in burst + calm]
    case = with_lists(Case(rows, 3, streams=1, size=30))
    ranking: Any = case.node.operator()
    ticks = [
        (rows[:6000], 12),
        *((rows[at : at + 50], rows[at][0]) for at in range(6000, 6900, 50)),
    ]
    found = run(case, ranking, [*ticks, ([], OPEN_END)])
    data = {"s": [(case.full(values), time) for time, values in rows]}
    expected = run_plan(Ranking(case.scan, case.ranked).exact, data, 1000)
    for instant in range(0, 950, 5):
        assert firsts(found, instant) == firsts(expected, instant)
    assert ranking.state_bytes < 1_000_000


def test_rows_of_the_end() -> None:
    case = with_lists(Case([(1, {"id": "a", "stream": 0, "value": 0.5})], 1, size=5))
    ranking: Any = case.node.operator()
    run(case, ranking, [(case.rows, 2)])
    assert ranking.state_rows == 1
    run(case, ranking, [([], OPEN_END)])
    assert ranking.state_rows == 0
