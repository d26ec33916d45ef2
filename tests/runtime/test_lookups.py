"""Streams meet relations in several partitions, on both fabrics, against the reference."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.fabrics.ground import Ground, seeds
from tests.random.cases import PlanCase, SplitCase, relation_case
from tests.runtime.cases import check_plan_on
from tidemill.optimize import optimize
from tidemill.physical.lowering import lower
from tidemill.physical.operators.lookup import LookupExec
from tidemill.physical.operators.versions import VersionsExec
from tidemill.stages import Mode, Staged, stage_plans
from tidemill.stages.exchange import ExchangeExec

# These seeds have lookups of all kinds, ...
LOOKUPS = [0, 5, 17, 23, 33, 50, 68]
# ... and these have relations that change, but are not looked up.
VERSIONS = [22, 31, 76, 79]

MOST = {"by key": 0, "everywhere": 10**9, "versions": 0}
WAYS = {"by key": Mode.HASH, "everywhere": Mode.BROADCAST, "versions": None}
CASES = [
    *((way, seed) for way in ("by key", "everywhere") for seed in LOOKUPS),
    *(("versions", seed) for seed in VERSIONS),
]


@seeds(CASES, spark=[("by key", 17)], long=[CASES[0], CASES[8], CASES[-1]])
def test_plans_over_relations(
    fabric: Ground, seed: tuple[str, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    way, number = seed
    monkeypatch.setattr("tidemill.stages.placement.MOST_BROADCAST", MOST[way])
    case = relation_case(Random(number))
    assert isinstance(case, PlanCase | SplitCase)
    physical = lower(optimize(case.plan), {})
    assert WAYS[way] in ways(stage_plans([physical])), "the plans of seeds have changed"
    check_plan_on(fabric.make(2 + number % 2), case.plan, case.inputs, tmp_path, physical)


def ways(staged: Staged) -> set[Mode | None]:
    """How relations come to the rows that look them up; None: without that."""
    found: set[Mode | None] = set()
    for node in staged.walk():
        if isinstance(node, LookupExec) and isinstance(node.relation, ExchangeExec):
            found.add(node.relation.mode)
        elif isinstance(node, VersionsExec):
            found.add(None)
    return found
