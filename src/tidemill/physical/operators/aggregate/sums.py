"""Exact sums.

The sum of a set of numbers must not depend on the order in which they came and went, else two
runs over the same rows could differ. So sums are kept exactly: every number is cut into digits
of 32 bits, each digit is summed on its own in 64 bits, and the result is rounded once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tidemill.algebra.exact_sums import DOUBLE_SCALE
from tidemill.errors import ExecutionError
from tidemill.physical.mechanisms.arrays import Array, Bools, Ints

_BITS = 32
_WIDTH = np.uint64(_BITS)
_MASK = np.int64(0xFFFFFFFF)
_BIAS = DOUBLE_SCALE

Digits = dict[int, Array]
"""Digits by their place: digit d at place p is worth d * 2 ** (32 * p)."""


def integer_digits(values: Ints) -> Digits:
    """The digits of integers: one where they are small, else two.

    >>> {place: digit.tolist() for place, digit in integer_digits(np.array([5, -7])).items()}
    {0: [5, -7]}
    """
    if len(values) == 0 or (values.min() > -(2**31) and values.max() < 2**31):
        return {0: values}
    return {0: values & _MASK, 1: values >> _BITS}


def float_digits(values: Array) -> Digits:
    """The digits of finite doubles, in units of 2 ** -1088."""
    mantissa, exponent = np.frexp(values)
    whole = np.abs(np.ldexp(mantissa, 53)).astype(np.int64)
    shift = exponent.astype(np.int64) - 53 + _BIAS
    place, bits = shift >> 5, shift & 31
    low = (whole & _MASK) << bits
    high = (whole >> _BITS) << bits
    sign = np.where(values < 0, np.int64(-1), np.int64(1))
    parts = (
        (low & _MASK) * sign,
        ((low >> _BITS) + (high & _MASK)) * sign,
        (high >> _BITS) * sign,
    )
    digits: Digits = {}
    for lowest in range(int(place.min()), int(place.max()) + 1) if len(place) else ():
        here = place == lowest
        if here.any():
            _add(digits, lowest, parts if here.all() else [np.where(here, p, 0) for p in parts])
    return digits


def _add(digits: Digits, lowest: int, parts: Sequence[Array]) -> None:
    for place, part in enumerate(parts, lowest):
        digits[place] = digits[place] + part if place in digits else part


def multiplied(digits: Mapping[int, Array], by: Ints) -> Digits:
    """The digits of numbers times whole numbers that are not negative.

    >>> digits = multiplied({0: np.array([-(2**31)])}, np.array([2**40]))
    >>> big_value(digits, 1) == [-(2**71)]
    True
    """
    result: Digits = {}
    for place, digit in digits.items():
        if _largest(digit) * _largest(by) < 2**_BITS:
            _add(result, place, [digit * by])
        else:
            _add(result, place, _long_product(digit, by))
    return result


def _largest(values: Array) -> int:
    return max(int(values.max(initial=0)), -int(values.min(initial=0)))


def _long_product(digit: Ints, by: Ints) -> list[Array]:
    """Digits of at most 33 bits times longer numbers, in digits of 32 bits again."""
    sign, size = np.sign(digit), np.abs(digit).astype(np.uint64)
    parts = [np.zeros(len(digit), dtype=np.int64) for _ in range(4)]
    for place, half in enumerate((by & _MASK, by >> _BITS)):
        # 33 bits by 32 do not fit into 64, so the top bit is multiplied separately.
        for shift, piece in ((0, size & np.uint64(_MASK)), (1, size >> _WIDTH)):
            product = piece * half.astype(np.uint64)
            parts[place + shift] += sign * (product & np.uint64(_MASK)).astype(np.int64)
            parts[place + shift + 1] += sign * (product >> _WIDTH).astype(np.int64)
    return parts


def words(digits: Mapping[int, Array], size: int) -> tuple[Ints, Ints]:
    """The whole number as high * 2 ** 32 + low, with 0 <= low < 2 ** 32.

    Beyond 95 bits, the high word is only known to be beyond 62.

    >>> low, high = words({0: np.array([-1])}, 1)
    >>> int(low[0]), int(high[0])
    (4294967295, -1)
    """
    low, *middle, high = _normalized(digits, range(max(digits, default=0) + 2), size)
    for digit in reversed(middle):
        fits = (high >= -(2**31)) & (high < 2**31)
        beyond = np.where(high < 0, np.int64(-(2**62)), np.int64(2**62))
        high = np.where(fits, (high << _BITS) | digit, beyond)
    return low, high


def integer_value(digits: Mapping[int, Array], size: int) -> Ints:
    """The whole number that digits stand for; it must fit into 64 bits."""
    if not digits.keys() - {0}:
        return digits.get(0, np.zeros(size, dtype=np.int64))
    low, high = words(digits, size)
    if len(high) and (high.min() < -(2**31) or high.max() >= 2**31):
        raise ExecutionError(
            "the SUM of a BIGINT column is too large for BIGINT",
            help="sum a wider type: SUM(CAST(... AS DECIMAL(38, 0)))",
        )
    value: Ints = (high << _BITS) | low
    return value


def nearest_double(digits: Mapping[int, Array], size: int) -> Array:
    """The doubles nearest to whole numbers of any size."""
    low, high = words(digits, size)
    if len(high) and (high.min() < -(2**31) or high.max() >= 2**31):
        return np.array([float(value) for value in big_value(digits, size)])
    return ((high << _BITS) | low).astype(np.float64)


def big_value(digits: Mapping[int, Array], size: int) -> list[int]:
    """The whole numbers that digits stand for, whatever their size."""
    total = [0] * size
    for place, digit in digits.items():
        total = [t + (d << (_BITS * place)) for t, d in zip(total, digit.tolist(), strict=True)]
    return total


def float_value(digits: Mapping[int, Array], size: int) -> Array:
    """The double nearest to what digits (in units of 2 ** -1088) stand for.

    >>> numbers = np.array([0.1] * 10 + [1e16, -1e16])
    >>> totals = {place: digit.sum(keepdims=True) for place, digit in float_digits(numbers).items()}
    >>> float_value(totals, 1).tolist()
    [1.0]
    """
    if not digits:
        return np.zeros(size)
    negative, columns, lowest = magnitudes(digits, size)
    magnitude = _nearest(columns, lowest)
    return np.where(negative, -magnitude, magnitude)


def magnitudes(digits: Mapping[int, Array], size: int) -> tuple[Bools, list[Ints], int]:
    """Signs, and sizes as digits in 0 .. 2 ** 32 - 1 from the lowest place on, which is told.

    >>> negative, columns, lowest = magnitudes({3: np.array([-(2**32) - 1])}, 1)
    >>> negative.tolist(), [column.tolist() for column in columns], lowest
    ([True], [[1], [1], [0]], 3)
    """
    # Two more places take the carries and the sign.
    places = range(min(digits), max(digits) + 3)
    columns = _normalized(digits, places, size)
    negative = columns[-1] < 0
    if negative.any():
        flipped = {p: np.where(negative, -c, c) for p, c in zip(places, columns, strict=True)}
        columns = _normalized(flipped, places, size)
    return negative, columns, places[0]


def _nearest(columns: list[Array], lowest_place: int) -> Array:
    """Round normalized digits that are not negative to the nearest doubles, halves to even."""
    result = np.zeros(len(columns[0]))
    open_rows = np.ones(len(result), dtype=np.bool_)
    for top in range(len(columns) - 1, -1, -1):
        here = np.flatnonzero(open_rows & (columns[top] != 0))
        if len(here):
            open_rows[here] = False
            digits = [column[here].astype(np.uint64) for column in columns[: top + 1]]
            result[here] = _nearest_from_top(digits, lowest_place + top)
    return result


def _nearest_from_top(digits: list[Array], place: int) -> Array:
    """Round numbers whose highest digit, the last one here, is at `place` and not zero."""
    zero = np.zeros_like(digits[-1])
    first, second, third = [*reversed(digits[-3:]), zero, zero][:3]
    shift = (_BITS - np.frexp(first.astype(np.float64))[1]).astype(np.uint64)
    word = (((first << _WIDTH) | second) << shift) | (third >> (_WIDTH - shift))
    # A sticky bit stands for all that is cut off here, because 64 bits become 53 below.
    rest = (third << shift) & np.uint64(_MASK)
    for lower in digits[:-3]:
        rest |= lower
    word |= (rest != 0).astype(np.uint64)
    exponent = _BITS * (place - 1) - _BIAS - shift.astype(np.int32)
    with np.errstate(over="ignore"):
        rounded: Array = np.ldexp(word.astype(np.float64), exponent)
    return rounded


def _normalized(digits: Mapping[int, Array], places: range, size: int) -> list[Array]:
    """Every digit but the last in 0 .. 2 ** 32 - 1."""
    carry = np.zeros(size, dtype=np.int64)
    columns = []
    for place in places:
        digit = digits.get(place, np.int64(0)) + carry
        carry = digit >> _BITS
        columns.append(digit & _MASK)
    columns[-1] = columns[-1] + (carry << _BITS)
    return columns
