"""MIN and MAX over rows that come and go.

A row is worth keeping only while no row that ends later beats it. What is left, in the order of
the ends, gets worse and worse: the best row now is the first that has not ended. So the state
is a few runs of such chains, and a step looks at as many of their rows as end in it, and one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from tidemill.physical.mechanisms.arrays import (
    Array,
    Ints,
    bisect,
    doubles_of,
    ordered_bits,
    ranges,
    running_max,
)
from tidemill.physical.mechanisms.arrays import starts_of_runs as run_starts
from tidemill.physical.mechanisms.ledger import Moments, Posted
from tidemill.physical.mechanisms.ordering import slot_order
from tidemill.physical.operators.aggregate.ranges import smallest_covering
from tidemill.timeline import OPEN_END


@dataclass(frozen=True)
class _Chain:
    """Rows worth keeping, by slot and end."""

    slots: Ints
    ends: Ints
    values: Array

    def __len__(self) -> int:
        return len(self.slots)

    def take(self, rows: Array) -> _Chain:
        return _Chain(self.slots[rows], self.ends[rows], self.values[rows])

    def after(self, until: int) -> _Chain:
        """The rows that end later."""
        return self.take(np.flatnonzero(self.ends > until))


def _merged(before: _Chain, last: _Chain) -> _Chain:
    both = _Chain(
        np.concatenate([before.slots, last.slots]),
        np.concatenate([before.ends, last.ends]),
        np.concatenate([before.values, last.values]),
    )
    if before.ends.max(initial=0) <= last.ends.min(initial=OPEN_END):
        # Within a slot the ends are in order already.
        return both.take(np.argsort(both.slots, kind="stable"))
    return both.take(slot_order(both.slots, both.ends))


class Extremes:
    """The smallest (or largest) value of every slot, at every moment."""

    STATE = ("_chains",)

    def __init__(self, largest: bool) -> None:
        self._largest = largest
        self._chains: list[_Chain] = []

    def advance(
        self,
        values: Array,
        ends: Ints,
        posted: Posted,
        moments: Moments,
        swept: int,
        until: int,
    ) -> Array:
        """The best value at each moment; rows of `values` are those that were posted."""
        old = [self._standing(chain, moments, swept, until) for chain in self._chains]
        starts = np.concatenate([posted.start, *(part[0] for part in old)])
        stops = np.concatenate([posted.end, *(part[1] for part in old)])
        everything = np.concatenate([values, *(part[2] for part in old)])
        keys, distinct = self._keys(everything)
        best = smallest_covering(len(moments), starts, stops, keys)
        later = np.flatnonzero(ends >= until)
        slots = moments.slots[posted.start[later]]
        self._remember(_Chain(slots, ends[later], values[later]), until)
        return self._values(best, distinct)

    def renumber(self, moved: Ints) -> None:
        """Follow slots to their new numbers; rows of slots that are gone have ended."""
        chains = [_Chain(moved[c.slots], c.ends, c.values) for c in self._chains]
        self._chains = [chain.take(chain.slots >= 0) for chain in chains]

    def adopt(self, other: Extremes, moved: Ints) -> None:
        """Take the rows of another one whose slots have moved here."""
        for chain in other._chains:
            here = _Chain(moved[chain.slots], chain.ends, chain.values)
            here = here.take(here.slots >= 0)
            self._chains.append(here.take(slot_order(here.slots, here.ends)))

    def _standing(
        self, chain: _Chain, moments: Moments, swept: int, until: int
    ) -> tuple[Ints, Ints, Array]:
        """When rows of a chain are its best in this step: ranges of moments, and the values."""
        involved = moments.slots[moments.first]
        low = np.searchsorted(chain.slots, involved, side="left")
        high = np.searchsorted(chain.slots, involved, side="right")
        low = bisect(chain.ends, low, high, swept + 1)
        count = np.minimum(bisect(chain.ends, low, high, until) + 1, high) - low
        rows = ranges(low, count)
        slot_of_row = np.repeat(np.arange(len(involved)), count)
        first = moments.first[slot_of_row]
        behind = moments.last[slot_of_row] + 1
        stop = bisect(moments.times, first, behind, chain.ends[rows])
        start = first.copy()
        followers = np.flatnonzero(~run_starts(slot_of_row))
        start[followers] = stop[followers - 1]
        return start, stop, chain.values[rows]

    def _remember(self, chain: _Chain, until: int) -> None:
        if len(chain) == 0:
            return
        self._chains.append(self._pruned(chain.take(slot_order(chain.slots, chain.ends))))
        while len(self._chains) > 1 and len(self._chains[-1]) * 2 >= len(self._chains[-2]):
            last, before = self._chains.pop(), self._chains.pop()
            self._chains.append(self._pruned(_merged(before.after(until), last.after(until))))

    def _pruned(self, chain: _Chain) -> _Chain:
        """Only rows that no row of the same slot with a later end beats."""
        if len(chain) == 0:
            return chain
        keys, _ = self._keys(chain.values)
        backwards = ~keys[::-1]
        first = run_starts(chain.slots[::-1])
        best = running_max(backwards, first)
        kept = first | (backwards > np.roll(best, 1))
        return chain.take(np.flatnonzero(kept[::-1]))

    def _keys(self, values: Array) -> tuple[Ints, Array | None]:
        """Integers that order the values, best first."""
        distinct = None
        keys = values
        if values.dtype == object:
            distinct, ranks = np.unique(values, return_inverse=True)
            keys = ranks.astype(np.int64)
        return (~keys if self._largest else keys), distinct

    def _values(self, keys: Ints, distinct: Array | None) -> Array:
        plain = ~keys if self._largest else keys
        if distinct is None:
            return plain
        if len(distinct) == 0:
            return np.full(len(plain), None, dtype=object)
        return distinct[np.clip(plain, 0, len(distinct) - 1)]

    @property
    def nbytes(self) -> int:
        return sum(c.slots.nbytes + c.ends.nbytes + c.values.nbytes for c in self._chains)


def sortable(series: pl.Series) -> Array:
    """Values without NULLs as something that `Extremes` can order."""
    dtype = series.dtype
    if dtype.is_float():
        return ordered_bits(series.cast(pl.Float64).to_numpy())
    if dtype.is_integer() or dtype.is_temporal() or dtype == pl.Boolean:
        return series.to_physical().cast(pl.Int64).to_numpy()
    return np.array([*series.to_list(), None], dtype=object)[:-1]


def unsortable(values: Array, dtype: pl.DataType) -> pl.Series:
    """The column that `sortable` was made from."""
    if dtype.is_float():
        return pl.Series(doubles_of(values)).cast(dtype)
    if values.dtype == object:
        return pl.Series(values.tolist(), dtype=dtype)
    if dtype == pl.Boolean:
        return pl.Series(values == 1)
    return (
        pl.Series(values)
        .cast(pl.Series([], dtype=dtype).to_physical().dtype, strict=False)
        .cast(dtype)
    )
