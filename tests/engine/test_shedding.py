"""SHED TO, as users write it, on the worked examples."""

from __future__ import annotations

from typing import Any

import pytest

import tidemill as tm
from tests.golden.star import cases, data_of

CASES = cases()
STAR = """
SELECT r.v AS a, s.v AS b, IMPORTANCE() AS importance
FROM r WINDOW(RANGE {life}), f, s WINDOW(RANGE {life}) WHERE r.v = f.a AND f.b = s.v
"""


def engine_of(data: dict[str, Any], ticks: bool = False) -> tm.Engine:
    engine = tm.Engine(runtime="inprocess")
    for name in ("r", "s"):
        rows = [{"at": t, "v": v, "imp": i} for t, v, i in data[name.upper()]]
        engine.stream(name, [[row] for row in rows] if ticks else rows, time="at")
    facts = [{"a": a, "b": b, "begin": max(begin, 0), "end": end} for a, b, begin, end in data["F"]]
    engine.relation("f", facts, changing=("begin", "end"))
    return engine


def answer(engine: tm.Engine, sql: str) -> list[tuple[Any, ...]]:
    query = engine.sql(sql)
    assert query is not None
    return sorted(tuple(row.values()) for row in query.collect().to_pylist())


@pytest.mark.parametrize("ticks", [False, True], ids=["at once", "row by row"])
@pytest.mark.parametrize("name", [name for name in CASES if name.startswith("online_")])
def test_worked_example(name: str, ticks: bool) -> None:
    case = CASES[name]
    inputs = case["inputs"]
    data = data_of(case)
    policy = inputs["heuristic"].lower()
    if policy == "dgl":
        policy = f"dgl(alpha => {inputs['alpha']}, beta => {inputs['beta']})"
    sql = STAR.format(life=data["m"])
    found = answer(engine_of(data, ticks), f"{sql} SHED TO {data['M']} ROWS BY imp USING {policy}")
    expected = case["expected"]
    assert (len(found), sum(row[2] for row in found)) == (
        expected["tuples"],
        expected["importance"],
    )


@pytest.mark.parametrize("name", ["example_exact", "second_example_exact"])
def test_with_enough_memory_nothing_is_lost(name: str) -> None:
    data = CASES[name]["inputs"]
    expected = CASES[name]["expected"]
    engine, sql = engine_of(data), STAR.format(life=data["m"])
    exact = answer(engine, sql.replace("IMPORTANCE()", "LEAST(r.imp, s.imp)"))
    assert (len(exact), sum(row[2] for row in exact)) == (
        expected["tuples"],
        expected["importance"],
    )
    assert answer(engine, f"{sql} SHED TO {2 * data['m']} ROWS BY imp") == exact
    assert answer(engine, f"{sql} SHED TO 2 ROWS BY imp") != exact


def test_progress_says_what_was_lost() -> None:
    data = CASES["example_exact"]["inputs"]
    query = engine_of(data).sql(f"{STAR.format(life=4)} SHED TO 2 ROWS BY imp USING simp")
    assert query is not None
    query.collect()
    shed = query.progress.shed
    assert shed.rows > 0
    assert shed.importance_given == 26
    assert shed.results_lost_estimate > 0


def test_a_single_stream_is_exact() -> None:
    data = CASES["semi_streaming_join"]["inputs"]
    engine = tm.Engine(runtime="inprocess")
    rows = [{"at": t, "v": v, "imp": i} for t, v, i in data["R"]]
    engine.stream("r", rows, time="at")
    facts = [{"v": v, "begin": max(begin, 0), "end": end} for v, begin, end in data["F"]]
    engine.relation("f", facts, changing=("begin", "end"))
    sql = "SELECT r.v, IMPORTANCE() AS i FROM r WINDOW(RANGE 3), f WHERE r.v = f.v"
    found = answer(engine, f"{sql} SHED TO 1 ROWS BY imp")
    expected = CASES["semi_streaming_join"]["expected"]["rows"]
    assert sorted((start, v, i) for v, i, start, _ in found) == [tuple(row) for row in expected]
