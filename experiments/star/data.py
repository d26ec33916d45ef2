"""Streams and relations as the text makes them, as far as it says how.

Stream R has Zipf's distribution with exponent 1.0, S and the relation are uniform; one row of each
stream comes at every instant. Frequent values are of little importance, rare ones of much. The text
names neither the number of values nor the range of importances: see Figure 4 for how these here
were found.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from experiments.offline.graphs import Arrival, Fact

VALUES = 90
IMPORTANCES = 8


@dataclass(frozen=True)
class Setting:
    """How much of everything; importances go from 1 to `importances`."""

    rows: int = 5000
    facts: int = 250
    values: tuple[int, int] = (VALUES, VALUES)
    importances: int = IMPORTANCES


@dataclass(frozen=True)
class Stream:
    """Values and importances, by instant."""

    values: np.ndarray
    importances: np.ndarray

    def table(self, lots: np.ndarray) -> pa.Table:
        """For `best_join`; `lot` is a number that has nothing to do with the row."""
        return pa.table(
            {
                "at": np.arange(len(self.values)),
                "value": self.values,
                "importance": self.importances,
                "lot": lots,
            }
        )

    def arrivals(self) -> list[Arrival]:
        """For the memory-state graphs."""
        pairs = zip(self.values.tolist(), self.importances.tolist(), strict=True)
        return [Arrival(at, value, importance) for at, (value, importance) in enumerate(pairs)]


@dataclass(frozen=True)
class Star:
    """Two streams, and the pairs of values that are related."""

    r: Stream
    s: Stream
    pairs: np.ndarray
    lots: np.ndarray

    def tables(self) -> tuple[pa.Table, pa.Table, pa.Table]:
        """For `best_join`, with the keys of `KEYS`."""
        f = pa.table({"a": self.pairs[:, 0], "b": self.pairs[:, 1]})
        return self.r.table(self.lots[0]), self.s.table(self.lots[1]), f

    def facts(self) -> list[Fact]:
        """For the memory-state graphs."""
        return [Fact(a, b) for a, b in self.pairs.tolist()]


KEYS = ({"value": "a"}, {"value": "b"})


def generate(setting: Setting, seed: int) -> Star:
    """Two streams and a relation.

    >>> star = generate(Setting(rows=1000), seed=1)
    >>> np.bincount(star.r.values)[:3], star.pairs.shape
    (array([...]), (250, 2))
    >>> rare = np.bincount(star.r.values)[star.r.values] < 5
    >>> star.r.importances[rare].mean() > star.r.importances[~rare].mean()
    np.True_
    """
    random = np.random.default_rng(seed)
    first, second = setting.values
    zipf = 1 / np.arange(1, first + 1)
    r = random.choice(first, setting.rows, p=zipf / zipf.sum())
    s = random.integers(0, second, setting.rows)
    pairs = random.choice(first * second, setting.facts, replace=False)
    return Star(
        _stream(r, first, setting.importances),
        _stream(s, second, setting.importances),
        np.stack(np.divmod(pairs, second), axis=1),
        random.random((2, setting.rows)),
    )


def _stream(values: np.ndarray, count: int, importances: int) -> Stream:
    """Importance against frequency: values are ranked, and equally many get each importance."""
    frequencies = np.bincount(values, minlength=count)
    ranks = np.argsort(np.argsort(-frequencies, kind="stable"))
    return Stream(values, 1.0 + (ranks * importances // count)[values])
