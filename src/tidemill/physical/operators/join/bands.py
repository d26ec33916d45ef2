"""Rows of a join that are found by the range in which a value of theirs must be.

The index only narrows down which pairs are looked at, in numbers of double precision that may be
rounded: whoever uses it checks the conditions of what it finds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import polars as pl

from tidemill.algebra.scalar import Scalar
from tidemill.algebra.schema import Schema
from tidemill.deadline import look
from tidemill.expressions import compile_items
from tidemill.expressions.bounds import Bound, bounds_of, chosen
from tidemill.physical.mechanisms.arrays import Array, Ints
from tidemill.physical.mechanisms.compiled import compiled_for, fixed
from tidemill.physical.mechanisms.pairs import MOST_PAIRS
from tidemill.physical.operators.join.meeting import Meetings
from tidemill.physical.operators.join.side import SortedRun

_ROUNDED = 2.0**-48
"""How much of a number may be lost when it is rounded, several times."""

_FEWEST = 1024
_MOST_LOOKS = 200_000_000  # pairs that are looked at in one call, which nothing can interrupt

_NUMBERS = np.zeros(0, np.int64)
_FIXED = fixed(_NUMBERS)


class BandRows(NamedTuple):
    """Rows of a run in the order of a value: their numbers, and when they hold."""

    order: Ints
    starts: Ints
    ends: Ints


class WantedRange(NamedTuple):
    """Rows, when they hold, and between which places their partners are."""

    first: Ints
    stop: Ints
    starts: Ints
    ends: Ints


Search = Callable[[SortedRun, Ints, Ints], Iterator[Meetings] | None]
"""The rows of a run that hold together with others and may be their partners; None if these are
found sooner by when they hold."""


class Bands:
    """The range conditions of a join."""

    def __init__(self, conditions: Sequence[Scalar], inputs: Sequence[Schema]) -> None:
        self._inputs = inputs
        self._bounds = bounds_of(conditions, inputs)
        self._compiled: dict[tuple[int, str], Callable[[pl.DataFrame], Array]] = {}

    def search(
        self, number: int, known: Sequence[int], columns: Callable[[frozenset[str]], pl.DataFrame]
    ) -> Search | None:
        """How partners in an input are found for rows of those known, with these columns."""
        bounds = chosen(self._bounds, number, known)
        if not bounds:
            return None
        rows = columns(frozenset().union(*(bound.other.columns for bound in bounds)))
        low, high = self._range(bounds, rows)
        return partial(self._found, number, bounds[0].value, low, high)

    def _range(self, bounds: Sequence[Bound], rows: pl.DataFrame) -> tuple[Array, Array]:
        """Between which values partners are; not a number where there are none."""
        low, high = np.full(rows.height, -np.inf), np.full(rows.height, np.inf)
        for bound in bounds:
            other = self._values(bound.partner, bound.other)(rows)
            room = np.where(np.isfinite(other), (abs(other) + abs(bound.offset)) * _ROUNDED, 0.0)
            if bound.is_upper:
                high = np.minimum(high, other + bound.offset + room)
            else:
                low = np.maximum(low, other + bound.offset - room)
        return low, high

    def _found(
        self, number: int, value: Scalar, low: Array, high: Array, run: SortedRun, *when: Ints
    ) -> Iterator[Meetings] | None:
        values, rows = self._index(number, value, run)
        first = np.searchsorted(values, low, side="left")
        stop = np.searchsorted(values, high, side="right")
        first[np.isnan(low) | np.isnan(high)] = len(values)
        starts, ends = when
        if np.maximum(stop - first, 0).sum() >= _holding(run, starts, ends):
            return None
        return _meetings(WantedRange(first, stop, starts, ends), rows)

    def _index(self, number: int, value: Scalar, run: SortedRun) -> tuple[Array, BandRows]:
        """The rows of a run in the order of a value, which must not be NULL."""
        name = str(value)
        if name not in run.bands:
            values = self._values(number, value)(run.batch)
            order = np.argsort(values, kind="stable")
            order = order[: len(order) - int(np.isnan(values).sum())]
            rows = BandRows(order, run.starts[order], run.ends[order])
            run.bands[name] = values[order], rows
        found: tuple[Array, BandRows] = run.bands[name]
        return found

    def _values(self, number: int, value: Scalar) -> Callable[[pl.DataFrame], Array]:
        key = number, str(value)
        if key not in self._compiled:
            compiled = compile_items([("value", value)], self._inputs[number], {})
            self._compiled[key] = lambda rows: numbers_of(compiled.run(rows)["value"])
        return self._compiled[key]


def numbers_of(values: pl.Series) -> Array:
    """Values as numbers that compare alike: NaN as the largest, NULL as not a number.

    >>> numbers_of(pl.Series([2.5, float("nan"), None])).tolist()
    [2.5, inf, nan]
    """
    found = (values.to_physical() if values.dtype.is_temporal() else values).cast(pl.Float64)
    return found.fill_nan(np.inf).fill_null(np.nan).to_numpy()


def _holding(run: SortedRun, starts: Ints, ends: Ints) -> int:
    """How many pairs hold together, as far as starts tell."""
    first = np.searchsorted(run.starts, starts - run.longest + 1)
    stop = np.searchsorted(run.starts, ends)
    return int(np.maximum(stop - first, 0).sum())


def _meetings(wanted: WantedRange, rows: BandRows) -> Iterator[Meetings]:
    """All pairs, in blocks of bounded size."""
    left, right = WantedRange(*map(fixed, wanted)), BandRows(*map(fixed, rows))
    row, seen, count = 0, 0, len(wanted.starts)
    while row < count:
        look()
        room = min(MOST_PAIRS, max(_FEWEST, 2 * (count - row)))
        met = Meetings(*(np.empty(room, dtype=np.int64) for _ in range(4)))
        row, seen, found = meet_in_band(left, right, row, seen, met)
        if found:
            yield Meetings(*(column[:found] for column in met))


@compiled_for(WantedRange(*[_FIXED] * 4), BandRows(*[_FIXED] * 3), 0, 0, Meetings(*[_NUMBERS] * 4))
def meet_in_band(
    wanted: WantedRange, rows: BandRows, row: int, seen: int, out: Meetings
) -> tuple[int, int, int]:
    """Fill in pairs, from a wanted row on; rows before `seen` have met that one.

    Where it ends for want of room, or after many looks, and how many pairs there are.
    """
    count, looks = 0, 0
    for number in range(row, len(wanted.starts)):
        if looks > _MOST_LOOKS:
            return number, 0, count
        first, stop = wanted.first[number], wanted.stop[number]
        looks += max(stop - first, 0)
        for at in range(max(first, seen), stop):
            begin = max(wanted.starts[number], rows.starts[at])
            close = min(wanted.ends[number], rows.ends[at])
            if begin < close:
                if count == len(out.found):
                    return number, at, count
                out.found[count], out.run[count] = number, rows.order[at]
                out.start[count], out.end[count] = begin, close
                count += 1
        seen = 0
    return len(wanted.starts), 0, count
