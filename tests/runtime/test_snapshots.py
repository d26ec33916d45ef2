"""Snapshots over several partitions and stages, on both fabrics, against the reference."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest

from tests.checking.plans import reference_of
from tests.fabrics.ground import Ground, seeds
from tests.fabrics.simulated import Rough
from tests.runtime.cases import Bounded, make_case, newest_row
from tidemill.physical.lowering import lower
from tidemill.physical.mechanisms import release
from tidemill.physical.operators.snapshot import snapshots_of
from tidemill.reference import Snapshot, canonical_row
from tidemill.runtime.fabric import Fabric, InProcess
from tidemill.stages import Mode, stage_plans
from tidemill.store import Store
from tidemill.timeline import OPEN_END, VALID_FROM, VALID_TO


def counted(batch: pl.DataFrame) -> Snapshot:
    return Counter(canonical_row(row) for row in batch.drop(VALID_FROM, VALID_TO).iter_rows())


def snapshots(seed: tuple[str, int], fabric: Fabric, folder: Path | None) -> Bounded:
    case, plan, functions = make_case(*seed)
    store = None if folder is None else Store(str(folder))
    physical = lower(plan, dict(functions))
    return Bounded(physical, case.inputs.sources(store), fabric, store, "snapshot")


EVERY = [("plans", seed) for seed in range(60)] + [("queries", 15)]
LONG = [("plans", 40), ("plans", 157), ("plans", 16), ("queries", 15)]


@seeds(EVERY, spark=[("plans", 40)], long=LONG)
def test_all_partitions_show_one_instant(
    fabric: Ground, seed: tuple[str, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With every tick the snapshot of the reference; at the end, that of the newest row."""
    # Else partitions as small as these never hold a result back, and their watermarks are equal.
    monkeypatch.setattr(release, "_FREE", seed[1] % 2)
    case, plan, functions = make_case(*seed)
    expected, newest = reference_of(plan, case.inputs, functions), newest_row(plan, case.inputs)
    ticks = snapshots(seed, fabric.make(1 + seed[1] % 3), tmp_path)
    shown = 0
    for number in ticks.ticks():
        found = ticks.rows.ticks[number]
        at = ticks.run.nodes[ticks.job.running].watermark
        assert at >= shown
        assert set(found[VALID_FROM]) <= {at}, f"tick {number}"
        if at or found.height:
            wanted = expected.at(min(at, expected.horizon))
            assert counted(found) == wanted, f"tick {number}: {case}"
        shown = at
    assert shown == (OPEN_END - 1 if newest is None else newest)
    assert counted(found) == expected.at(min(shown, expected.horizon))
    ticks.run.stop()


@pytest.mark.parametrize("seed", range(20))
def test_ticks_show_the_same_whatever_goes_wrong(seed: int, tmp_path: Path) -> None:
    calm = snapshots(("plans", seed), InProcess(2), None)
    rough = snapshots(("plans", seed), Rough(2, Random(seed)), tmp_path)
    calm.whole()
    rough.whole()
    assert per_tick(rough) == per_tick(calm)
    rough.run.stop()


def per_tick(ticks: Bounded) -> dict[int, Any]:
    return {number: counted(rows) for number, rows in ticks.rows.ticks.items()}


@pytest.mark.parametrize("seed", range(60))
def test_the_last_stage_goes_by_the_newest_row(seed: int) -> None:
    _, plan, _ = make_case("plans", seed)
    staged = stage_plans([snapshots_of(lower(plan, {}))])
    (leaf,) = staged.stages[-1].leaves
    assert staged.exchange(leaf.tag).mode is Mode.NOW
