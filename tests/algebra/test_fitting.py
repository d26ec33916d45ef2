"""Values become those of a column as they are, or not at all."""

from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemill.algebra.fitting import EARLIEST, LATEST, Misfit, cast_exactly, fitted

STRUCT = pa.struct([("a", pa.int64()), ("c", pa.float32())])
TIME = pa.timestamp("us")


@pytest.mark.parametrize(
    ("kind", "value", "held"),
    [
        (pa.int64(), 1.0, 1),
        (pa.int64(), Decimal("7"), 7),
        (pa.int32(), 2**31 - 1, 2**31 - 1),
        (pa.float64(), 3, 3.0),
        (pa.float64(), float("inf"), float("inf")),
        (pa.float32(), 0.5, 0.5),
        (pa.decimal128(4, 2), 1.5, Decimal("1.50")),
        (TIME, date(2024, 3, 1), datetime(2024, 3, 1)),
        (TIME, 5, datetime(1970, 1, 1, 0, 0, 0, 5)),
        (STRUCT, {"a": 1}, {"a": 1, "c": None}),
        (pa.list_(pa.int64()), [1, 2.0, None], [1, 2, None]),
        (pa.map_(pa.string(), pa.int64()), {"k": 1.0}, [("k", 1)]),
        (pa.string(), "x", "x"),
        (pa.binary(), b"x", b"x"),
    ],
)
def test_values_that_fit(kind, value, held):
    assert fitted([None, value], kind).to_pylist() == [None, held]


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (pa.int64(), 1.5),
        (pa.int64(), 1e30),
        (pa.int64(), 2**63),
        (pa.int64(), True),
        (pa.int64(), "1"),
        (pa.int64(), float("nan")),
        (pa.int32(), 2**31),
        (pa.float32(), 1e300),
        (pa.float32(), 3.4028236e38),
        (pa.float64(), True),
        (pa.float64(), "1"),
        (pa.decimal128(4, 2), 1.234),
        (pa.decimal128(4, 2), Decimal("123.4")),
        (TIME, 2**62),
        (TIME, LATEST + 1),
        (TIME, EARLIEST - 1),
        (TIME, 1.5),
        (TIME, "2024-01-01"),
        (pa.date32(), 1.5),
        (pa.date32(), datetime(2024, 1, 1, 12)),
        (pa.string(), 5),
        (pa.bool_(), 1),
        (pa.binary(), "x"),
        (STRUCT, {"a": 1, "zz": 2}),
        (STRUCT, {"a": 1.5}),
        (STRUCT, {"c": 1e300}),
        (pa.list_(pa.int64()), [1.5]),
        (pa.list_(STRUCT), [{"a": 1, "zz": 2}]),
        (pa.map_(pa.string(), pa.int64()), {"k": 1.5}),
    ],
)
def test_values_that_do_not_fit_are_told_with_their_row(kind, value):
    with pytest.raises(Misfit, match=r"^row 2: "):
        fitted([None, value], kind)


def test_texts_of_json():
    assert fitted(["12", 3], pa.int64(), texts=True).to_pylist() == [12, 3]
    times = ["2024-03-01T12:00:00+02:00", "2024-03-01T10:00:00.123456000"]
    held = [datetime(2024, 3, 1, 10), datetime(2024, 3, 1, 10, 0, 0, 123456)]
    assert fitted(times, TIME, texts=True).to_pylist() == held
    assert fitted(["eA=="], pa.binary(), texts=True).to_pylist() == [b"x"]
    for kind, text in [(TIME, "2024-03-01T10:00:00.1234567"), (pa.int64(), "1.5"), (TIME, "x")]:
        with pytest.raises(Misfit):
            fitted([text], kind, texts=True)


@given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.none()))
def test_whole_numbers_stay_what_they_are(numbers):
    assert fitted(numbers, pa.int64()).to_pylist() == numbers


@pytest.mark.parametrize(
    ("given", "wanted", "reason"),
    [
        (pa.array([1.0, 1.5]), pa.int64(), "row 2: 1.5 is no BIGINT"),
        (pa.array([1.0, 2.0, 1e300]), pa.float32(), "row 3: 1e.300 is no FLOAT"),
        (pa.array([0, 2**62], TIME), TIME, "row 2: 4611686018427387904 is no TIMESTAMP"),
        (pa.array([1.5, 1.234]), pa.decimal128(4, 2), "row 2: 1.234 is no DECIMAL"),
        (pa.array([{"a": 1, "zz": 2}]), STRUCT, "there is no field `zz`"),
        (pa.array([True]), pa.int64(), "BOOLEAN is no BIGINT"),
        (pa.array([0, 1], pa.timestamp("ns")), TIME, "row 2: .* is no TIMESTAMP"),
    ],
)
def test_columns_that_do_not_fit(given, wanted, reason):
    with pytest.raises(Misfit, match=reason):
        cast_exactly(pa.chunked_array([given]), wanted)
