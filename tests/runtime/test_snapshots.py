"""Snapshots over several partitions and stages, without Spark, against the reference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import polars as pl
import pytest
from tests.spark.driving import make_case, newest_row
from tests.spark.ticking import Ticks, native_batches

from tests.physical.test_snapshot import counted
from tidemill.algebra import Plan
from tidemill.fragments import Mode, Stage, Staged, stage_plans
from tidemill.physical import release
from tidemill.physical.lowering import lower
from tidemill.physical.operator import empty_batch
from tidemill.physical.snapshot import snapshots_of
from tidemill.runtime.spark import state
from tidemill.testing.check import reference_of
from tidemill.timeline import BEGIN, OPEN_END, VALID_FROM


@pytest.fixture(autouse=True)
def _no_memory() -> None:
    state._CACHE.clear()


def staged_snapshots(plan: Plan) -> Staged:
    return stage_plans([snapshots_of(lower(plan, {}))])


@pytest.mark.parametrize("seed", range(60))
def test_all_partitions_show_one_instant(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With every tick the snapshot of the reference; at the end, that of the newest row."""
    # Else partitions as small as these never hold a result back, and their watermarks are equal.
    monkeypatch.setattr(release, "_FREE", seed % 2)
    case, plan, _ = make_case("plans", seed)
    staged = staged_snapshots(plan)
    *_, last = staged.stages
    (leaf,) = last.leaves
    assert staged.edge(leaf.tag).mode is Mode.NOW
    newest = newest_row(plan, case.inputs)
    ticks = Snapshots(staged, tmp_path.as_uri(), 1 + seed % 3, monkeypatch)
    ticks.newest = newest
    expected = reference_of(plan, case.inputs)
    for number, batch in enumerate(native_batches(staged, case.inputs.feeds())):
        found = pl.concat([empty_batch(plan.schema), *ticks.tick(number, *batch)])
        until = ticks.until[leaf.tag]
        wanted = Counter() if until == BEGIN else expected.at(min(until - 1, expected.horizon))
        assert counted(found) == wanted, f"tick {number}: {case}"
        assert set(found[VALID_FROM]) <= {until - 1}
    assert until == (OPEN_END if newest is None else newest + 1)


@pytest.mark.parametrize("seed", range(20))
def test_ticks_done_again_show_the_same(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case, plan, _ = make_case("plans", seed)
    staged = staged_snapshots(plan)
    ticks = Snapshots(staged, tmp_path.as_uri(), 2, monkeypatch)
    ticks.newest = newest_row(plan, case.inputs)
    for number, batch in enumerate(native_batches(staged, case.inputs.feeds())):
        found = []
        for again in (False, True):
            parts = ticks.tick(number, *batch, turn=again)
            found.append(counted(pl.concat([empty_batch(plan.schema), *parts])))
            state._CACHE.clear()
        assert found[0] == found[1], f"tick {number}"


class Snapshots(Ticks):
    """Goes by the watermarks by which the driver goes at the end of the input."""

    newest: int | None = None

    def _marks_of(self, stage: Stage, known: Mapping[int, int]) -> dict[int, int]:
        self.until = super()._marks_of(stage, known)
        for tag, mark in self.until.items():
            if self.staged.edge(tag).mode is Mode.NOW and self.newest is not None:
                self.until[tag] = min(mark, self.newest + 1)
        return self.until
