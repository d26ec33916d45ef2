"""What the experiments on early aggregation are made of: their data, and how they compare."""

import pytest

from experiments.early.comparison import Point, agreement, fitted, regret
from experiments.early.costs import hash_work
from experiments.early.measure import Effort, Measured, measure
from experiments.early.setting import FIGURE_5, Setting
from tests.golden.early import cases, streams
from tidemill.optimize.early.plan_costs import plan_rows
from tidemill.optimize.early.plans import all_masks, plan_name

SMALL = Setting((100, 50), (60, 40), (3, 1), (0.1, 0.1))
MASKS = all_masks([True, True])


def test_default_settings_are_the_texts() -> None:
    stated = cases()["experiment_settings"]["expected"]["figure_5"]
    assert FIGURE_5.streams == streams(stated)


def test_data_are_as_the_setting_says() -> None:
    first, second = SMALL.tables(seconds=20)
    assert (len(first), len(second)) == (2000, 1000)
    assert len(first["g"].unique()) == 3
    assert len(second["g"].unique()) == 1
    assert set(first["j"].to_pylist()) == set(second["j"].to_pylist())
    assert first["ts"].to_pylist()[:3] == [0, 10, 20]
    assert second["ts"].to_pylist()[:3] == [10, 30, 50]
    assert SMALL.lengths == [600, 800]


@pytest.mark.parametrize("setting", [SMALL, SMALL.first(groups=1000)])
def test_estimated_rows_are_measured_ones(setting: Setting) -> None:
    effort = Effort(ticks=4, tick=2.0)
    estimated = plan_rows(setting.sides, MASKS, tick=2 * setting.second).late * setting.second
    found = [measure(setting, tuple(mask), effort).rows for mask in MASKS.tolist()]
    assert found == pytest.approx(estimated.tolist(), rel=0.15)


def point(seconds: list[float]) -> Point:
    work = hash_work(SMALL.streams, MASKS, 1021)
    rows = plan_rows(SMALL.sides, MASKS)
    names = [plan_name(mask) for mask in MASKS]
    return Point("1", SMALL, names, work, rows, [Measured(s, 0) for s in seconds])


def test_fit_finds_the_constants() -> None:
    constants = [3e-6, 0.0, 7e-6]
    exact = point((hash_work(SMALL.streams, MASKS, 1021) @ constants).tolist())
    assert fitted([exact]) == pytest.approx(constants)


def test_orders_are_compared_where_times_differ() -> None:
    measured = {"LAP": 10.0, "EAP10": 5.0, "EAP01": 5.1}
    assert agreement({"LAP": 3, "EAP10": 2, "EAP01": 1}, measured) == 1
    assert agreement({"LAP": 2, "EAP10": 3, "EAP01": 1}, measured) == 0.5
    assert regret({"LAP": 1, "EAP10": 2, "EAP01": 3}, measured) == 2
