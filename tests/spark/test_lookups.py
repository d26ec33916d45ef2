"""Streams meet relations in several partitions, without Spark, against the reference."""

from __future__ import annotations

from pathlib import Path
from random import Random

import polars as pl
import pytest

from tests.spark.ticking import Ticks, native_batches
from tidemill.fragments import Mode, Staged, stage_plans
from tidemill.fragments.exchange import ExchangeExec
from tidemill.optimize import optimize
from tidemill.physical.lookup import LookupExec
from tidemill.physical.lowering import lower
from tidemill.physical.operator import empty_batch
from tidemill.physical.versions import VersionsExec
from tidemill.runtime.spark import state
from tidemill.testing.check import check_result, reference_of
from tidemill.testing.random_cases import PlanCase, SplitCase, relation_case

# These seeds have lookups of all kinds, ...
LOOKUPS = [0, 3, 9, 17, 23, 33, 68]
# ... and these have relations that change, but are not looked up.
VERSIONS = [22, 45, 76, 79]


@pytest.fixture(autouse=True)
def _no_memory() -> None:
    state._CACHE.clear()


CASES = [
    *(pytest.param(seed, Mode.HASH, 0, id=f"{seed} by key") for seed in LOOKUPS),
    *(pytest.param(seed, Mode.BROADCAST, 10**9, id=f"{seed} everywhere") for seed in LOOKUPS),
    *(pytest.param(seed, None, 0, id=f"{seed} versions") for seed in VERSIONS),
]


@pytest.mark.parametrize(("seed", "mode", "most"), CASES)
def test_plans_over_relations(
    seed: int, mode: Mode | None, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tidemill.fragments.placement.MOST_BROADCAST", most)
    case = relation_case(Random(seed))
    assert isinstance(case, PlanCase | SplitCase)
    staged = stage_plans([lower(optimize(case.plan), {})])
    assert mode in ways(staged), "the plans of seeds have changed"
    ticks = Ticks(staged, tmp_path.as_uri(), 2 + seed % 2, monkeypatch)
    found = [empty_batch(case.plan.schema)]
    for number, batch in enumerate(native_batches(staged, case.inputs.feeds())):
        found += ticks.tick(number, *batch)
    check_result(pl.concat(found).to_arrow(), reference_of(case.plan, case.inputs))


def ways(staged: Staged) -> set[Mode | None]:
    """How relations come to the rows that look them up; None: without that."""
    found: set[Mode | None] = set()
    for node in staged.walk():
        if isinstance(node, LookupExec) and isinstance(node.relation, ExchangeExec):
            found.add(node.relation.mode)
        elif isinstance(node, VersionsExec):
            found.add(None)
    return found
