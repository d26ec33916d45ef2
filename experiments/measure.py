"""How long our join takes in different orders, with windows that are full from the beginning."""

from __future__ import annotations

from experiments.frame import timed  # isort: split

from collections.abc import Hashable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import TypeVar

import polars as pl
import pyarrow as pa

from experiments.algorithms import Loops
from experiments.streams import Data
from tidemill.algebra.schema import Schema
from tidemill.physical.operators.join.operator import JoinOperator
from tidemill.physical.operators.join.side import Side

Plan = TypeVar("Plan", bound=Hashable)

NESTED_LOOP = 1
HASHED = None


@dataclass(frozen=True)
class Measured:
    """Seconds of one core, tick by tick, after the windows were full; rows that came and left."""

    rows: int
    results: int
    ticks: tuple[float, ...]

    @property
    def seconds(self) -> float:
        """Seconds for all rows."""
        return sum(self.ticks)

    @property
    def rate(self) -> float:
        """Rows that could come per second, all streams together."""
        return self.rows / self.seconds


class Measurement:
    """A join over data whose first rows fill the windows, and the rest is measured.

    `tick` is how many rows are joined at once: the interval of a lazy evaluation, or 1. `buckets`
    are the sizes of the indexes: 1 is a nested loop, None an index by the whole hash.
    """

    def __init__(self, data: Data, tick: int, buckets: int | Sequence[int | None] | None) -> None:
        many = buckets if isinstance(buckets, Sequence) else [buckets] * len(data.windows)
        self._data = data
        self._filled = [self._side(at, number) for at, number in enumerate(many)]
        full = max(data.lengths)
        for at, side in enumerate(self._filled):
            rows = self._batch(at, range(full))
            side.keep(side.arrive(rows), full - data.lengths[at])
        self._ticks = [
            ([self._batch(at, part) for at in range(len(many))], part[-1])
            for part in data.batches(full, tick)
        ]

    def run(self, orders: Sequence[Loops]) -> Measured:
        """Join in these orders, by origin."""
        sides = [copy(side) for side in self._filled]
        for side in sides:
            side.runs = list(side.runs)
        operator = JoinOperator(sides, (), list(orders), ())
        results, ticks = 0, []
        for inputs, watermark in self._ticks:
            found: list[pl.DataFrame] = []
            marks = [watermark] * len(inputs)
            ticks.append(timed(lambda: found.append(operator.step(inputs, marks)[0])))  # noqa: B023
            results += found[0].height
        rows = sum(batch.height for inputs, _ in self._ticks for batch in inputs)
        return Measured(rows, results, tuple(ticks))

    def _side(self, at: int, buckets: int | None) -> Side:
        schema = Schema.of(**{f"v{at}": pa.int64()})
        return Side(schema, [f"v{at}"], [False], buckets)

    def _batch(self, at: int, part: range) -> pl.DataFrame:
        rows = slice(part.start, part.stop)
        mine = self._data.streams[rows] == at
        ts = pl.Series(range(part.start, part.stop), dtype=pl.Int64).filter(pl.Series(mine))
        values = pl.Series(self._data.values[rows][mine])
        # A row is in its window as long as the window is, and at the end of it too.
        end = ts + self._data.lengths[at] + 1
        return pl.DataFrame({f"v{at}": values, "valid_from": ts, "valid_to": end})


def best_of(
    measurement: Measurement, plans: Mapping[Plan, Sequence[Loops]], repetitions: int
) -> dict[Plan, Measured]:
    """Each plan, every tick at its best: what is above is disturbance. Plans take turns.

    All must give the same number of results.
    """
    runs: dict[Plan, list[Measured]] = {name: [] for name in plans}
    for _ in range(repetitions):
        for name, orders in plans.items():
            runs[name].append(measurement.run(orders))
    if len({each.results for many in runs.values() for each in many}) > 1:
        raise AssertionError(f"different orders gave different results: {runs}")
    return {
        name: replace(
            many[0], ticks=tuple(map(min, zip(*(each.ticks for each in many), strict=True)))
        )
        for name, many in runs.items()
    }
