"""Aggregates that can take back what they added: counts, sums, averages, variances.

Each turns the values of a column into numbers that the ledger adds up while rows hold, and the
totals into the answer. Numbers that several aggregates need (such as the count of values) go by
the same name, so that they are kept once.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from tidemill.algebra.aggregates import VARIANCES, AggregateCall
from tidemill.physical.aggregate import sums
from tidemill.physical.arrays import Array

Totals = Mapping[str, Array]

ROWS = "rows"
_WIDE = Context(prec=76)


class Accumulator(ABC):
    """One aggregate of one column, whose numbers go by names that start with `prefix`."""

    def __init__(self, prefix: str, result_type: pa.DataType) -> None:
        self.prefix = prefix
        self.type = result_type
        self.dtype = pl.DataFrame(pa.table({"x": pa.array([], result_type)})).dtypes[0]

    def amounts(self, values: pl.Series) -> dict[str, Array]:
        """What each row contributes."""
        present = values.is_not_null().to_numpy()
        return {self._name("count"): present.astype(np.int8), **self._amounts(values, present)}

    def _amounts(self, values: pl.Series, present: Array) -> dict[str, Array]:
        return {}

    @abstractmethod
    def result(self, totals: Totals, size: int) -> pl.Series:
        """The answers for totals of `size` moments."""

    def _name(self, part: str) -> str:
        return f"{self.prefix}:{part}"

    def _total(self, totals: Totals, part: str, size: int) -> Array:
        return totals.get(self._name(part), np.zeros(size, dtype=np.int64))

    def _digits(self, totals: Totals) -> sums.Digits:
        head = self._name("digit")
        return {int(n[len(head) :]): c for n, c in totals.items() if n.startswith(head)}

    def _series(self, values: Array, missing: Array) -> pl.Series:
        series = pl.Series(values).cast(self.dtype)
        return series.set(pl.Series(missing), None) if missing.any() else series

    def _objects(self, values: list[Any]) -> pl.Series:
        return pl.DataFrame(pa.table({"x": pa.array(values, self.type)})).to_series(0)


class CountRows(Accumulator):
    """COUNT(*): the ledger counts rows anyway."""

    def amounts(self, values: pl.Series) -> dict[str, Array]:
        return {}

    def result(self, totals: Totals, size: int) -> pl.Series:
        return pl.Series(totals[ROWS])


class Count(Accumulator):
    """COUNT(x): the values that are not NULL."""

    def result(self, totals: Totals, size: int) -> pl.Series:
        return pl.Series(self._total(totals, "count", size))


class IntegerSum(Accumulator):
    """SUM and AVG of whole numbers."""

    def _amounts(self, values: pl.Series, present: Array) -> dict[str, Array]:
        numbers = values.cast(pl.Int64).fill_null(0).to_numpy()
        return {self._name(f"digit{p}"): d for p, d in sums.integer_digits(numbers).items()}

    def result(self, totals: Totals, size: int) -> pl.Series:
        count = self._total(totals, "count", size)
        if pa.types.is_floating(self.type):
            return self._average(totals, count, size)
        return self._series(sums.integer_value(self._digits(totals), size), count == 0)

    def _average(self, totals: Totals, count: Array, size: int) -> pl.Series:
        digits = self._digits(totals)
        high = digits.get(1, np.zeros(size, dtype=np.int64)).astype(np.float64)
        if high.any():  # sums beyond 64 bits have averages, too
            total = np.array([float(value) for value in sums.big_value(digits, size)])
        else:
            total = digits.get(0, np.zeros(size, dtype=np.int64)).astype(np.float64)
        return self._series(total / np.maximum(count, 1), count == 0)


class FloatSum(Accumulator):
    """SUM and AVG of floating-point numbers; infinities and NaN are counted apart."""

    def __init__(self, prefix: str, result_type: pa.DataType, average: bool) -> None:
        super().__init__(prefix, result_type)
        self._is_average = average

    def _amounts(self, values: pl.Series, present: Array) -> dict[str, Array]:
        numbers = values.cast(pl.Float64).fill_null(0.0).to_numpy()
        amounts: dict[str, Array] = {}
        finite = np.isfinite(numbers)
        if not finite.all():
            for part, special in _SPECIAL.items():
                amounts[self._name(part)] = special(numbers).astype(np.int64)
            numbers = np.where(finite, numbers, 0.0)
        digits = sums.float_digits(numbers)
        return amounts | {self._name(f"digit{p}"): d for p, d in digits.items()}

    def result(self, totals: Totals, size: int) -> pl.Series:
        count = self._total(totals, "count", size)
        total = sums.float_value(self._digits(totals), size)
        if self._is_average:
            total = total / np.maximum(count, 1)
        up, down = self._total(totals, "inf", size) > 0, self._total(totals, "-inf", size) > 0
        total = np.where(up, np.inf, np.where(down, -np.inf, total))
        unknown = (self._total(totals, "nan", size) > 0) | (up & down)
        return self._series(np.where(unknown, np.nan, total), count == 0)


_SPECIAL: dict[str, Callable[[Array], Array]] = {
    "nan": np.isnan,
    "inf": np.isposinf,
    "-inf": np.isneginf,
}


class ExactSum(Accumulator):
    """Sums of Python integers: decimals and variances, where digits would not pay off."""

    def __init__(self, prefix: str, call: AggregateCall, scale: int) -> None:
        super().__init__(prefix, call.type)
        self._function = call.function
        self._scale = scale  # decimals: digits behind the point

    def _amounts(self, values: pl.Series, present: Array) -> dict[str, Array]:
        shift = 10**self._scale
        units = [0 if v is None else int(v * shift) for v in values.to_list()]
        return {self._name("sum"): np.array(units, dtype=object)}

    def result(self, totals: Totals, size: int) -> pl.Series:
        count = self._total(totals, "count", size).tolist()
        total = self._total(totals, "sum", size).tolist()
        pairs = zip(total, count, strict=True)
        return self._objects([self._decimal(t, c) if c else None for t, c in pairs])

    def _decimal(self, total: int, count: int) -> Decimal:
        value = Decimal(total).scaleb(-self._scale, _WIDE)
        if self._function == "AVG":
            value = _WIDE.divide(value, Decimal(count))
        return value.quantize(Decimal(1).scaleb(-self.type.scale), ROUND_HALF_UP, _WIDE)


class Variance(Accumulator):
    """Variances and standard deviations, from exact sums and sums of squares."""

    def __init__(self, prefix: str, call: AggregateCall) -> None:
        super().__init__(prefix, call.type)
        self._sample = call.function.endswith("_SAMP")
        self._root = call.function.startswith("STDDEV")

    def _amounts(self, values: pl.Series, present: Array) -> dict[str, Array]:
        numbers = [0.0 if v is None else float(v) for v in values.to_list()]
        odd = np.array([not math.isfinite(number) for number in numbers], dtype=np.int64)
        units = np.array([_units(number) for number in numbers], dtype=object)
        parts = {"odd": odd, "unit": units, "square": units * units}
        return {self._name(part): amounts for part, amounts in parts.items()}

    def result(self, totals: Totals, size: int) -> pl.Series:
        parts = [self._total(totals, p, size).tolist() for p in ("count", "odd", "unit", "square")]
        return self._objects([self._variance(*row) for row in zip(*parts, strict=True)])

    def _variance(self, count: int, odd: int, total: int, squares: int) -> float | None:
        if count <= self._sample:
            return None
        if odd:
            return math.nan
        free = count - 1 if self._sample else count
        variance = (count * squares - total * total) / ((count * free) << (2 * _UNIT_BITS))
        return math.sqrt(variance) if self._root else variance


_UNIT_BITS = 1074


def _units(number: float) -> int:
    """The number in units of 2 ** -1074, of which every finite double is a multiple."""
    if not math.isfinite(number):
        return 0
    numerator, denominator = number.as_integer_ratio()
    return (numerator << _UNIT_BITS) // denominator


def accumulator(call: AggregateCall, argument: pa.DataType | None, prefix: str) -> Accumulator:
    """The accumulator of a call that can take back what it added."""
    if argument is None:
        return CountRows(prefix, call.type)
    if call.function == "COUNT":
        return Count(prefix, call.type)
    if call.function in VARIANCES:
        return Variance(prefix, call)
    if pa.types.is_decimal(argument):
        return ExactSum(prefix, call, argument.scale)
    if pa.types.is_floating(argument):
        return FloatSum(prefix, call.type, call.function == "AVG")
    return IntegerSum(prefix, call.type)
