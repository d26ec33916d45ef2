"""Sums as bytes: columns of them against the definition, and queries over all numbers."""

import math
from decimal import Decimal
from fractions import Fraction
from random import Random

import numpy as np
import pyarrow as pa
import pytest

from tidemill import Engine
from tidemill.algebra.exact_sums import ExactSum, unit_of
from tidemill.physical.mechanisms.arrays import Array, Ints
from tidemill.physical.operators.aggregate import partial_sums, sums
from tidemill.reference.exact import partial_sum


def any_double(random: Random) -> float:
    kind = random.randrange(6)
    if kind == 0:
        return random.choice([0.0, -0.0, 5e-324, -5e-324, 1.7976931348623157e308, 2.0**-1022])
    return random.choice([-1, 1]) * random.random() * 2.0 ** random.randint(-1060, 1020)


def groups(seed: int) -> list[list[float]]:
    random = Random(seed)
    made = [[any_double(random) for _ in range(random.randrange(5))] for _ in range(40)]
    made += [[value, -value] for value, *_ in filter(None, made)]  # cancelled: no digits at all
    return made


@pytest.mark.parametrize("seed", range(5))
def test_a_column_has_the_bytes_of_the_definition(seed: int) -> None:
    given = groups(seed)
    digits = total_digits(given)
    missing = np.array([not values for values in given])
    column = partial_sums.column_of(digits, {}, missing)
    wanted = [partial_sum(values or [0.0]).to_bytes() for values in given]
    assert column.to_list() == [w if v else None for w, v in zip(wanted, given, strict=True)]
    back, flags = partial_sums.digits_of(column[7:])
    assert not flags
    assert sums.big_value(back, len(given) - 7) == sums.big_value(digits, len(given))[7:]


def total_digits(given: list[list[float]]) -> sums.Digits:
    row = np.repeat(np.arange(len(given)), [len(values) for values in given])
    digits = sums.float_digits(np.array([value for values in given for value in values]))
    totals = {place: summed(row, digit, len(given)) for place, digit in digits.items()}
    assert not any(digit.any() for place, digit in totals.items() if place < 0)
    return {place: digit for place, digit in totals.items() if place >= 0}


def summed(row: Ints, digit: Array, size: int) -> Ints:
    total = np.zeros(size, dtype=np.int64)
    np.add.at(total, row, digit)
    return total


def test_what_is_not_finite_is_beside_the_sum() -> None:
    total = partial_sum([math.inf, 1.5, math.nan])
    assert (total.nan, total.up, total.down) == (True, True, False)
    assert ExactSum.of_bytes(total.to_bytes()) == total
    assert total.units * unit_of(False) == Fraction(3, 2)
    flags = {"nan": np.array([2]), "inf": np.array([1]), "-inf": np.array([0])}
    column = partial_sums.column_of({33: np.array([3 << 31])}, flags, np.array([False]))
    assert column.to_list() == [total.to_bytes()]
    assert partial_sums.digits_of(column)[1].keys() == {"nan", "inf"}


VALUES = {
    "double": pa.array([0.1, 0.2, -0.0, 1e300, -1e300, None, math.inf, 1e-320], pa.float64()),
    "float": pa.array([0.1, 0.2, 3.5, None, math.nan, -1.0, 2.0, 7.0], pa.float32()),
    "wide decimal": pa.array([Decimal(n).scaleb(-10) for n in range(8)], pa.decimal128(28, 10)),
    "decimal": pa.array([None, *map(Decimal, ("-1.25", "0.10", "3", "5", "8", "9", "9.99"))]),
}


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
def test_early_and_late_give_the_same(values: pa.Array) -> None:
    engine = Engine(runtime="inprocess")
    keys, times = pa.array([n % 3 for n in range(8)]), pa.array(range(8))
    table = pa.table({"k": keys, "x": values, "at": times})
    engine.stream("a", [table[:3], table[3:]], time="at")
    engine.stream("b", [table[:5], table[5:]], time="at")
    answers = [
        engine.sql(f"""
            SELECT /*+ {hint} */ SUM(a.x) AS total, AVG(b.x) AS mean, COUNT(*) AS n
            FROM a WINDOW(RANGE 4), b WINDOW(RANGE 5) WHERE a.k = b.k
        """).collect()
        for hint in ("LATE", "EARLY(a)", "EARLY(a, b)")
    ]
    late, *early = (list(map(str, answer.to_pylist())) for answer in answers)  # NaN is NaN
    assert early == [late, late]
