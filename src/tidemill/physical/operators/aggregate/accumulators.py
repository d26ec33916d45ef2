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
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from tidemill.algebra.aggregates import SUM_EXACT, SUM_HIGH, SUM_LOW, VARIANCES, AggregateCall
from tidemill.algebra.exact_sums import DECIMAL_SCALE, ExactSum
from tidemill.algebra.paired import PAIRED, PairSums, answer
from tidemill.physical.mechanisms.arrays import Array, Ints
from tidemill.physical.operators.aggregate import partial_sums, sums

Totals = Mapping[str, Array]

ROWS = "rows"
_WIDE = Context(prec=76)


class Accumulator(ABC):
    """One aggregate of one column; the names of its numbers start with `prefix`."""

    def __init__(self, prefix: str, call: AggregateCall) -> None:
        self.prefix = prefix
        self.call = call
        self.type = call.type
        self.dtype = pl.DataFrame(pa.table({"x": pa.array([], call.type)})).dtypes[0]

    def amounts(self, batch: pl.DataFrame) -> dict[str, Array]:
        """What each row contributes."""
        values, weight = batch[self.call.argument or ""], self._weight(batch)
        present = values.is_not_null().to_numpy()
        count = present.astype(np.int8) if weight is None else present * weight
        return {self._name("count"): count, **self._amounts(values, weight)}

    def _amounts(self, values: pl.Series, weight: Ints | None) -> dict[str, Array]:
        """Besides the count of values."""
        return {}

    def _weight(self, batch: pl.DataFrame) -> Ints | None:
        """For how many rows each stands; None: for itself."""
        columns = [batch[name].to_numpy() for name in self.call.weights]
        return np.prod(columns, axis=0, dtype=np.int64) if columns else None

    def _digit_amounts(self, digits: sums.Digits, weight: Ints | None) -> dict[str, Array]:
        weighed = digits if weight is None else sums.multiplied(digits, weight)
        return {self._name(f"digit{place}"): digit for place, digit in weighed.items()}

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
    """COUNT(*): the ledger counts rows anyway, if each stands for itself."""

    def amounts(self, batch: pl.DataFrame) -> dict[str, Array]:
        weight = self._weight(batch)
        return {} if weight is None else {self._name("count"): weight}

    def result(self, totals: Totals, size: int) -> pl.Series:
        weighed = bool(self.call.weights)
        return pl.Series(self._total(totals, "count", size) if weighed else totals[ROWS])


class Count(Accumulator):
    """COUNT(x): the values that are not NULL."""

    def result(self, totals: Totals, size: int) -> pl.Series:
        return pl.Series(self._total(totals, "count", size))


class IntegerSum(Accumulator):
    """SUM and AVG of whole numbers."""

    def _amounts(self, values: pl.Series, weight: Ints | None) -> dict[str, Array]:
        numbers = values.cast(pl.Int64).fill_null(0).to_numpy()
        return self._digit_amounts(sums.integer_digits(numbers), weight)

    def result(self, totals: Totals, size: int) -> pl.Series:
        count = self._total(totals, "count", size)
        if pa.types.is_floating(self.type):
            return self._average(totals, count, size)
        return self._series(sums.integer_value(self._digits(totals), size), count == 0)

    def _average(self, totals: Totals, count: Array, size: int) -> pl.Series:
        total = sums.nearest_double(self._digits(totals), size)
        return self._series(total / np.maximum(count, 1), count == 0)


class SumOfParts(IntegerSum):
    """SUM and AVG of whole numbers whose sums over groups are known."""

    def amounts(self, batch: pl.DataFrame) -> dict[str, Array]:
        count, low, high = (batch[part].fill_null(0).to_numpy() for part in self.call.parts)
        weight = self._weight(batch)
        upper = {place + 1: digit for place, digit in sums.integer_digits(high).items()}
        return {
            self._name("count"): count if weight is None else count * weight,
            **self._digit_amounts({0: low, **upper}, weight),
        }


class SumPart(IntegerSum):
    """SUM_LOW and SUM_HIGH: one of the two columns of a sum."""

    def result(self, totals: Totals, size: int) -> pl.Series:
        low, high = sums.words(self._digits(totals), size)
        missing = self._total(totals, "count", size) == 0
        return self._series(low if self.call.function == SUM_LOW else high, missing)


