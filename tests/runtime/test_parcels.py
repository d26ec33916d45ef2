"""Parcels arrive as they were sent, whatever is in them, and go where they belong."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from tidemill.algebra import Scan, Schema
from tidemill.physical.operator import empty_batch, with_validity
from tidemill.physical.operators.source import SourceExec
from tidemill.runtime.parcels import FACTS, Packer, Parcel, unpack
from tidemill.runtime.partitioning import partitioned
from tidemill.stages import Exchange, Mode
from tidemill.stages.stages import NOWHERE
from tidemill.store import Store
from tidemill.timeline import OPEN_END

COLUMNS = pa.table(
    {
        "i": pa.array([1, None, 3], pa.int32()),
        "s": ["a", None, "ä" * 100],
        "d": [Decimal("1.20"), None, Decimal("-3.00")],
        "f": [float("nan"), -0.0, None],
        "t": pa.array([datetime(2020, 1, 1), None, datetime(1970, 1, 1)], pa.timestamp("us")),
        "day": [date(2020, 2, 29), None, date(1970, 1, 1)],
        "b": [b"\x00\xff", None, b""],
        "yes": [True, False, None],
        "l": [[1, None], None, []],
        "r": [{"x": 1, "y": "z"}, None, {"x": None, "y": ""}],
        "n": pa.nulls(3),
    }
)


def frame(start: list[int], end: list[int], table: pa.Table = COLUMNS) -> pl.DataFrame:
    return with_validity(pl.DataFrame(table), np.array(start), np.array(end))


def sent(parcels: list[Parcel], store: Store | None = None) -> list[Parcel]:
    packer = Packer(store, 3)
    return [unpack(packer(parcel), store) for parcel in parcels]


@pytest.mark.parametrize("end", [[2, 3, 4], [2, 9, 5], [OPEN_END] * 3, [2, OPEN_END, 4], [1, 2, 3]])
def test_all_types_and_validities(end: list[int]) -> None:
    rows = frame([1, 2, 3], end)
    (found,) = sent([Parcel(1, 7, rows)])
    assert (found.target, found.tag) == (1, 7)
    assert found.rows is not None
    assert found.rows.schema == rows.schema
    assert found.rows.equals(rows, null_equal=True)


def test_no_rows() -> None:
    rows = empty_batch(Schema.of(v=pa.int64()))
    (found,) = sent([Parcel(0, 1, rows)])
    assert found.rows is not None
    assert found.rows.equals(rows)


def test_large_ones_travel_as_files(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    big = frame([1] * 50_000, [5] * 50_000, pa.table({"v": np.arange(50_000)}))
    found = sent([Parcel(target, 1, big) for target in range(3)], store)
    assert len(store.names("scratch/000000000003")) == 1, "the same rows are written once"
    assert all(each.rows is not None and each.rows.equals(big) for each in found)


def test_what_is_told() -> None:
    (found,) = sent([Parcel(2, FACTS, told={"bid": 9})])
    assert (found.target, found.tag, found.told, found.rows) == (2, FACTS, {"bid": 9}, None)


def exchange(
    mode: Mode, keys: tuple[str, ...] = (), made_at: int = 0, used_at: int = 1
) -> Exchange:
    schema = Schema.of(k=pa.int64(), f=pa.float64())
    return Exchange(5, SourceExec(Scan("s", "s", schema)), made_at, used_at, mode, keys)


def batch(count: int) -> pl.DataFrame:
    numbers = np.arange(count)
    payload = pl.DataFrame({"s.k": numbers % 7, "s.f": (numbers % 3) * 1.0})
    return with_validity(payload, numbers, numbers + 1)


@pytest.mark.parametrize(
    "how",
    [
        exchange(Mode.HASH, ("s.k",)),
        exchange(Mode.HASH, ("s.k", "s.f")),
        exchange(Mode.SPREAD),
        exchange(Mode.GIVEN, ("s.k",)),
        exchange(Mode.KEEP, made_at=1, used_at=2),
        exchange(Mode.KEEP, used_at=NOWHERE),
        exchange(Mode.SINGLE),
    ],
    ids=str,
)
def test_every_row_goes_to_one_partition(how: Exchange) -> None:
    rows = batch(100)
    parcels = [parcel for parcel in partitioned(rows, how, 1, 3) if parcel.rows is not None]
    assert {parcel.tag for parcel in parcels} == {5}
    together = pl.concat([parcel.rows for parcel in parcels if parcel.rows is not None])
    assert together.sort("valid_from").equals(rows)
    assert [_told(parcel) for parcel in partitioned(rows, how, 1, 3)] == list(map(_told, parcels))


@pytest.mark.parametrize("mode", [Mode.HASH, Mode.SPREAD, Mode.GIVEN, Mode.SINGLE, Mode.BROADCAST])
def test_those_for_one_partition_only(mode: Mode) -> None:
    how = exchange(mode, ("s.k",) if mode in (Mode.HASH, Mode.GIVEN) else ())
    every = [_told(parcel) for parcel in partitioned(batch(100), how, 1, 3)]
    found = [
        _told(parcel) for only in range(3) for parcel in partitioned(batch(100), how, 1, 3, only)
    ]
    assert sorted(found) == sorted(every)


def _told(parcel: Parcel) -> tuple[int, list[Any]]:
    assert parcel.rows is not None
    return parcel.target, parcel.rows.rows()


def test_equal_keys_meet() -> None:
    places: dict[Any, set[int]] = {}
    for parcel in partitioned(batch(100), exchange(Mode.HASH, ("s.k",)), 0, 3):
        assert parcel.rows is not None
        for key in parcel.rows["s.k"].unique():
            places.setdefault(key, set()).add(parcel.target)
    assert all(len(targets) == 1 for targets in places.values())
    assert len(set().union(*places.values())) > 1


def test_zeros_and_nans_meet_their_like() -> None:
    payload = pl.DataFrame({"s.k": [0, 0, 0, 0], "s.f": [0.0, -0.0, float("nan"), -float("nan")]})
    rows = with_validity(payload, np.arange(4), np.arange(4) + 1)
    where = {}
    for parcel in partitioned(rows, exchange(Mode.HASH, ("s.f",)), 0, 5):
        assert parcel.rows is not None
        where |= dict.fromkeys(parcel.rows["valid_from"], parcel.target)
    assert where[0] == where[1]
    assert where[2] == where[3]


def test_everywhere_is_everywhere() -> None:
    rows = batch(10)
    parcels = list(partitioned(rows, exchange(Mode.BROADCAST), 0, 3))
    assert [parcel.target for parcel in parcels] == [0, 1, 2]
    assert all(parcel.rows is rows for parcel in parcels)
