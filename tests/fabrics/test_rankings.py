"""Rankings in several partitions, on both fabrics, against the reference."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest

import tidemill as tm
from tests.checking.plans import reference_of
from tests.checking.queries import plan_of, run_script
from tests.fabrics.ground import Ground, seeds
from tests.random.cases import ranking_case
from tests.random.rankings import ranking_engine
from tests.runtime.cases import check_plan_on
from tidemill.algebra.ranking import Strategy
from tidemill.catalog import Hints
from tidemill.optimize import optimize
from tidemill.optimize.rules import rank_objects
from tidemill.physical.lowering import lower
from tidemill.physical.operators.ranking import RankExec
from tidemill.physical.operators.topk import TopKExec
from tidemill.runtime import tasks
from tidemill.runtime.reports import News, gathered
from tidemill.stages import stage_plans
from tidemill.testing.reference import check_result

SEEDS = range(16)


@seeds(
    [(seed, strategy) for seed in SEEDS for strategy in ("eaa", "sla")],
    long=[(1, "eaa"), (4, "sla"), (9, "eaa")],
)
def test_partitions(fabric: Ground, seed: tuple[int, str], tmp_path: Path) -> None:
    number, strategy = seed
    case = ranking_case(Random(number))
    engine = ranking_engine(case.ranking, case.inputs, tm.Engine(runtime="inprocess"))
    plan, functions = plan_of(run_script(case.ranking.sql, engine)), engine.catalog.functions
    ranked = optimize(plan, hints=Hints(rank=strategy), functions=functions)
    physical, place = lower(ranked, functions), fabric.make(2 + number % 2)
    check_plan_on(place, plan, case.inputs, tmp_path, physical, functions)


def test_the_seeds_have_everything() -> None:
    kinds = set()
    for seed in SEEDS:
        case = ranking_case(Random(seed))
        engine = ranking_engine(case.ranking, case.inputs, tm.Engine(runtime="inprocess"))
        query = run_script(case.ranking.hinted("eaa"), engine)
        nodes = list(stage_plans([query.operators]).walk())
        for node in nodes:
            if isinstance(node, RankExec):
                merged = any(isinstance(each, TopKExec) for each in nodes)
                alone = all(promise.most is None for promise in node.ranked.streams)
                kinds.add((node.ranked.rows is not None, merged, alone))
    assert {(False, True, False), (False, True, True), (True, False, False)} <= kinds


@seeds([1, 4, 9], spark=[4])
def test_queries(fabric: Ground, seed: int) -> None:
    case = ranking_case(Random(seed))
    engine = ranking_engine(case.ranking, case.inputs, fabric.engine())
    query = run_script(case.ranking.hinted("eaa"), engine)
    expected = reference_of(plan_of(query), case.inputs, engine.catalog.functions)
    check_result(query.collect(), expected)


def test_a_value_out_of_range_stops_the_query(fabric: Ground) -> None:
    engine = fabric.engine()
    rows = [{"id": 1, "value": 0.5, "t": 1}, {"id": 2, "value": 1.5, "t": 2}]
    engine.stream("s", rows, time="t")
    query = engine.sql(
        "SELECT id, s.value AS score FROM OBJECTS(s BY id) WINDOW(RANGE 5)"
        " ORDER BY score DESC LIMIT 1"
    )
    with pytest.raises(tm.ExecutionError, match=r"value 1\.5 of s\.value is not between 0 and 1"):
        query.collect()


FASTEST = """
SELECT /*+ RANK(eaa) */ id, a.v + b.v AS score
FROM OBJECTS(alpha AS a, beta AS b BY id) WINDOW(RANGE 60) ORDER BY score DESC LIMIT 3
"""


def add_streams(engine: tm.Engine) -> None:
    """Nine of ten objects of the first stream are a little later in the other, too."""
    random = Random(5)
    alpha = [{"id": t, "v": random.random(), "at": t} for t in range(300)]
    beta = [{"id": t, "v": random.random(), "at": t + 3} for t in range(300) if t % 10]
    for name, rows in (("alpha", alpha), ("beta", beta)):
        ticks = [pa.Table.from_pylist(rows[at : at + 75]) for at in range(0, len(rows), 75)]
        engine.stream(name, ticks, time="at", ranges={"v": (0, 1)}, at_most={"id": 1})


def held(rows: pa.Table) -> set[tuple[int, int, float]]:
    """Instants, objects and scores."""
    return {
        (at, row["id"], row["score"])
        for row in rows.to_pylist()
        for at in range(row["valid_from"], row["valid_to"])
    }


def test_approximately(fabric: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    exact = tm.Engine(runtime="inprocess")
    add_streams(exact)
    expected = held(exact.sql(FASTEST).collect())
    monkeypatch.setattr(rank_objects, "_strategies", lambda *_: iter([Strategy.APPROXIMATE]))
    heard: list[set[int]] = []

    def listening(reports: Any, level: int) -> News:
        news = gathered(reports, level)
        heard.extend(set(told) for told in news.values())
        return news

    monkeypatch.setattr(tasks, "gathered", listening)
    engine = fabric.engine()
    add_streams(engine)
    query = engine.sql(FASTEST)
    found = held(query.collect())
    assert len(found & expected) >= 0.9 * len(expected)
    assert {0, 1} in heard
    assert query.progress.ranking.precision is not None
