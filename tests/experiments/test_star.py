"""The data of the star joins' experiments, and the ways to join it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from experiments.star.data import Setting, generate
from experiments.star.shedding import exact, largest, online, optimal
from tidemill.algebra import Policy, Shedding

STAR = generate(Setting(rows=400), seed=3)
LIFE = 10


def test_streams_are_distributed_as_in_the_text() -> None:
    star = generate(Setting(rows=50_000), seed=1)
    zipf, uniform = (np.bincount(stream.values) for stream in (star.r, star.s))
    assert zipf[0] / zipf[9] == pytest.approx(10, rel=0.1)
    assert uniform.max() / uniform.min() < 1.5
    assert len(np.unique(star.pairs, axis=0)) == 250


def test_importance_goes_against_frequency() -> None:
    star = generate(Setting(), seed=3)
    for stream in (star.r, star.s):
        frequency = np.bincount(stream.values)[stream.values]
        levels = [frequency[stream.importances == level] for level in range(1, 9)]
        assert all(one.min() >= next_one.max() for one, next_one in pairwise(levels))


@pytest.mark.parametrize("memory", [2, 6, 20])
def test_ways_are_in_their_order(memory: int) -> None:
    whole, best = exact(STAR, LIFE), optimal(STAR, memory, LIFE)
    most = largest(STAR, memory, LIFE, ties="importance")
    luck = largest(STAR, memory, LIFE, ties="lot")
    assert whole.importance >= best.importance >= most.importance >= luck.importance
    assert whole.tuples >= most.tuples == luck.tuples >= best.tuples
    for policy in Policy:
        found = online(STAR, LIFE, Shedding(memory, (None, None), policy))
        assert found.importance <= best.importance
        assert found.tuples <= most.tuples
        if memory == 2 * LIFE:
            assert found == whole
