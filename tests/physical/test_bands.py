"""Joins whose partners are found by ranges, held to the reference and to all pairs."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tidemill as tm
from tidemill.physical.operators.join import bands
from tidemill.testing import check_query

INTS = [None, -(2**63), -1, 0, 1, 2, 3, 5, 8, 2**53, 2**53 + 1, 2**63 - 1]
SMALL = [None, *range(-3, 12)]
DOUBLES = [None, math.nan, math.inf, -math.inf, -0.0, 0.0, 0.1, 0.3, 1.5, 2.0, 1e300]
DECIMALS = [None, *(Decimal(n) / 10 for n in range(-10, 30, 3))]
DAYS = [None, *(datetime.date(2024, 1, n) for n in range(1, 9))]
TYPES: dict[str, tuple[pa.DataType, list[Any]]] = {
    "i": (pa.int64(), SMALL),
    "n": (pa.int64(), INTS),
    "s": (pa.int16(), SMALL),
    "f": (pa.float64(), DOUBLES),
    "g": (pa.float32(), [None, math.nan, 0.1, 0.25, 1.0, 3.5, 7.0]),
    "d": (pa.decimal128(10, 2), DECIMALS),
    "t": (pa.date32(), DAYS),
}
CONDITIONS = [
    "a.i BETWEEN b.i - 2 AND b.i + 2",
    "a.i < b.i",
    "a.i >= b.s + 1 AND a.i <= b.s + 3",
    "b.i - 1 > a.s - 3",
    "a.n <= b.n",
    "a.n < b.f",
    "a.f BETWEEN b.f - 0.2 AND b.f + 0.2",
    "a.f > b.f",
    "a.g BETWEEN b.g - 0.15 AND b.g + 0.15",
    "a.d < b.d + 0.3 AND a.d > b.d - 0.3",
    "a.d <= b.i",
    "a.t >= b.t",
    "a.t BETWEEN b.t AND date_add(b.t, 2)",
    "2 * a.i < b.i - -1 AND a.f >= b.f",
    "a.i BETWEEN b.s AND b.i",
    "a.i < b.i AND (a.s > b.s OR b.s IS NULL)",
    "a.i < b.i AND a.i = b.s",
    "1 + a.i <= (b.i + 2) - 1",
]
THREE = [
    "a.i < b.i AND b.i < c.i",
    "a.i BETWEEN b.i - 1 AND b.i + 1 AND c.i BETWEEN a.i AND b.i + 1",
    "a.i = b.i AND c.f < a.f",
]


def _rows(random: Random, count: int) -> list[dict[str, Any]]:
    rows = []
    for _ in range(count):
        row = {name: random.choice(values) for name, (_, values) in TYPES.items()}
        rows.append(row | {"at": random.randrange(12)})
    return sorted(rows, key=lambda row: row["at"])


def _engine(data: dict[str, list[dict[str, Any]]], batches: int) -> tm.Engine:
    schema = pa.schema({name: kind for name, (kind, _) in TYPES.items()} | {"at": pa.int64()})
    engine = tm.Engine("inprocess")
    for name, rows in data.items():
        step = max(1, len(rows) // batches)
        parts = [rows[at : at + step] for at in range(0, len(rows), step)]
        tables = [pa.Table.from_pylist(part, schema) for part in parts]
        engine.stream(name, tables, time="at")
    return engine


def _check(where: str, names: str, seed: int) -> None:
    random = Random(seed)
    data = {name: _rows(random, random.randint(4, 14)) for name in names}
    engine = _engine(data, random.choice([1, 3]))
    windows = ", ".join(f"{name} WINDOW(RANGE {random.choice([1, 4, 50])})" for name in names)
    columns = ", ".join(f"{name}.i AS {name}_i, {name}.f AS {name}_f" for name in names)
    query = engine.sql(f"SELECT {columns} FROM {windows} WHERE {where}")
    assert query is not None
    check_query(query, {name: [(row, row["at"]) for row in rows] for name, rows in data.items()})


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranges are looked for even if few rows hold together."""
    monkeypatch.setattr(bands, "_holding", lambda run, starts, ends: 1 << 60)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("where", CONDITIONS)
def test_two_inputs(where: str) -> None:
    for seed in range(6):
        _check(where, "ab", seed)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("where", THREE)
def test_three_inputs(where: str) -> None:
    for seed in range(4):
        _check(where, "abc", seed)


def test_what_holds_together_is_found_by_the_cheaper_way() -> None:
    for seed in range(10):
        _check(Random(seed).choice(CONDITIONS), "ab", seed)


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("a.i BETWEEN b.i - 2 AND b.i + 2", "ordered=[a.i, b.i] where"),
        ("a.i < b.s AND a.f > b.f", "ordered=[a.i, b.s] where"),
        ("a.i BETWEEN b.s AND b.i", "ordered=[a.i, b.s] where"),
        ("a.i <> b.i", "JoinExec all pairs"),
        ("a.i + b.i < 3", "JoinExec all pairs"),
    ],
)
def test_explain_says_it(where: str, said: str) -> None:
    engine = _engine({name: _rows(Random(0), 3) for name in "ab"}, 1)
    query = engine.sql(
        f"SELECT a.i AS x, b.i AS y FROM a WINDOW(RANGE 5), b WINDOW(RANGE 5) WHERE {where}"
    )
    assert query is not None
    assert said in query.explain("physical")


def test_only_pairs_in_the_band_are_looked_at() -> None:
    """Of a million pairs that hold together, about twenty thousand are near each other."""
    random = np.random.default_rng(1)
    looked: list[int] = []
    engine = tm.Engine("inprocess")
    for name in "ab":
        columns = {"x": random.integers(0, 1_000, 1_000), "at": np.arange(1_000)}
        engine.stream(name, [pa.table(columns)], time="at")
    query = engine.sql(
        """SELECT a.x AS x, b.x AS y FROM a WINDOW(RANGE 10000), b WINDOW(RANGE 10000)
        WHERE a.x BETWEEN b.x - 10 AND b.x + 10"""
    )
    assert query is not None
    original = bands._meetings
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            bands,
            "_meetings",
            lambda wanted, rows: (
                looked.append(int(np.maximum(wanted.stop - wanted.first, 0).sum()))
                or original(wanted, rows)
            ),
        )
        found = query.collect().num_rows
    assert 0 < found <= sum(looked) < 2 * found
