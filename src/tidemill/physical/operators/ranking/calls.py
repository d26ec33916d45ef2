"""What the calls give for ranges of an object's rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from tidemill.algebra.aggregates import AggregateCall
from tidemill.errors import ExecutionError
from tidemill.physical.mechanisms.arrays import Array, Bools, Ints, doubles_of, ordered_bits
from tidemill.physical.operators.ranking.kernel.ranges import (
    PARTS,
    largest_of_ranges,
    sums_of_ranges,
)
from tidemill.physical.operators.ranking.rows import ScoreColumn

_LARGEST = 2**63 - 1
_SPLIT = 2.0**27 + 1.0


class Ranges(NamedTuple):
    """Rows low .. high - 1 of one object each, best in an order in which no bound goes back."""

    low: Ints
    high: Ints


class Coming(NamedTuple):
    """Rows that may still come to ranges: how many of each stream, and the most that one brings.

    The numbers need not be whole: what is only likely counts by its likelihood.
    """

    rows: Array  # by range and stream
    highs: Sequence[float | None]  # by stream, of the call in question

    @property
    def parts(self) -> list[tuple[Array, float]]:
        """Numbers of rows, and what each of them brings at most."""
        columns = zip(self.rows.T, self.highs, strict=True)
        return [(rows, high) for rows, high in columns if high is not None and rows.any()]

    def any(self) -> Bools:
        """To which ranges anything may come."""
        found = np.zeros(len(self.rows), np.bool_)
        for rows, _ in self.parts:
            found |= rows > 0
        return found


def call_values(
    call: AggregateCall, column: ScoreColumn | None, ranges: Ranges, coming: Coming
) -> pl.Series:
    """The values of a call for ranges of rows and the best of what may come to them."""
    count = _counts(column, ranges)
    present = (count > 0) | coming.any()
    if call.function == "COUNT":
        return pl.Series(call.name, count + _whole(coming))
    assert column is not None
    of = _largest if call.function == "MAX" else _sums
    values = pl.Series(call.name, of(column, ranges, coming))
    return values if present.all() else values.zip_with(pl.Series(present), _nulls(values))


def _nulls(like: pl.Series) -> pl.Series:
    return pl.Series([None], dtype=like.dtype).extend_constant(None, len(like) - 1)


def _counts(column: ScoreColumn | None, ranges: Ranges) -> Ints:
    if column is None or column.present.all():
        return ranges.high - ranges.low
    return _differences(column.present.astype(np.int64), ranges)


def _differences(numbers: Ints, ranges: Ranges) -> Ints:
    totals = np.concatenate([[0], np.cumsum(numbers)])
    difference: Ints = totals[ranges.high] - totals[ranges.low]
    return difference


def _whole(coming: Coming) -> Ints:
    """What may come, in whole numbers."""
    total = np.zeros(len(coming.rows))
    for rows, high in coming.parts:
        total += rows * max(high, 0.0)
    return np.ceil(np.minimum(total, 2.0**62)).astype(np.int64)


def _sums(column: ScoreColumn, ranges: Ranges, coming: Coming) -> Array:
    if column.numbers.dtype != np.float64:
        return _whole_sums(column.numbers, ranges) + _whole(coming)
    finite = np.isfinite(column.numbers)
    numbers = column.numbers if finite.all() else np.where(finite, column.numbers, 0.0)
    sums = np.empty(len(ranges.low))
    sums_of_ranges(numbers, *ranges, _terms(coming), np.empty((2, PARTS)), sums)
    if not finite.all():
        # Of these, no sum can be exact: they follow the rules of doubles.
        for odd in (np.inf, -np.inf, np.nan):
            same = np.isnan(column.numbers) if odd != odd else column.numbers == odd
            sums[_differences(same.astype(np.int64), ranges) > 0] += odd
    return sums


def _terms(coming: Coming) -> Array:
    """Numbers of rows times what they bring at most: exactly, in two doubles each."""
    terms = []
    for rows, high in coming.parts:
        product, rest = _product(rows, max(high, 0.0))
        terms += [product, rest] if rest.any() else [product]
    return np.stack(terms, axis=1) if terms else np.empty((len(coming.rows), 0))


def _product(numbers: Array, by: float) -> tuple[Array, Array]:
    """A product and what is lost by rounding it."""
    product = numbers * by
    (high, low), (by_high, by_low) = _halves(numbers), _halves(np.array(by))
    rest = low * by_low - (((product - high * by_high) - low * by_high) - high * by_low)
    return product, rest


def _halves(numbers: Array) -> tuple[Array, Array]:
    """Two numbers of half the digits that add up to the number."""
    scaled = numbers * _SPLIT
    high = scaled - (scaled - numbers)
    return high, numbers - high


def _whole_sums(numbers: Ints, ranges: Ranges) -> Ints:
    longest = int((ranges.high - ranges.low).max(initial=0))
    size = max(int(numbers.max(initial=0)), -int(numbers.min(initial=0)))
    if size * longest > _LARGEST:
        rounded = np.concatenate([[0.0], np.cumsum(numbers.astype(np.float64))])
        about = np.abs(rounded[ranges.high] - rounded[ranges.low])
        for at in np.flatnonzero(about > _LARGEST * 0.99).tolist():
            _check_sum(sum(numbers[ranges.low[at] : ranges.high[at]].tolist()))
    return _differences(numbers, ranges)


def _check_sum(total: int) -> None:
    if not -_LARGEST - 1 <= total <= _LARGEST:
        raise ExecutionError(
            "the SUM of a BIGINT column is too large for BIGINT",
            help="sum a wider type: SUM(CAST(... AS DECIMAL(38, 0)))",
        )


def _largest(column: ScoreColumn, ranges: Ranges, coming: Coming) -> Array:
    is_double = column.numbers.dtype == np.float64
    keys = ordered_bits(column.numbers) if is_double else column.numbers
    largest = np.full(len(ranges.low), np.iinfo(np.int64).min)
    largest_of_ranges(keys, column.present, *ranges, np.empty(len(keys), np.int64), largest)
    for rows, high in coming.parts:
        numbers = np.minimum(rows, 1.0) * high
        most = ordered_bits(numbers) if is_double else np.ceil(numbers).astype(np.int64)
        largest = np.where(rows > 0, np.maximum(largest, most), largest)
    return doubles_of(largest) if is_double else largest