class FloatSum(Accumulator):
    """SUM and AVG of floating-point numbers; infinities and NaN are counted apart."""

    def _amounts(self, values: pl.Series, weight: Ints | None) -> dict[str, Array]:
        numbers = values.cast(pl.Float64).fill_null(0.0).to_numpy()
        amounts: dict[str, Array] = {}
        finite = np.isfinite(numbers)
        if not finite.all():
            for part, special in _SPECIAL.items():
                amounts[self._name(part)] = special(numbers).astype(np.int64)
            numbers = np.where(finite, numbers, 0.0)
        return amounts | self._digit_amounts(sums.float_digits(numbers), weight)

    def result(self, totals: Totals, size: int) -> pl.Series:
        count = self._total(totals, "count", size)
        total = sums.float_value(self._digits(totals), size)
        if self.call.function == "AVG":
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


class FloatSumOfParts(FloatSum):
    """SUM and AVG of floating-point numbers of which the sums over groups are known."""

    def amounts(self, batch: pl.DataFrame) -> dict[str, Array]:
        counts, partial = (batch[part] for part in self.call.parts)
        count, weight = counts.fill_null(0).to_numpy(), self._weight(batch)
        digits, flags = partial_sums.digits_of(partial)
        times = 1 if weight is None else weight
        return {
            self._name("count"): count * times,
            **{self._name(part): flag * times for part, flag in flags.items()},
            **self._digit_amounts(digits, weight),
        }


class FloatSumPart(FloatSum):
    """SUM_EXACT of floating-point numbers."""

    def result(self, totals: Totals, size: int) -> pl.Series:
        flags = {part: self._total(totals, part, size) for part in _SPECIAL}
        missing = self._total(totals, "count", size) == 0
        return partial_sums.column_of(self._digits(totals), flags, missing)


class DecimalSum(Accumulator):
    """SUM and AVG of decimals, as Python's integers: digits would not pay off."""

    def __init__(self, prefix: str, call: AggregateCall, scale: int) -> None:
        super().__init__(prefix, call)
        self._scale = scale  # decimals: digits behind the point

    def _amounts(self, values: pl.Series, weight: Ints | None) -> dict[str, Array]:
        shift = 10**self._scale
        units = [0 if v is None else int(v * shift) for v in values.to_list()]
        return {self._name("sum"): _weighed(np.array(units, dtype=object), weight)}

    def result(self, totals: Totals, size: int) -> pl.Series:
        count = self._total(totals, "count", size).tolist()
        total = self._total(totals, "sum", size).tolist()
        pairs = zip(total, count, strict=True)
        return self._objects([self._decimal(t, c) if c else None for t, c in pairs])

    def _decimal(self, total: int, count: int) -> Decimal:
        value = Decimal(total).scaleb(-self._scale, _WIDE)
        if self.call.function == "AVG":
            value = _WIDE.divide(value, Decimal(count))
        return value.quantize(Decimal(1).scaleb(-self.type.scale), ROUND_HALF_UP, _WIDE)


class DecimalSumOfParts(DecimalSum):
    """SUM and AVG of decimals of which the sums over groups are known."""

    def amounts(self, batch: pl.DataFrame) -> dict[str, Array]:
        counts, partial = (batch[part] for part in self.call.parts)
        count, weight = counts.fill_null(0).to_numpy(), self._weight(batch)
        units = np.array(partial_sums.units_of(partial), dtype=object)
        return {
            self._name("count"): count if weight is None else count * weight,
            self._name("sum"): _weighed(units, weight),
        }


class DecimalSumPart(DecimalSum):
    """SUM_EXACT of decimals."""

    def result(self, totals: Totals, size: int) -> pl.Series:
        count, total = (self._total(totals, part, size).tolist() for part in ("count", "sum"))
        shift = 10 ** (DECIMAL_SCALE - self._scale)
        pairs = zip(count, total, strict=True)
        return self._objects([ExactSum(t * shift).to_bytes() if c else None for c, t in pairs])


