"""Changes over several partitions and stages, on both fabrics, against the reference."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import polars as pl
import pytest

from tests.checking.plans import reference_of
from tests.fabrics.ground import Ground, seeds
from tests.fabrics.simulated import Rough
from tests.physical.test_net_changes import net
from tests.runtime.cases import Bounded, make_case
from tidemill.physical.lowering import lower
from tidemill.physical.mechanisms import release
from tidemill.physical.mechanisms.changes import AT, CHANGE, consolidate, to_changes
from tidemill.physical.operators.net_changes import SIGN, changes_of
from tidemill.reference import Row
from tidemill.runtime.fabric import Fabric, InProcess
from tidemill.stages import stage_plans
from tidemill.store import Store
from tidemill.timeline import BEGIN, VALID_FROM, VALID_TO


def running(
    seed: tuple[str, int], fabric: Fabric, folder: Path | None, form: str = "changes"
) -> Bounded:
    case, plan, functions = make_case(*seed)
    store = None if folder is None else Store(str(folder))
    physical = lower(plan, dict(functions))
    return Bounded(physical, case.inputs.sources(store), fabric, store, form)


def changes_between(rows: pl.DataFrame) -> Counter[tuple[Row, int]]:
    """The changes of whole intervals."""
    told = consolidate(to_changes(rows)).rename({AT: VALID_FROM, CHANGE: SIGN})
    return net(told.with_columns(pl.col(VALID_FROM).alias(VALID_TO)))


EVERY = [("plans", seed) for seed in range(60)] + [("queries", 15)]
LONG = [("plans", 40), ("plans", 157), ("plans", 16), ("queries", 15)]


@seeds(EVERY, spark=[("plans", 40)], long=LONG)
def test_ticks_tell_what_has_changed_so_far(
    fabric: Ground, seed: tuple[str, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Up to the watermark they add up to the snapshot of the reference, and all in all to the
    changes of whole intervals."""
    # Else partitions as small as these never hold a result back, and their watermarks are equal.
    monkeypatch.setattr(release, "_FREE", seed[1] % 2)
    case, plan, functions = make_case(*seed)
    expected = reference_of(plan, case.inputs, functions)
    ticks = running(seed, fabric.make(1 + seed[1] % 3), tmp_path)
    told: Counter[tuple[Row, int]] = Counter()
    before = BEGIN
    for number in ticks.ticks():
        found = ticks.rows.ticks[number]
        assert all(at >= before for at in found[VALID_FROM]), f"tick {number}"
        told.update(net(found))
        before = ticks.run.nodes[ticks.job.running].watermark
        held: Counter[Row] = Counter()
        for (row, at), copies in told.items():
            held[row] += copies * (at < before)
        wanted = expected.at(min(before - 1, expected.horizon)) if before else Counter()
        assert {row: n for row, n in held.items() if n} == wanted, f"tick {number}: {case}"
    ticks.run.stop()
    whole = running(seed, InProcess(1), None, "intervals").whole()
    assert {change: n for change, n in told.items() if n} == changes_between(whole)


@pytest.mark.parametrize("seed", range(20))
def test_ticks_tell_the_same_whatever_goes_wrong(seed: int, tmp_path: Path) -> None:
    calm = running(("plans", seed), InProcess(2), None)
    rough = running(("plans", seed), Rough(2, Random(seed)), tmp_path)
    calm.whole()
    rough.whole()
    assert per_tick(rough) == per_tick(calm)
    rough.run.stop()


def per_tick(ticks: Bounded) -> dict[int, Counter[tuple[Row, int]]]:
    return {number: net(rows) for number, rows in ticks.rows.ticks.items()}


@pytest.mark.parametrize("seed", range(60))
def test_rows_do_not_move_for_the_sake_of_changes(seed: int) -> None:
    _, plan, _ = make_case("plans", seed)
    physical = lower(plan, {})
    with_changes, without = (
        stage_plans([p]) for p in (changes_of(physical), physical.with_eager(True))
    )
    assert len(with_changes.stages) == max(1, len(without.stages))
