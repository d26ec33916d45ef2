"""Bundles bring every partition its own rows, and the driver one name of each task."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tidemill as tm
from tests.checking.queries import plan_of
from tests.checking.sources import run_together, stream_source
from tests.fabrics.simulated import Elsewhere
from tidemill.physical.lowering import lower
from tidemill.physical.operator import Exec
from tidemill.runtime.bundles import joined, packed, rows_of
from tidemill.runtime.parcels import EVERY, FACTS, REPORT, Packed, Parcel, unpack
from tidemill.runtime.sending import Sent
from tidemill.runtime.sources import StreamSource
from tidemill.store import Store

PARTITIONS = 5
ROWS = st.lists(st.integers(0, 99), max_size=4)
TASKS = st.lists(st.dictionaries(st.integers(0, PARTITIONS - 1), ROWS), max_size=4)


def frame(values: list[int]) -> pl.DataFrame:
    return pl.DataFrame(
        {"v": values, "valid_from": values, "valid_to": [value + 3 for value in values]},
        schema=dict.fromkeys(["v", "valid_from", "valid_to"], pl.Int64),
    )


@settings(max_examples=30)
@given(TASKS)
def test_every_partition_gets_its_rows(tasks: list[dict[int, list[int]]]) -> None:
    with closing(Store.temporary()) as store:
        made = [
            list(packed([Parcel(t, 3, frame(v)) for t, v in task.items()], store, 1, PARTITIONS, 1))
            for task in tasks
        ]
        for target in range(PARTITIONS):
            found = [
                value
                for task in made
                for parcel in task
                for rows in _of(parcel, store, target)
                for value in rows["v"]
            ]
            assert found == [value for task in tasks for value in task.get(target, [])]


def _of(parcel: Packed, store: Store, target: int) -> list[pl.DataFrame]:
    if parcel.target == EVERY:
        return list(rows_of(joined([parcel], store, 1), store, target))
    return [_plain(parcel)] if parcel.target == target else []


def _plain(parcel: Packed) -> pl.DataFrame:
    rows = unpack(parcel, None).rows
    assert rows is not None
    return rows


def test_what_all_get_is_written_once(tmp_path: Path) -> None:
    store, rows = Store(str(tmp_path)), frame(list(range(10_000)))
    (bundle,) = packed([Parcel(n, 3, rows) for n in range(PARTITIONS)], store, 1, PARTITIONS, 1)
    assert bundle.file is not None
    assert store.size(bundle.file) < 2 * 16 * 10_000
    both = joined([bundle, bundle], store, 1)
    assert [each.height for each in rows_of(both, store, 4)] == [10_000, 10_000]


def test_few_partitions_and_what_is_told_need_none(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    parcels = [*(Parcel(n, 3, frame([n])) for n in range(5)), Parcel(EVERY, FACTS, told=1)]
    assert [each.target for each in packed(parcels, store, 1, 5, 5)] == [0, 1, 2, 3, 4, EVERY]
    assert [each.file is None for each in packed(parcels, store, 1, 5, 4)] == [False, True]


class Counting(Elsewhere):
    """Counts the parcels that come to the driver, and the bytes of the tasks that leave it."""

    parcels = 0
    sent = 0

    def call(self, tasks: Sequence[Sent], title: str) -> list[bytes]:
        self.sent += sum(len(task.body) for task in tasks)
        found = super().call(tasks, title)
        loaded = [parcel for each in found for parcel in pickle.loads(each)]
        self.parcels += sum(parcel.tag != REPORT for parcel in loaded)
        return found


@pytest.mark.parametrize("direct", [-1, 1 << 30])
def test_the_work_of_the_driver_is_linear_in_partitions(direct: int, tmp_path: Path) -> None:
    counts = {}
    for partitions in (8, 32):
        fabric = Counting(partitions, direct)
        store = Store(str(tmp_path / str(partitions)))
        answers = list(run_together({"q": _plan()}, _sources(store), fabric, store))
        assert sum(tick["q"].height for tick in answers if "q" in tick)
        counts[partitions] = fabric.parcels, fabric.sent
    for few, many in zip(counts[8], counts[32], strict=True):
        assert many < 5 * few


def _plan() -> Exec:
    engine = tm.Engine("inprocess")
    for name, tables in _rows().items():
        engine.stream(name, tables, time="at")
    both = "a WINDOW(RANGE 5) JOIN b WINDOW(RANGE 5) USING (k)"
    return lower(plan_of(engine.sql(f"SELECT a.v, COUNT(*) AS n FROM {both} GROUP BY a.v")), {})


def _sources(store: Store) -> dict[str, StreamSource]:
    return {name: stream_source(name, each, "at", store=store) for name, each in _rows().items()}


def _rows() -> dict[str, list[pa.Table]]:
    rows = [{"k": n % 50, "v": n % 70, "at": n // 20} for n in range(400)]
    tables = [pa.Table.from_pylist(rows[:200]), pa.Table.from_pylist(rows[200:])]
    return {"a": tables, "b": tables}
