"""Random plans and random SQL: Spark, the in-process runtime and the reference agree.

The seeds are chosen so that together they have every operator and every kind of exchange;
`make soak` takes many more.
"""

from __future__ import annotations

import os

import pytest
from pyspark.sql import SparkSession

from tests.spark.driving import check_seed, check_snapshots, staged_case
from tidemill.fragments import LateRowsExec, Mode
from tidemill.fragments.stages import EdgeExec
from tidemill.physical.adjusting import AdjustableExec
from tidemill.physical.coalesce import CoalesceExec
from tidemill.physical.counting import CountingExec
from tidemill.physical.fuse import FuseExec
from tidemill.physical.hand_over import HandOverExec
from tidemill.physical.operator import Exec
from tidemill.physical.ranking import RankExec
from tidemill.physical.reference_point import ReferencePointExec
from tidemill.physical.snapshot import SnapshotExec
from tidemill.physical.star import AssignPartitionExec, StarJoinExec
from tidemill.physical.versions import VersionsExec
from tidemill.testing.contract import WatchExec

PLANS = [40, 161, 56, 243, 248, 13, 196, 219, 20, 143, 69, 179, 16, 133, 157, 82, 8, 93, 341]
QUERIES = [0, 61, 73, 15]
SNAPSHOTS = [("plans", 40), ("plans", 157), ("plans", 16), ("queries", 15)]
MORE = int(os.environ.get("TIDEMILL_SOAK", "0"))

SEEDS = [("plans", seed) for seed in PLANS] + [("queries", seed) for seed in QUERIES]
SOAK = [(kind, seed) for seed in range(1000, 1000 + MORE) for kind in ("plans", "queries")]

# Coalesce is only used on collected results, snapshots and late rows are made for sinks, stars that
# shed, rankings and relations that change have tests of their own; the others are bases, leaves of
# stages, or checks.
ELSEWHERE = {
    Exec,
    AdjustableExec,
    RankExec,
    StarJoinExec,
    AssignPartitionExec,
    VersionsExec,
    CoalesceExec,
    SnapshotExec,
    LateRowsExec,
    CountingExec,
    EdgeExec,
    WatchExec,
    *{HandOverExec, FuseExec, ReferencePointExec},  # of migrations: tests/spark/test_hand_over.py
}


@pytest.mark.parametrize(("kind", "seed"), SEEDS, ids=[f"{kind}-{seed}" for kind, seed in SEEDS])
def test_random_case(session: SparkSession, kind: str, seed: int) -> None:
    check_seed(session, kind, seed, partitions=1 + seed % 3)


@pytest.mark.parametrize(("kind", "seed"), SNAPSHOTS)
def test_snapshots(session: SparkSession, kind: str, seed: int) -> None:
    check_snapshots(session, kind, seed, partitions=1 + seed % 3)


if SOAK:

    @pytest.mark.parametrize(("kind", "seed"), SOAK, ids=[f"{kind}-{seed}" for kind, seed in SOAK])
    def test_more_random_cases(session: SparkSession, kind: str, seed: int) -> None:
        check_seed(session, kind, seed, partitions=1 + seed % 4)


def test_the_seeds_have_everything() -> None:
    staged = [staged_case(kind, seed) for kind, seed in SEEDS]
    seen = {type(node) for plan in staged for node in plan.walk()}
    assert seen == subclasses(Exec) - ELSEWHERE
    assert {edge.mode for plan in staged for edge in plan.edges} == set(Mode) - {
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
