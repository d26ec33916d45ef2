"""Which plan is taken: all of them tried, or greedily."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from experiments.early.costs import Stream, hash_work, plan_costs
from experiments.early.costs import Tuning as TextTuning
from tidemill.optimize.cost.characteristics import Characteristics
from tidemill.optimize.early.choice import EXHAUSTIVE_INPUTS, choose, choose_greedily
from tidemill.optimize.early.plan_costs import JoinInput, choose_plan
from tidemill.optimize.early.plans import Costs, Masks


def random_streams(count: int, seed: int) -> list[Stream]:
    draw = np.random.default_rng(seed)
    keys = draw.choice([2, 10, 100])
    return [
        Stream(
            rate=float(draw.integers(1, 500)),
            window=float(draw.integers(50, 5000)),
            groups=float(draw.choice([1, 5, 50, 5000])),
            selectivity=1 / keys,
        )
        for _ in range(count)
    ]


def prices(streams: list[Stream]) -> Callable[[Masks], Costs]:
    def price(masks: Masks) -> Costs:
        return plan_costs(hash_work(streams, masks, 1021), np.zeros(len(masks)), TextTuning())

    return price


@pytest.mark.parametrize("seed", range(60))
def test_greedy_is_seldom_far_from_the_best(seed: int) -> None:
    streams = random_streams(2 + seed % 4, seed)
    allowed = [True] * len(streams)
    best = choose(prices(streams), allowed)
    greedy = choose_greedily(prices(streams), allowed)
    assert best.cost <= greedy.cost <= min(best.late, 1.1 * best.cost)
    assert len(best.ranking) == 2 ** len(streams)
    assert best.late == dict(best.ranking)[(False,) * len(streams)]


def test_many_inputs_are_chosen_greedily() -> None:
    streams = random_streams(EXHAUSTIVE_INPUTS + 5, 1)
    choice = choose(prices(streams), [True] * len(streams))
    assert choice == choose_greedily(prices(streams), [True] * len(streams))
    assert len(choice.ranking) <= len(streams) + 1
    assert choice.cost <= choice.late


@pytest.mark.parametrize("chooser", [choose, choose_greedily])
def test_inputs_that_must_stay_late(chooser: Any) -> None:
    choice = chooser(lambda masks: -masks.sum(axis=1).astype(float), [True, False, True])
    assert choice.mask == (True, False, True)


def test_plans_of_equal_cost_leave_the_late_one() -> None:
    assert choose(lambda masks: np.zeros(len(masks)), [True, True]).mask == (False, False)


@pytest.mark.parametrize(("inputs", "seconds"), [(6, 0.02), (10, 0.1)])
def test_choosing_is_quick(inputs: int, seconds: float) -> None:
    stream = Characteristics(distance=1, length=1000)
    sides = [JoinInput(stream, keys=100, groups=10**i) for i in range(inputs)]
    times = []
    for _ in range(3):
        start = time.perf_counter()
        choose_plan(sides)
        times.append(time.perf_counter() - start)
    assert min(times) < seconds
