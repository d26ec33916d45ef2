"""The rows over which every expression of the table is computed."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pyarrow as pa

NAN, INF = float("nan"), float("inf")
_DAYS = ["2024-02-29", "2023-12-31", None, "1999-01-01", "1970-01-01", "2024-03-31", "1582-10-15"]
_OTHER_DAYS = [
    "2023-02-28",
    "2024-01-01",
    "2024-05-05",
    None,
    "2000-02-29",
    "2024-02-29",
    "1969-12-28",
]
_TIMES = [
    "2024-02-29 23:59:59.999999", "2023-12-31 00:00:00", None, "1999-01-01 12:34:56.789",
    "1969-12-31 23:59:58.5", "2024-03-31 01:30:00", "2000-02-29 13:00:01.000001",
]  # fmt: skip
_OTHER_TIMES = [
    "2023-02-28 00:00:00", "2024-12-31 00:00:00.25", "2024-01-01 00:00:00", None,
    "1970-01-01 00:00:00", "2024-02-29 01:30:00", "1999-11-30 23:59:59",
]  # fmt: skip


def _decimals(*texts: str | None) -> list[Decimal | None]:
    return [None if text is None else Decimal(text) for text in texts]


def _days(texts: list[str | None]) -> list[dt.date | None]:
    return [None if text is None else dt.date.fromisoformat(text) for text in texts]


def _times(texts: list[str | None]) -> list[dt.datetime | None]:
    return [None if text is None else dt.datetime.fromisoformat(text) for text in texts]


COLUMNS = {
    "b": pa.array([True, False, None, True, False, True, False]),
    "y": pa.array([1, -128, None, 127, 0, 5, -3], pa.int8()),
    "h": pa.array([10, -32768, None, 32767, 0, 7, -1], pa.int16()),
    "i": pa.array([1, -7, None, 100, 0, 5, -12345], pa.int32()),
    "j": pa.array([3, 2, 4, None, -2, 5, 7], pa.int32()),
    "n": pa.array([42, -1, None, 9007199254740993, 0, 1700000000, -1234567], pa.int64()),
    "m": pa.array([5, 3, 10, None, -4, 7, 1000], pa.int64()),
    "big": pa.array([2**63 - 1, -(2**63), None, 2**31, -(2**31) - 1, 0, 1], pa.int64()),
    "f": pa.array([1.5, -2.25, None, 0.1, 0.0, NAN, 16777216.0], pa.float32()),
    "x": pa.array([1.5, -2.5, None, 0.1, -0.0, 2.5, 123456.789], pa.float64()),
    "z": pa.array([2.0, 0.5, -3.0, None, 1e-3, 10.0, 7.25], pa.float64()),
    "wild": pa.array([NAN, INF, -INF, None, -0.0, 1e300, 1e-300], pa.float64()),
    "p": pa.array(
        _decimals("1.50", "-2.25", None, "99999999.99", "0.00", "0.05", "-0.01"),
        pa.decimal128(10, 2),
    ),
    "q": pa.array(
        _decimals("3.000", "0.125", "-7.500", None, "0.001", "2.000", "99.999"), pa.decimal128(5, 3)
    ),
    "w": pa.array(
        _decimals(
            "12345678901234567890.1234567890",
            "-1.0000000000",
            None,
            "0.0000000001",
            "3.0000000000",
            "0E-10",
            "7.5000000000",
        ),
        pa.decimal128(38, 10),
    ),
    "s": pa.array(["hello World", "", None, "äÖ🙂ß", " pad ", "a,b,,c", "O'Neil\t-x_1%"]),
    "u": pa.array(["l", "", "x", None, "d", ",", "e"]),
    "num": pa.array(["1", " -42 ", None, "007", "0", "+5", "1000000"]),
    "d": pa.array(_days(_DAYS), pa.date32()),
    "e": pa.array(_days(_OTHER_DAYS), pa.date32()),
    "ts": pa.array(_times(_TIMES), pa.timestamp("us")),
    "te": pa.array(_times(_OTHER_TIMES), pa.timestamp("us")),
    "bin": pa.array([b"abc", b"", None, b"\x00\xff", b"Spark SQL", "ä".encode(), b"\n"]),
    "a": pa.array(
        [[1, 2, 3], [], None, [None, 5, 5], [-1], [3, None, 1, 2], [7]], pa.list_(pa.int32())
    ),
    "c": pa.array(
        [["b", "a"], [], None, [None, "x"], [""], ["z", "z"], ["q", "ä"]], pa.list_(pa.string())
    ),
    "mp": pa.array(
        [[("k", 1), ("l", 2)], [], None, [("k", None)], [("x", 9)], [("", 0)], [("K", 5)]],
        pa.map_(pa.string(), pa.int32()),
    ),
    "st": pa.array(
        [
            {"x": 1, "y": "one"},
            {"x": None, "y": ""},
            None,
            {"x": 3, "y": None},
            {"x": 0, "y": "ä"},
            {"x": 5, "y": "v"},
            {"x": -1, "y": "w"},
        ],
        pa.struct([("x", pa.int32()), ("y", pa.string())]),
    ),
}
ROWS = pa.table(COLUMNS)
