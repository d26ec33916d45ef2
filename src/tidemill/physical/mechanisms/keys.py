"""Keys and the state that is kept per key."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from tidemill.algebra.schema import Schema
from tidemill.physical.mechanisms.arrays import Array, Bools, Ints
from tidemill.physical.mechanisms.hash_index import HashIndex
from tidemill.physical.mechanisms.rows import RowStore

_NULL_INT = 0x5BD1E995  # stands for NULL in the hash of an integer


def canonical(frame: pl.DataFrame) -> pl.DataFrame:
    """Make equal floats look alike: one zero, one NaN.

    >>> canonical(pl.DataFrame({"x": [-0.0, 1.5, None]}))["x"].to_list()
    [0.0, 1.5, None]
    """
    floats = [name for name, dtype in frame.schema.items() if dtype.is_float()]
    if not floats:
        return frame
    return frame.with_columns(_canonical(pl.col(name)).alias(name) for name in floats)


def _canonical(column: pl.Expr) -> pl.Expr:
    # To add zero would do as well, but Polars leaves that out.
    zero = pl.when(column == 0).then(0.0).otherwise(column)
    return pl.when(column.is_nan()).then(float("nan")).otherwise(zero)


def hash_rows(frame: pl.DataFrame, seed: int) -> Array:
    """A hash of every row; an integer column stands for itself."""
    column = frame.to_series(0)
    if frame.width == 1 and column.dtype.is_integer() and seed == 0:
        whole = column.cast(pl.Int64)
        whole = whole.fill_null(_NULL_INT) if whole.null_count() else whole
        return whole.to_numpy().view(np.uint64)
    return frame.hash_rows(seed=seed).to_numpy()


def same_rows(left: pl.DataFrame, right: pl.DataFrame) -> Bools:
    """Row by row, whether two frames agree; NULL agrees with NULL."""
    same = np.ones(left.height, dtype=np.bool_)
    for name in left.columns:
        same &= left[name].eq_missing(right[name]).to_numpy()
    return same


def key_values(batch: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """The key columns by their position, so that all inputs name them alike."""
    return canonical(pl.DataFrame([batch[name].alias(str(at)) for at, name in enumerate(names)]))


class KeyColumns:
    """The columns of an input that are compared with those of another, position by position.

    NULL equals NULL only where it is safe.
    """

    def __init__(self, names: Sequence[str], null_safe: Sequence[bool]) -> None:
        self.names = tuple(names)
        pairs = zip(names, null_safe, strict=True) if names else ()
        self._required = [name for name, safe in pairs if not safe]

    def __bool__(self) -> bool:
        return bool(self.names)

    @property
    def identity(self) -> Hashable:
        """Equal for equal columns that are compared alike."""
        return self.names, tuple(self._required)

    def values(self, batch: pl.DataFrame) -> pl.DataFrame:
        """The columns by their position."""
        return key_values(batch, self.names)

    def are_exact(self, schema: Schema) -> bool:
        """Whether keys are equal if their hashes are: one whole number stands for itself."""
        return len(self.names) == len(self._required) == 1 and pa.types.is_integer(
            schema[self.names[0]]
        )

    def complete(self, batch: pl.DataFrame) -> pl.DataFrame:
        """The rows that can have equals at all: without those that have a NULL."""
        lacks = any(batch[name].null_count() for name in self._required)
        return batch.drop_nulls(self._required) if lacks else batch


_NO_KEY = "#"  # the only key where there is none


def _keyed(frame: pl.DataFrame) -> pl.DataFrame:
    return pl.DataFrame({_NO_KEY: np.zeros(frame.height, dtype=np.int64)})


class KeyTable:
    """A number (slot) for every key, and columns of values per slot.

    Looking up n keys takes O(n) steps, however many there are. Two keys never share a hash: if
    they did, all hashes would be computed anew with another seed.
    """

    STATE = ("_keys", "_rows", "_stored", "_index", "_seed", "_columns", "_capacity")

    def __init__(self, empty: pl.DataFrame, keys: Sequence[str]) -> None:
        self._keys = list(keys) or [_NO_KEY]
        self._rows = RowStore(_keyed(empty) if not keys else empty)
        self._stored = self._rows.columns
        self._index = HashIndex()
        self._seed = 0
        self._columns: dict[str, Array] = {}
        self._capacity = 1

    @property
    def live(self) -> Bools:
        """Which slots are in use."""
        return self._index.live

    @property
    def live_count(self) -> int:
        return self._index.live_count

    def column(self, name: str, dtype: npt.DTypeLike = np.int64) -> Array:
        """A column of values, one per slot, at first 0; made on first use."""
        if name not in self._columns:
            self._columns[name] = np.zeros(self._capacity, dtype=dtype)
        return self._columns[name]

    @property
    def columns(self) -> Mapping[str, Array]:
        return self._columns

    def rows(self, slots: Ints) -> pl.DataFrame:
        """The rows that were stored with these slots."""
        return self._rows.take(slots)

    def find_or_add(self, frame: pl.DataFrame) -> Ints:
        """The slot of every row's key, a new one for a new key."""
        frame = _keyed(frame) if self._keys == [_NO_KEY] else frame[self._stored]
        keys = frame[self._keys]
        slots, added = self._index.find_or_add(hash_rows(keys, self._seed))
        if len(added):
            self._store(frame[added])
        if self._collides(keys, slots, added):
            self._reseed()
            return self.find_or_add(frame)
        return slots

    def find(self, keys: pl.DataFrame) -> Ints:
        """The slot of every row's key, -1 where there is none."""
        keys = keys[self._keys]
        found = self._index.find(hash_rows(keys, self._seed))
        if self._hash_is_exact(keys):
            return found
        known = np.flatnonzero(found >= 0)
        same = same_rows(keys[known], self._rows.take(found[known])[self._keys])
        found[known[~same]] = -1
        return found

    def free(self, slots: Ints) -> None:
        """Give slots back; their keys are gone."""
        self._index.free(slots)

    def adopt(self, other: KeyTable, own: Callable[[pl.DataFrame], Bools]) -> Ints:
        """Take the keys of another table that belong here; the new number of every old slot.

        Those of other keys, and of slots that are free, are -1.
        """
        moved = np.full(len(other.live), -1, dtype=np.int64)
        slots = np.flatnonzero(other.live)
        slots = slots[own(other.rows(slots))]
        moved[slots] = self.find_or_add(other.rows(slots))
        for name, values in other.columns.items():
            self.column(name, values.dtype)[moved[slots]] = values[slots]
        return moved

    def rehash(self) -> None:
        """Find keys by the hashes that they have now."""
        every = np.arange(len(self._rows), dtype=np.int64)
        self._index.rehash(hash_rows(self._rows.take(every)[self._keys], self._seed))

    def compact(self) -> Ints | None:
        """If most slots are free, number the others anew: the new number of every old slot."""
        live = self.live
        kept = self._index.compact()
        if kept is None:
            return None
        moved = np.full(len(live), -1, dtype=np.int64)
        moved[kept] = np.arange(len(kept))
        self._rows.keep(live)
        self._columns = {name: values[kept] for name, values in self._columns.items()}
        self._capacity = len(kept)
        return moved

    @property
    def nbytes(self) -> int:
        columns = sum(column.nbytes for column in self._columns.values())
        return self._rows.nbytes + self._index.nbytes + columns

    def _collides(self, keys: pl.DataFrame, slots: Ints, added: Ints) -> bool:
        """Whether a row was given the slot of another key that has the same hash."""
        if self._hash_is_exact(keys):
            return False
        shared = np.ones(keys.height, dtype=np.bool_)
        shared[added] = False
        rows = np.flatnonzero(shared)
        return not same_rows(keys[rows], self._rows.take(slots[rows])[self._keys]).all()

    def _hash_is_exact(self, keys: pl.DataFrame) -> bool:
        """An integer without NULLs is its own hash."""
        if keys.width > 1 or self._seed > 0 or not keys.to_series(0).dtype.is_integer():
            return False
        return keys.to_series(0).null_count() == 0 and not self._has_null()

    def _has_null(self) -> bool:
        null = self._index.find(np.array([_NULL_INT], dtype=np.uint64))
        return bool(null[0] >= 0)

    def _store(self, rows: pl.DataFrame) -> None:
        self._rows.append(rows)
        if len(self._rows) > self._capacity:
            extra = max(len(self._rows), self._capacity * 2) - self._capacity
            self._capacity += extra
            for name, values in self._columns.items():
                filler = np.zeros(extra, dtype=values.dtype)
                self._columns[name] = np.concatenate([values, filler])

    def _reseed(self) -> None:
        self._seed += 1
        self.rehash()


def key_table(values: pl.DataFrame) -> KeyTable:
    """A table for keys like these."""
    return KeyTable(values.clear(), values.columns)
