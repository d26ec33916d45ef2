"""Versions of partitions side by side, row by row in their order, and the frames of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from tidemill.algebra.nodes import SortKey
from tidemill.algebra.over_rows import RowFrame
from tidemill.physical.mechanisms.arrays import Bools, Ints, bisect, ordered_bits, starts_of_runs

_MOST = np.iinfo(np.int64).max - 1  # one less, so that one can be added


@dataclass(frozen=True)
class SortedVersions:
    """Rows by version, each version in order; `peers` are equal for rows with equal sort keys.

    `keys` is the column of the only sort key, if RANGE goes by its value.
    """

    version: Ints
    peers: Ints
    keys: pl.Series | None = None
    order: SortKey | None = None

    def __len__(self) -> int:
        return len(self.version)

    @cached_property
    def here(self) -> Ints:
        """The place of each row."""
        return np.arange(len(self), dtype=np.int64)

    @cached_property
    def _begins(self) -> Bools:
        return starts_of_runs(self.version)

    @cached_property
    def begins_peers(self) -> Bools:
        """Where other sort keys begin."""
        return starts_of_runs(self.version, self.peers)

    @cached_property
    def bounds(self) -> tuple[Ints, Ints]:
        """Where the version of each row begins and ends."""
        return _spread(self._begins)

    @cached_property
    def peer_bounds(self) -> tuple[Ints, Ints]:
        """Where the peers of each row begin and end."""
        return _spread(self.begins_peers)

    @cached_property
    def group(self) -> Ints:
        """The number of the peers of each row, over all versions."""
        return np.cumsum(self.begins_peers) - 1

    def frame(self, frame: RowFrame) -> tuple[Ints, Ints]:
        """Where the frame of each row begins and ends; one without rows ends where it begins."""
        first, last = self.bounds
        low = first if frame.start is None else self._bound(frame, frame.start, after=False)
        high = last if frame.end is None else self._bound(frame, frame.end, after=True)
        low = np.clip(low, first, last)
        return low, np.maximum(np.clip(high, first, last), low)

    def _bound(self, frame: RowFrame, distance: int | float, after: bool) -> Ints:
        """The place of a bound, or the one after it if the bound is an end."""
        if frame.unit == "ROWS":
            return self.here + int(np.clip(distance, -len(self), len(self))) + after
        if frame.unit == "GROUPS":
            return self._group_bound(int(distance), after)
        if distance == 0:
            return self.peer_bounds[1 if after else 0]
        return self._range_bound(distance, after)

    def _group_bound(self, distance: int, after: bool) -> Ints:
        starts = np.append(np.flatnonzero(self.begins_peers), len(self))
        wanted = self.group + np.clip(distance, -len(self), len(self)) + after
        found: Ints = starts[np.clip(wanted, 0, len(starts) - 1)]
        return found

    def _range_bound(self, distance: int | float, after: bool) -> Ints:
        assert self.keys is not None
        assert self.order is not None
        turned = self.order.descending
        target = _levels(_moved(self.keys, -distance if turned else distance), turned)
        low, high = self._usual
        levels = _levels(self.keys, turned)
        found = bisect(levels, low, high, target + 1 if after else target)
        return np.where(self._odd, self.peer_bounds[1 if after else 0], found)

    @cached_property
    def _odd(self) -> Bools:
        """Rows whose key is NULL or NaN: such are at the beginning or the end of a version."""
        assert self.keys is not None
        odd = self.keys.is_null()
        if self.keys.dtype.is_float():
            odd = odd | self.keys.is_nan().fill_null(False)
        return odd.to_numpy()

    @cached_property
    def _usual(self) -> tuple[Ints, Ints]:
        """Where the other rows of each version begin and end."""
        first, last = self.bounds
        before = np.concatenate([[0], np.cumsum(~self._odd)])
        count = before[last] - before[first]
        places = np.flatnonzero(~self._odd)
        begin = first.copy()
        some = np.flatnonzero(count)
        begin[some] = places[before[first[some]]]
        return begin, begin + count


def _spread(begins: Bools) -> tuple[Ints, Ints]:
    """For every row, where its run begins and ends."""
    starts = np.flatnonzero(begins)
    lengths = np.diff(starts, append=len(begins))
    return np.repeat(starts, lengths), np.repeat(starts + lengths, lengths)


def _moved(keys: pl.Series, distance: int | float) -> pl.Series:
    """The keys and a distance; what would not fit is the largest or smallest number."""
    if keys.dtype.is_float():
        return keys.cast(pl.Float64) + float(distance)
    numbers, step = keys.to_physical().cast(pl.Int64).fill_null(0).to_numpy(), int(distance)
    if step > 0:
        return pl.Series(np.where(numbers > _MOST - step, _MOST, numbers + step))
    return pl.Series(np.where(numbers < -_MOST - step, -_MOST, numbers + step))


def _levels(keys: pl.Series, turned: bool) -> Ints:
    """Whole numbers in the order of the keys."""
    if keys.dtype.is_float():
        levels = ordered_bits(keys.cast(pl.Float64).fill_null(0.0).to_numpy())
    else:
        levels = keys.to_physical().cast(pl.Int64).fill_null(0).to_numpy()
    return ~levels if turned else levels
