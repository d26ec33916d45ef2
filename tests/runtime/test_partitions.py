"""Random plans and random SQL in partitions and stages, on both fabrics, against the reference.

The seeds on Spark are chosen so that together they have every operator and every kind of exchange;
`make soak` takes many more.
"""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from tests.checking.contract import WatchExec
from tests.fabrics.ground import Ground, seeds
from tests.fabrics.simulated import Rough
from tests.runtime.cases import check_plan_on, make_case, staged_case
from tidemill.physical.adjusting import AdjustableExec
from tidemill.physical.operator import Exec, InstantExec, OverExec, RowExec, SameMeaningExec
from tidemill.physical.operators.coalesce import CoalesceExec
from tidemill.physical.operators.counting import CountingExec
from tidemill.physical.operators.fuse import FuseExec
from tidemill.physical.operators.istream import CopyChangesExec
from tidemill.physical.operators.migrating import MigratingExec
from tidemill.physical.operators.net_changes import ChangesExec
from tidemill.physical.operators.pick import PickExec
from tidemill.physical.operators.ranking import RankExec
from tidemill.physical.operators.reference_point import ReferencePointExec
from tidemill.physical.operators.snapshot import SnapshotExec
from tidemill.physical.operators.star import AssignPartitionExec, StarJoinExec
from tidemill.physical.operators.versions import VersionsExec
from tidemill.stages import LateRowsExec, Mode
from tidemill.stages.stages import ReceiveExec

PLANS = [
    *[40, 161, 56, 243, 248, 13, 196, 219, 20, 143, 69, 179, 16, 133, 157, 82, 8, 93, 341],
    *[2, 64, 6],
]
QUERIES = [0, 61, 73, 15]
EVERY = [("plans", seed) for seed in PLANS] + [("queries", seed) for seed in QUERIES]
SOON = [("plans", 40), ("plans", 157), ("queries", 15)]
"""With every `make test`."""

MORE = [("plans", seed) for seed in range(45)]
SOAK = [
    (kind, seed)
    for seed in range(1000, 1000 + int(os.environ.get("TIDEMILL_SOAK", "0")))
    for kind in ("plans", "queries")
]

# Coalesce is only used on collected results, changes, snapshots and late rows are made for sinks,
# stars that shed, rankings and relations that change have tests of their own; the others are bases,
# leaves of stages, or checks.
ELSEWHERE = {
    *{Exec, InstantExec, OverExec, RowExec, AdjustableExec, SameMeaningExec},
    RankExec,
    StarJoinExec,
    AssignPartitionExec,
    VersionsExec,
    CoalesceExec,
    ChangesExec,
    SnapshotExec,
    LateRowsExec,
    *{CountingExec, CopyChangesExec},  # families
    ReceiveExec,
    WatchExec,
    PickExec,  # random lives of graphs with queries of few shapes
    *{MigratingExec, FuseExec, ReferencePointExec},  # of migrations: random lives of graphs
}


@seeds(dict.fromkeys([*EVERY, *MORE]), spark=SOON, long=[*EVERY, *SOAK])
def test_random_cases(fabric: Ground, seed: tuple[str, int], tmp_path: Path) -> None:
    case, plan, functions = make_case(*seed)
    try:
        place = fabric.make(1 + seed[1] % 3)
        check_plan_on(place, plan, case.inputs, tmp_path, functions=functions)
    except Exception as error:
        raise AssertionError(f"{seed}\n\n{case}\n\n{error}") from error


@pytest.mark.parametrize("seed", dict.fromkeys([*EVERY, *MORE]), ids=str)
def test_lost_memory_and_tasks_done_again(seed: tuple[str, int], tmp_path: Path) -> None:
    """Spark may repeat one task of a stage while others keep the rows of its first attempt."""
    case, plan, functions = make_case(*seed)
    rough = Rough(2 + seed[1] % 2, Random(seed[1]))
    check_plan_on(rough, plan, case.inputs, tmp_path, functions=functions)


def test_the_seeds_have_everything() -> None:
    staged = [staged_case(kind, seed) for kind, seed in EVERY]
    seen = {type(node) for plan in staged for node in plan.walk()}
    assert seen == subclasses(Exec) - ELSEWHERE
    assert {exchange.mode for plan in staged for exchange in plan.exchanges} == set(Mode) - {
        Mode.NOW,
        Mode.GIVEN,
    }
    assert {min(len(plan.stages), 3) for plan in staged} == {0, 1, 2, 3}
    in_stages = {
        type(node)
        for plan in staged
        for stage in plan.stages
        for _, root in stage.outputs
        for node in root.walk()
    }
    assert seen - in_stages == {t for t in seen if t.__name__ in ("SourceExec", "ExchangeExec")}


def subclasses(kind: type) -> set[type]:
    """The class and all below it, in the package itself."""
    below = {each for child in kind.__subclasses__() for each in subclasses(child)}
    return {each for each in {kind} | below if each.__module__.startswith("tidemill.")}
