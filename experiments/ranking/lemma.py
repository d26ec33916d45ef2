"""How large dominance sets are if scores are uniform: drawn by chance, and expected."""

from __future__ import annotations

import numpy as np


def dominance_sizes(count: int, interval: float, repetitions: int, seed: int) -> np.ndarray:
    """How many of so many objects nothing dominates, several times.

    Objects are in order of time. Their scores are uniform and may grow by `interval`, up to 1. One
    is dominated if a later one has more than it can reach; if `interval` is 0, that is a skyline.

    >>> dominance_sizes(100, 1.0, repetitions=3, seed=1)
    array([100, 100, 100])
    """
    current = np.random.default_rng(seed).random((repetitions, count))
    best = np.minimum(current + interval, 1)
    later = np.maximum.accumulate(current[:, ::-1], axis=1)[:, ::-1]
    kept = best[:, :-1] >= later[:, 1:]
    return 1 + kept.sum(axis=1)


def expected_size(count: int, interval: float) -> float:
    """The mean of the above, exactly.

    >>> round(expected_size(1000, 0), 6), round(expected_size(1000, 0.1), 5)
    (7.485471, 107.38011)
    """
    places = np.arange(1, count + 1)
    return float(count * interval + ((1 - interval**places) / places).sum())
