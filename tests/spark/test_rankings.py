"""Rankings in several partitions, with and without Spark, against the reference."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from random import Random

import polars as pl
import pytest
from pyspark.sql import SparkSession

import tidemill as tm
from tests.spark.ticking import Ticks, native_batches
from tidemill.analyze import Hints
from tidemill.fragments import stage_plans
from tidemill.optimize import optimize
from tidemill.physical.lowering import lower
from tidemill.physical.operator import empty_batch
from tidemill.physical.ranking import RankExec
from tidemill.physical.topk import TopKExec
from tidemill.runtime.spark import state
from tidemill.testing.check import check_result, reference_of
from tidemill.testing.check_queries import plan_of, run_script
from tidemill.testing.random_cases import ranking_case
from tidemill.testing.random_rankings import ranking_engine

SEEDS = range(16)


@pytest.fixture(autouse=True)
def _no_memory() -> None:
    state._CACHE.clear()


@pytest.mark.parametrize("strategy", ["eaa", "sla"])
@pytest.mark.parametrize("seed", SEEDS)
def test_partitions(
    seed: int, strategy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = ranking_case(Random(seed))
    engine = ranking_engine(case.ranking, case.inputs, tm.Engine(runtime="inprocess"))
    plan, functions = plan_of(run_script(case.ranking.sql, engine)), engine.catalog.functions
    ranked = partial(optimize, hints=Hints(rank=strategy), functions=functions)
    staged = stage_plans([lower(ranked(plan), functions)])
    ticks = Ticks(staged, tmp_path.as_uri(), 2 + seed % 2, monkeypatch)
    found = [empty_batch(plan.schema)]
    for number, batch in enumerate(native_batches(staged, case.inputs.feeds())):
        found += ticks.tick(number, *batch)
    check_result(pl.concat(found).to_arrow(), reference_of(plan, case.inputs, functions))


def test_the_seeds_have_everything() -> None:
    kinds = set()
    for seed in SEEDS:
        case = ranking_case(Random(seed))
        engine = ranking_engine(case.ranking, case.inputs, tm.Engine(runtime="inprocess"))
        query = run_script(case.ranking.hinted("eaa"), engine)
        nodes = list(stage_plans([query.job.plan]).walk())
        for node in nodes:
            if isinstance(node, RankExec):
                merged = any(isinstance(each, TopKExec) for each in nodes)
                alone = all(promise.most is None for promise in node.ranked.streams)
                kinds.add((node.ranked.rows is not None, merged, alone))
    assert {(False, True, False), (False, True, True), (True, False, False)} <= kinds


@pytest.mark.parametrize("seed", [1, 4, 9])
def test_on_spark(session: SparkSession, seed: int) -> None:
    case = ranking_case(Random(seed))
    engine = ranking_engine(case.ranking, case.inputs, tm.Engine(spark=session))
    query = run_script(case.ranking.hinted("eaa"), engine)
    expected = reference_of(plan_of(query), case.inputs, engine.catalog.functions)
    check_result(query.collect(), expected)


def test_a_value_out_of_range_stops_the_query(session: SparkSession) -> None:
    engine = tm.Engine(spark=session)
    rows = [{"id": 1, "value": 0.5, "t": 1}, {"id": 2, "value": 1.5, "t": 2}]
    engine.stream("s", rows, time="t")
    query = engine.sql(
        "SELECT id, s.value AS score FROM OBJECTS(s BY id) WINDOW(RANGE 5)"
        " ORDER BY score DESC LIMIT 1"
    )
    with pytest.raises(tm.ExecutionError, match=r"value 1\.5 of s\.value is not between 0 and 1"):
        query.collect()
