"""The rows of objects, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
import polars as pl

from tidemill.physical.mechanisms.arrays import Array, Bools, Ints, ends_of_runs, starts_of_runs
from tidemill.physical.mechanisms.ordering import slot_order


class ScoreColumn(NamedTuple):
    """Numbers that a call reads: doubles or 64-bit integers, 0 where there is none."""

    numbers: Array
    present: Bools

    @classmethod
    def of(cls, values: pl.Series) -> ScoreColumn:
        """The numbers of a column.

        >>> ScoreColumn.of(pl.Series([1.5, None]))
        ScoreColumn(numbers=array([1.5, 0. ]), present=array([ True, False]))
        """
        present = values.is_not_null().to_numpy()
        if not values.dtype.is_numeric() or values.dtype.is_decimal():
            return cls(np.zeros(len(present), np.int64), present)  # to be counted
        dtype = pl.Float64 if values.dtype.is_float() else pl.Int64
        return cls(values.cast(dtype).fill_null(0).to_numpy(), present)


@dataclass(frozen=True)
class RankingRows:
    """Rows in some order, mostly that of time.

    An object goes by the number of its item. The place of a row is its time, or its number among
    all rows where the window counts rows. `evicted` says that no instance begins with the row;
    `current` and `best` are the scores, as keys, of the instance that does.
    """

    item: Ints
    time: Ints
    place: Ints
    stream: Ints
    evicted: Bools
    current: Ints
    best: Ints
    columns: tuple[ScoreColumn, ...]

    def __len__(self) -> int:
        return len(self.item)

    def take(self, at: Ints | Bools) -> RankingRows:
        """Some of the rows, in this order."""
        arrays = {name: getattr(self, name)[at] for name in _ARRAYS}
        columns = tuple(ScoreColumn(*(part[at] for part in column)) for column in self.columns)
        return RankingRows(columns=columns, **arrays)

    def followed_by(self, others: RankingRows) -> RankingRows:
        """These rows and then others."""
        arrays = {
            name: np.concatenate([getattr(self, name), getattr(others, name)]) for name in _ARRAYS
        }
        pairs = zip(self.columns, others.columns, strict=True)
        columns = tuple(ScoreColumn(*map(np.concatenate, zip(*p, strict=True))) for p in pairs)
        return RankingRows(columns=columns, **arrays)

    @property
    def nbytes(self) -> int:
        arrays = [getattr(self, name) for name in _ARRAYS]
        arrays += [part for column in self.columns for part in column]
        return sum(array.nbytes for array in arrays)


_ARRAYS = [field.name for field in fields(RankingRows) if field.name != "columns"]


def new_rows(
    item: Ints, time: Ints, place: Ints, stream: Ints, columns: Sequence[ScoreColumn]
) -> RankingRows:
    """Rows that come."""
    size = len(item)
    evicted = np.zeros(size, np.bool_)
    lowest = np.full(size, np.iinfo(np.int64).min)
    highest = np.full(size, np.iinfo(np.int64).max)
    return RankingRows(item, time, place, stream, evicted, lowest, highest, tuple(columns))


class Objects(NamedTuple):
    """Rows object by object, in the order of time; where those of each begin, and new ones do."""

    rows: RankingRows
    order: Ints  # of the rows, among all in the order of time
    first: Ints
    new: Ints
    bound: Ints

    @classmethod
    def of(cls, rows: RankingRows, kept: int) -> Objects:
        """Group rows by object; the first `kept` rows are from earlier times."""
        order = slot_order(rows.item)
        sorted_rows = rows.take(order)
        starts = starts_of_runs(sorted_rows.item)
        first = np.flatnonzero(starts)
        bound = np.flatnonzero(ends_of_runs(starts)) + 1
        old = np.concatenate([[0], np.cumsum(order < kept)])
        return cls(sorted_rows, order, first, first + old[bound] - old[first], bound)

    @property
    def item(self) -> Ints:
        return self.rows.item[self.first]

    def since(self, kept: Ints) -> RankingRows:
        """The rows of every object from one on, in the order of time."""
        bounds = np.repeat(kept, self.bound - self.first)
        at = np.flatnonzero(np.arange(len(self.rows)) >= bounds)
        return self.rows.take(at[np.argsort(self.order[at], kind="stable")])
