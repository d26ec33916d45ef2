"""Where rows of joins without keys meet, without Spark, against the reference."""

from __future__ import annotations

from pathlib import Path
from random import Random

import polars as pl
import pyarrow as pa
import pytest

import tidemill as tm
from tests.spark.driving import make_case, net_changes, query_of, staged_case
from tests.spark.ticking import Ticks, native_batches
from tidemill.fragments import Mode, Staged, stage_plans
from tidemill.fragments.exchange import ExchangeExec
from tidemill.physical.join import JoinExec
from tidemill.physical.operator import empty_batch
from tidemill.runtime.spark import state
from tidemill.testing.check import check_result, reference_of

# Among the first 1500 plans, these have a join whose left side goes everywhere, ...
LEFT = [8, 57, 76, 102, 129, 241, 297, 334, 347, 351, 386, 414, 502, 506, 600, 621]
# ... and these have one whose sides are in one partition.
NEITHER = [138, 194, 250, 257, 456, 504, 553, 616, 833, 1043]


@pytest.fixture(autouse=True)
def _no_memory() -> None:
    state._CACHE.clear()


def replicated(staged: Staged) -> set[tuple[bool, ...]]:
    """Which inputs of joins go everywhere, where some have no keys."""
    joins = [node for node in staged.walk() if isinstance(node, JoinExec) and not all(node.keys)]
    return {tuple(map(_everywhere, join.inputs)) for join in joins}


def _everywhere(side: object) -> bool:
    return isinstance(side, ExchangeExec) and side.mode is Mode.BROADCAST


GROUPS = "(SELECT k, MAX(v) AS m FROM s WINDOW(RANGE 2) GROUP BY k) AS a"
ABOVE = [
    f"SELECT a.k, COUNT(*) AS n FROM {GROUPS}, t WINDOW(RANGE 5) WHERE t.v < a.m GROUP BY a.k",
    f"SELECT t.k, COUNT(*) AS n FROM {GROUPS}, t WINDOW(RANGE 5) WHERE t.v < a.m GROUP BY t.k",
    f"SELECT DISTINCT a.k FROM {GROUPS}, t WINDOW(RANGE 5) WHERE t.v < a.m",
    f"SELECT a.k, t.v FROM {GROUPS}, t WINDOW(RANGE 5) ORDER BY v, k LIMIT 3",
    f"SELECT a.k FROM {GROUPS}, t WINDOW(RANGE 5) EXCEPT ALL SELECT k FROM s WINDOW(RANGE 3)",
    f"SELECT t.v FROM {GROUPS}, t WINDOW(RANGE 5), s WINDOW(RANGE 1) AS b WHERE b.k = a.k",
    f"SELECT a.k FROM {GROUPS}, t WINDOW(RANGE 5) WHERE EXISTS "
    "(SELECT 1 FROM s WINDOW(RANGE 9) AS b WHERE b.v < t.v)",
]


@pytest.mark.parametrize("sql", ABOVE)
def test_rows_above_find_each_other(
    sql: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What compares pairs brings them together by columns of either side."""
    engine, random = tm.Engine("inprocess"), Random(1)
    for name in ("s", "t"):
        rows = [
            {"k": random.randint(0, 3), "v": random.randint(0, 9), "at": at // 2}
            for at in range(20)
        ]
        engine.stream(name, [pa.Table.from_pylist(rows[:9]), pa.Table.from_pylist(rows[9:])], "at")
    query = query_of(engine, sql)
    staged = stage_plans([query.job.plan])
    assert replicated(staged) & {(True, False), (False, True, False)}
    ticks = Ticks(staged, tmp_path.as_uri(), 3, monkeypatch)
    feeds = {name: engine._sources.feed(engine.catalog.lookup(name)) for name in ("s", "t")}
    found = [empty_batch(query.schema)]
    for number, batch in enumerate(native_batches(staged, feeds)):
        found += ticks.tick(number, *batch)
    table = query._output(pl.concat(found), "valid_from", "valid_to")
    assert net_changes(table) == net_changes(query.collect())
    assert table.num_rows > 0


@pytest.mark.parametrize("seed", LEFT + NEITHER)
def test_pairs_are_those_of_the_reference(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case, plan, _ = make_case("plans", seed)
    staged = staged_case("plans", seed)
    assert (seed in LEFT, False) in replicated(staged), "the plans of seeds have changed"
    ticks = Ticks(staged, tmp_path.as_uri(), 2 + seed % 2, monkeypatch)
    found = [empty_batch(plan.schema)]
    for number, batch in enumerate(native_batches(staged, case.inputs.feeds())):
        found += ticks.tick(number, *batch)
    check_result(pl.concat(found).to_arrow(), reference_of(plan, case.inputs))
