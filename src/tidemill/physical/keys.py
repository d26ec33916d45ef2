"""Keys and the state that is kept per key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from tidemill.physical.arrays import Array, Bools, Ints, starts_of_runs
from tidemill.physical.rows import RowStore

_NULL_INT = 0x5BD1E995  # stands for NULL in the hash of an integer


def canonical(frame: pl.DataFrame) -> pl.DataFrame:
    """Make equal floats look alike: one zero, one NaN."""
    floats = [name for name, dtype in frame.schema.items() if dtype.is_float()]
    if not floats:
        return frame
    return frame.with_columns(
        pl.when(pl.col(name).is_nan()).then(float("nan")).otherwise(pl.col(name) + 0.0).alias(name)
        for name in floats
    )


def hash_rows(frame: pl.DataFrame, seed: int) -> Array:
    """A hash of every row; an integer column stands for itself."""
    column = frame.to_series(0)
    if frame.width == 1 and column.dtype.is_integer() and seed == 0:
        return column.cast(pl.Int64).fill_null(_NULL_INT).to_numpy().view(np.uint64)
    return frame.hash_rows(seed=seed).to_numpy()


def same_rows(left: pl.DataFrame, right: pl.DataFrame) -> Bools:
    """Row by row, whether two frames agree; NULL agrees with NULL."""
    same = np.ones(left.height, dtype=np.bool_)
    for name in left.columns:
        same &= left[name].eq_missing(right[name]).to_numpy()
    return same


@dataclass(frozen=True)
class _Run:
    """A part of the index: hashes in order, and the slots they belong to."""

    hashes: Array
    slots: Ints


_NO_KEY = "#"  # the only key where there is none


def _keyed(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select(pl.zeros(frame.height, pl.Int64, eager=True).alias(_NO_KEY))


class KeyTable:
    """A number (slot) for every key, and columns of values per slot.

    Looking up n keys among S costs O(n log S). Two keys never share a hash: if they did, all
    hashes would be computed anew with another seed.
    """

    def __init__(self, empty: pl.DataFrame, keys: Sequence[str]) -> None:
        self._keys = list(keys) or [_NO_KEY]
        self._rows = RowStore(_keyed(empty) if not keys else empty)
        self._stored = self._rows.columns
        self._runs: list[_Run] = []
        self._seed = 0
        self._columns: dict[str, Array] = {}
        self._live = np.zeros(0, dtype=np.bool_)
        self.live_count = 0

    @property
    def live(self) -> Bools:
        """Which slots are in use."""
        return self._live[: len(self._rows)]

    def column(self, name: str, dtype: npt.DTypeLike = np.int64) -> Array:
        """A column of values, one per slot, at first 0; made on first use."""
        if name not in self._columns:
            self._columns[name] = np.zeros(len(self._live), dtype=dtype)
        return self._columns[name]

    @property
    def columns(self) -> Mapping[str, Array]:
        return self._columns

    def rows(self, slots: Ints) -> pl.DataFrame:
        """The rows that were stored with these slots."""
        return self._rows.take(slots)

    def find_or_add(self, frame: pl.DataFrame) -> Ints:
        """The slot of every row's key, a new one for a new key."""
        frame = (_keyed(frame) if self._keys == [_NO_KEY] else frame).select(self._stored)
        keys = frame.select(self._keys)
        hashes = hash_rows(keys, self._seed)
        order = np.argsort(hashes)
        sorted_hashes = hashes[order]
        starts = starts_of_runs(sorted_hashes)
        first = order[starts]
        found = self._lookup(sorted_hashes[starts])
        if self._collides(keys, order, starts, found):
            self._reseed()
            return self.find_or_add(frame)
        missing = found < 0
        found[missing] = self._insert(frame[first[missing]], sorted_hashes[starts][missing])
        slots = np.empty(frame.height, dtype=np.int64)
        slots[order] = found[np.cumsum(starts) - 1]
        return slots

    def find(self, keys: pl.DataFrame) -> Ints:
        """The slot of every row's key, -1 where there is none."""
        hashes = hash_rows(keys.select(self._keys), self._seed)
        order = np.argsort(hashes)
        found = np.empty(len(hashes), dtype=np.int64)
        found[order] = self._lookup(hashes[order])
        known = np.flatnonzero(found >= 0)
        same = same_rows(keys[known], self._rows.take(found[known]).select(self._keys))
        found[known[~same]] = -1
        return found

    def free(self, slots: Ints) -> None:
        """Give slots back; their keys are gone."""
        self._live[slots] = False
        self.live_count -= len(slots)

    def compact(self) -> Ints | None:
        """If most slots are free, number the others anew: the new number of every old slot."""
        total = len(self._rows)
        if total < 1024 or self.live_count * 2 > total:
            return None
        live = self.live.copy()
        moved = np.where(live, np.cumsum(live) - 1, -1)
        self._rows.keep(live)
        self._columns = {name: values[:total][live] for name, values in self._columns.items()}
        self._live = np.ones(self.live_count, dtype=np.bool_)
        self._rebuild_index()
        return moved

    @property
    def nbytes(self) -> int:
        index = sum(run.hashes.nbytes + run.slots.nbytes for run in self._runs)
        return self._rows.nbytes + index + sum(c.nbytes for c in self._columns.values())

    def _lookup(self, sorted_hashes: Array) -> Ints:
        found = np.full(len(sorted_hashes), -1, dtype=np.int64)
        for run in self._runs:
            at = np.searchsorted(run.hashes, sorted_hashes)
            at[at == len(run.hashes)] = 0
            slots = run.slots[at]
            hit = (run.hashes[at] == sorted_hashes) & self._live[slots]
            found[hit] = slots[hit]
        return found

    def _collides(self, keys: pl.DataFrame, order: Ints, starts: Bools, found: Ints) -> bool:
        """Whether two different keys have the same hash, here or in the store."""
        if self._hash_is_exact(keys):
            return False
        inner = np.flatnonzero(~starts)
        known = np.flatnonzero(found >= 0)
        stored = self._rows.take(found[known]).select(self._keys)
        same = same_rows(keys[order[inner]], keys[order[inner - 1]])
        return not (same.all() and same_rows(keys[order[starts][known]], stored).all())

    def _hash_is_exact(self, keys: pl.DataFrame) -> bool:
        """An integer without NULLs is its own hash."""
        if keys.width > 1 or self._seed > 0 or not keys.to_series(0).dtype.is_integer():
            return False
        return keys.to_series(0).null_count() == 0 and not self._has_null(keys)

    def _has_null(self, keys: pl.DataFrame) -> bool:
        null = self._lookup(np.array([_NULL_INT], dtype=np.uint64))
        return bool(null[0] >= 0)

    def _insert(self, rows: pl.DataFrame, hashes: Array) -> Ints:
        slots = np.arange(len(self._rows), len(self._rows) + rows.height, dtype=np.int64)
        self._rows.append(rows)
        self._grow(len(self._rows))
        self._live[slots] = True
        self.live_count += len(slots)
        self._add_run(_Run(hashes, slots))
        return slots

    def _grow(self, length: int) -> None:
        capacity = len(self._live)
        if length <= capacity:
            return
        extra = max(length, capacity * 2) - capacity
        self._live = np.concatenate([self._live, np.zeros(extra, dtype=np.bool_)])
        for name, values in self._columns.items():
            filler = np.zeros(extra, dtype=values.dtype)
            self._columns[name] = np.concatenate([values, filler])

    def _add_run(self, run: _Run) -> None:
        if len(run.hashes) == 0:
            return
        self._runs.append(run)
        while (
            len(self._runs) > 1
            and len(self._runs[-1].hashes) * 2 >= len(self._runs[-2].hashes)
        ):
            last, before = self._runs.pop(), self._runs.pop()
            hashes = np.concatenate([before.hashes, last.hashes])
            slots = np.concatenate([before.slots, last.slots])
            alive = self._live[slots]
            hashes, slots = hashes[alive], slots[alive]
            order = np.argsort(hashes, kind="stable")
            self._runs.append(_Run(hashes[order], slots[order]))

    def _reseed(self) -> None:
        self._seed += 1
        self._rebuild_index()

    def _rebuild_index(self) -> None:
        slots = np.flatnonzero(self.live)
        hashes = hash_rows(self._rows.take(slots).select(self._keys), self._seed)
        order = np.argsort(hashes, kind="stable")
        self._runs = [_Run(hashes[order], slots[order])] if len(slots) else []