class Variance(Accumulator):
    """Variances and standard deviations, from exact sums and sums of squares."""

    def __init__(self, prefix: str, call: AggregateCall) -> None:
        super().__init__(prefix, call)
        self._sample = call.function.endswith("_SAMP")
        self._root = call.function.startswith("STDDEV")

    def _amounts(self, values: pl.Series, weight: Ints | None) -> dict[str, Array]:
        numbers = [0.0 if v is None else float(v) for v in values.to_list()]
        odd = np.array([not math.isfinite(number) for number in numbers], dtype=np.int64)
        units = np.array([_units(number) for number in numbers], dtype=object)
        parts = {"odd": odd, "unit": units, "square": units * units}
        return {self._name(part): _weighed(amounts, weight) for part, amounts in parts.items()}

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


class Paired(Accumulator):
    """Covariances, correlations and regressions, from exact sums of pairs (y, x)."""

    def _amounts(self, values: pl.Series, weight: Ints | None) -> dict[str, Array]:
        y, x = (self._column(field) for field in values.struct.unnest().get_columns())
        odd = (~np.isfinite(y) | ~np.isfinite(x)).astype(np.int64)
        ys = np.array([_units(number) for number in y.tolist()], dtype=object)
        xs = np.array([_units(number) for number in x.tolist()], dtype=object)
        parts = {"odd": odd, "x": xs, "y": ys, "xx": xs * xs, "yy": ys * ys, "xy": xs * ys}
        return {self._name(part): _weighed(amounts, weight) for part, amounts in parts.items()}

    def _column(self, values: pl.Series) -> Array:
        return values.cast(pl.Float64).fill_null(0.0).to_numpy()

    def result(self, totals: Totals, size: int) -> pl.Series:
        names = ("count", "odd", "x", "y", "xx", "yy", "xy")
        parts = [self._total(totals, part, size).tolist() for part in names]
        return self._objects([self._answer(*row) for row in zip(*parts, strict=True)])

    def _answer(self, count: int, odd: int, *sums: int) -> float | None:
        if not count:
            return None
        if odd:
            return math.nan
        once, twice = 1 << _UNIT_BITS, 1 << (2 * _UNIT_BITS)
        units = (once, once, twice, twice, twice)
        exact = (Fraction(total, unit) for total, unit in zip(sums, units, strict=True))
        return answer(self.call.function, PairSums(count, *exact))


_UNIT_BITS = 1074


def _weighed(amounts: Array, weight: Ints | None) -> Array:
    """Amounts of rows that stand for many; weights as Python's numbers, which do not overflow."""
    return amounts if weight is None else amounts * weight.astype(object)


def _units(number: float) -> int:
    """The number in units of 2 ** -1074, of which every finite double is a multiple."""
    if not math.isfinite(number):
        return 0
    numerator, denominator = number.as_integer_ratio()
    return (numerator << _UNIT_BITS) // denominator


def accumulator(call: AggregateCall, argument: pa.DataType | None, prefix: str) -> Accumulator:
    """The accumulator of a call that can take back what it added."""
    if call.parts:
        return _of_parts(call, prefix)
    if argument is None:
        return CountRows(prefix, call)
    if call.function == "COUNT":
        return Count(prefix, call)
    if call.function in (SUM_LOW, SUM_HIGH):
        return SumPart(prefix, call)
    if call.function in VARIANCES:
        return Variance(prefix, call)
    if call.function in PAIRED:
        return Paired(prefix, call)
    exact = call.function == SUM_EXACT
    if pa.types.is_decimal(argument):
        return (DecimalSumPart if exact else DecimalSum)(prefix, call, argument.scale)
    if exact or pa.types.is_floating(argument):
        return (FloatSumPart if exact else FloatSum)(prefix, call)
    return IntegerSum(prefix, call)


def _of_parts(call: AggregateCall, prefix: str) -> Accumulator:
    """The accumulator of a call over partial sums: whole numbers have three parts."""
    if len(call.parts) == 3:
        return SumOfParts(prefix, call)
    if pa.types.is_decimal(call.type):
        return DecimalSumOfParts(prefix, call, DECIMAL_SCALE)
    return FloatSumOfParts(prefix, call)
