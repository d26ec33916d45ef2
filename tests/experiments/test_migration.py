"""Ways to change a plan while it runs, as the experiments compare them."""

from __future__ import annotations

from itertools import pairwise

import pytest

from experiments.migration.strategies import (
    GenMig,
    ParallelTrack,
    ReferencePoint,
    Setting,
    Staying,
    Strategy,
)
from tests.golden.loader import cases

SETTING = Setting(rows=225, rate=5, tick=2500)
VALUES = {name: [(7 * n + at) % 23 for at in range(SETTING.rows)] for n, name in enumerate("ABCD")}


@pytest.mark.parametrize("way", [GenMig, ReferencePoint, ParallelTrack])
def test_all_ways_give_the_same_results(way: type[Strategy]) -> None:
    assert _run(way).results[-1] == _run(Staying).results[-1] > 0


def test_durations_of_the_text() -> None:
    (case,) = (case for case in cases("genmig") if case.operator == "migration_end")
    (facts,) = case.facts["instances"]
    assert (SETTING.start, SETTING.window) == (1000 * facts["start"], 1000 * facts["window"])
    assert _run(GenMig).ended == 1000 * facts["expected"]["genmig_end"]
    assert _run(ParallelTrack).ended == 1000 * facts["expected"]["parallel_track_end"]


@pytest.mark.parametrize("way", [GenMig, ReferencePoint])
def test_no_tick_is_without_its_results(way: type[Strategy]) -> None:
    assert _run(way).results == _run(Staying).results


def test_parallel_track_falls_silent() -> None:
    results = _run(ParallelTrack).results
    rates = [after - before for before, after in pairwise(results)]
    # Ticks end at 2.5, 5, ... seconds: the last ones before 40, and the one that ends there.
    assert rates[11:14] == [0, 0, 0]
    assert rates[14] > 3 * rates[6] > 0


_KNOWN: dict[type[Strategy], object] = {}


def _run(way: type[Strategy]):  # type: ignore[no-untyped-def]
    if way not in _KNOWN:
        _KNOWN[way] = way(SETTING, VALUES).run()
    return _KNOWN[way]
