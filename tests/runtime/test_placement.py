"""Where rows of joins without keys meet, in partitions, against the reference."""

from __future__ import annotations

from random import Random

import pyarrow as pa
import pytest

import tidemill as tm
from tests.fabrics.answers import net_changes, query_of
from tests.runtime.cases import check_plan_on, make_case, staged_case
from tidemill.physical.operators.join import JoinExec
from tidemill.runtime.fabric import InProcess
from tidemill.stages import Mode, Staged, stage_plans
from tidemill.stages.exchange import ExchangeExec

# Among the first 1500 plans, these have a join whose left side goes everywhere, ...
LEFT = [10, 45, 53, 54, 63, 82, 163, 237, 301, 376, 409, 442, 484, 508, 550, 592]
# ... and these have one whose sides are in one partition.
NEITHER = [92, 248, 366, 390, 534, 539, 630, 690, 802, 930]


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
def test_rows_above_find_each_other(sql: str) -> None:
    """What compares pairs brings them together by columns of either side."""
    random, found = Random(1), []
    tables = {name: rows_of(random) for name in ("s", "t")}
    for partitions in (3, 1):
        engine = tm.Engine("inprocess", partitions=partitions)
        for name, ticks in tables.items():
            engine.stream(name, ticks, "at")
        query = query_of(engine, sql)
        found.append(query.collect())
    # A single row, as of an extreme, goes wherever the rows are that it is compared with.
    expected = {(True, False), (False, True, False), (True, False, True)}
    assert replicated(stage_plans([query.operators])) & expected
    assert net_changes(found[0]) == net_changes(found[1])
    assert found[0].num_rows > 0


def rows_of(random: Random) -> list[pa.Table]:
    rows = [
        {"k": random.randint(0, 3), "v": random.randint(0, 9), "at": at // 2} for at in range(20)
    ]
    return [pa.Table.from_pylist(rows[:9]), pa.Table.from_pylist(rows[9:])]


@pytest.mark.parametrize("seed", LEFT + NEITHER)
def test_pairs_are_those_of_the_reference(seed: int) -> None:
    case, plan, _ = make_case("plans", seed)
    staged = staged_case("plans", seed)
    assert (seed in LEFT, False) in replicated(staged), "the plans of seeds have changed"
    check_plan_on(InProcess(2 + seed % 2, packs=True), plan, case.inputs)
