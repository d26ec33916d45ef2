"""A short run of what `make soak` does for half an hour."""

from __future__ import annotations

from experiments.adapting.mix import Mix
from tests.soak.bursts import Setting, Soak


def test_memory_stays_under_its_bound_and_answers_are_exact() -> None:
    mix = Mix(streams=5, rates=(10, 60), minutes=(0.1, 2), seed=7)
    soak = Soak(Setting(queries=12, memory="60kB", mix=mix, sampled=3))
    for _ in range(48):
        soak.tick()
    soak.check()
    assert soak.report.bursts
    assert soak.report.changes
    assert soak.report.checked == 3
    assert not soak.report.refused
    assert not soak.report.late
