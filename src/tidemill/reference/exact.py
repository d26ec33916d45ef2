"""Exact arithmetic: every answer is the true one, rounded once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction

import pyarrow as pa

from tidemill.algebra.exact_sums import ExactSum, unit_of
from tidemill.algebra.paired import PairSums, answer
from tidemill.algebra.types import name_of
from tidemill.errors import ExecutionError

Number = int | float | Decimal | Fraction


def sum_of(values: Sequence[Number], data_type: pa.DataType) -> Number:
    """The sum in its type; an integer or decimal that does not fit is an error.

    >>> sum_of([1e100, 1.0, -1e100], pa.float64())
    1.0
    """
    if pa.types.is_floating(data_type):
        special = _ieee(values)
        return to_double(_exact(values)) if special is None else special
    return _fitted(_exact(values), data_type, "SUM")


def average(values: Sequence[Number], data_type: pa.DataType) -> Number:
    """The sum divided by the count; as a double, the rounded sum.

    >>> average([Decimal("0.01"), Decimal("0.02"), Decimal("0.02")], pa.decimal128(7, 6))
    Decimal('0.016667')
    """
    return mean_of(values, len(values), data_type)


def mean_of(sums: Sequence[Number], count: int, data_type: pa.DataType) -> Number:
    """The average of so many values, of which some sums are known."""
    if pa.types.is_floating(data_type):
        special = _ieee(sums)
        return to_double(_exact(sums)) / count if special is None else special
    return _fitted(_exact(sums) / count, data_type, "AVG")


def variance(values: list[Number], divisor: int) -> float | None:
    """The sum of squared distances from the mean, divided; NULL if the divisor is 0.

    >>> variance([1, 2, 4], 3) == 14 / 9
    True
    """
    if divisor == 0:
        return None
    if _ieee(values) is not None:
        return math.nan
    exact = [Fraction(value) for value in values]
    mean = sum(exact, Fraction()) / len(exact)
    squares = sum(((value - mean) ** 2 for value in exact), Fraction())
    return to_double(squares / divisor)


def deviation(values: list[Number], divisor: int) -> float | None:
    """The square root of the rounded variance."""
    found = variance(values, divisor)
    return None if found is None else math.sqrt(found)


def to_double(exact: Fraction) -> float:
    """The nearest double; infinity beyond the largest.

    >>> to_double(Fraction(1, 10)), to_double(Fraction(-(10**400)))
    (0.1, -inf)
    """
    try:
        return float(exact)
    except OverflowError:
        return -math.inf if exact < 0 else math.inf


def _exact(values: Iterable[Number]) -> Fraction:
    return sum((Fraction(value) for value in values), Fraction())


def partial_sum(values: Sequence[Number]) -> ExactSum:
    """The sum of doubles or decimals, as a whole number of units, and what is beside it."""
    unit = unit_of(isinstance(values[0], Decimal))
    finite = [value for value in values if not isinstance(value, float) or math.isfinite(value)]
    return ExactSum(
        int(_exact(finite) / unit),
        nan=any(value != value for value in values),
        up=math.inf in values,
        down=-math.inf in values,
    )


def special_values(total: ExactSum) -> list[float]:
    """What was not finite in a sum."""
    given = ((total.nan, math.nan), (total.up, math.inf), (total.down, -math.inf))
    return [value for present, value in given if present]


def _ieee(values: Iterable[Number]) -> float | None:
    """The sum if some value is not finite: infinite, or NaN; None if all are finite."""
    special = [value for value in values if isinstance(value, float) and not math.isfinite(value)]
    return sum(special) if special else None


def _fitted(exact: Fraction, data_type: pa.DataType, function: str) -> int | Decimal:
    """The value in its type; decimals are rounded half up, away from zero, to their scale."""
    if pa.types.is_integer(data_type):
        _check(-(2**63) <= exact < 2**63, data_type, function)
        return int(exact)
    digits = math.floor(abs(exact) * 10**data_type.scale + Fraction(1, 2))
    _check(digits < 10**data_type.precision, data_type, function)
    # The constructor is exact, unlike arithmetic on decimals, which rounds to 28 digits.
    return Decimal((int(exact < 0), tuple(map(int, str(digits))), -data_type.scale))


def _check(fits: bool, data_type: pa.DataType, function: str) -> None:
    if not fits:
        raise ExecutionError(f"{function} does not fit in {name_of(data_type)}")


def of_pairs(function: str, pairs: list[tuple[float, float]]) -> float | None:
    """A statistic of pairs (y, x); NaN if one of them is not finite."""
    if any(_ieee(pair) is not None for pair in pairs):
        return math.nan
    rows = [(Fraction(x), Fraction(y)) for y, x in pairs]
    columns = zip(*((x, y, x * x, y * y, x * y) for x, y in rows), strict=True)
    return answer(function, PairSums(len(rows), *(sum(each, Fraction()) for each in columns)))
