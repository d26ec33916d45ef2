"""Tasks travel without their plans, which other processes read once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.runtime.cases import staged_case
from tidemill.runtime import sending
from tidemill.runtime.sending import Sender
from tidemill.runtime.stage_task import StageTask
from tidemill.stages import Staged
from tidemill.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(str(tmp_path))


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that has seen no plan."""
    monkeypatch.setattr(sending, "_PLANS", {})


def task_of(plan: Staged, tick: int) -> StageTask:
    return StageTask(plan, plan.stages[-1], tick, {}, 2, "run")


def plan_of(seed: int) -> Staged:
    plan = staged_case("plans", seed)
    assert plan.stages
    return plan


def test_a_plan_is_read_once(store: Store) -> None:
    sender, plan = Sender(), plan_of(1)
    first, second = (sender.send(task_of(plan, tick), store) for tick in (3, 4))
    assert first.task.staged == plan
    assert first.task.stage is first.task.staged.stages[-1]
    (file,) = store.names("plans")
    store.remove(f"plans/{file}")
    assert second.task.staged is first.task.staged
    assert (first.task.tick, second.task.tick) == (3, 4)


def test_a_plan_does_not_travel(store: Store) -> None:
    sender = Sender()
    sizes = {seed: len(sender.send(task_of(plan_of(seed), 3), store).body) for seed in (1, 5, 9)}
    assert max(sizes.values()) < 1_000, sizes


def test_old_plans_are_let_go(store: Store) -> None:
    sender = Sender()
    plans = [plan_of(1) for _ in range(9)]
    for plan in plans:
        assert sender.send(task_of(plan, 0), store).task.staged == plan
    assert len(store.names("plans")) == len(sending._PLANS) == 4
    again = sender.send(task_of(plans[0], 1), store)
    assert again.task.staged == plans[0]
