"""Ticks that every partition reads itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

import tidemill as tm
from tests.fabrics.answers import query_of
from tidemill.connectors.feeds import FileSlice, TableSlice, effort_of, read_slice
from tidemill.runtime import source_task
from tidemill.runtime.fabric import InProcess
from tidemill.runtime.parcels import REPORT, Parcel
from tidemill.runtime.source_task import SourceTask

STREAM = """
CREATE STREAM bid (item BIGINT, at BIGINT) SOURCE parquet(path => '{}') ORDERED BY at;
SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 3) GROUP BY item
"""


def write(folder: Path, *numbers: int) -> None:
    for number in numbers:
        rows = pl.DataFrame({"item": range(40_000), "at": [number] * 40_000})
        rows.write_parquet(folder / f"{number}.parquet")


@pytest.fixture
def direct(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every tick in this process is read by each of two partitions."""
    made = InProcess.__init__

    def make(self: InProcess, partitions: int = 1, packs: bool = False) -> None:
        made(self, partitions, packs, direct=1 << 30)

    monkeypatch.setattr(InProcess, "__init__", make)


def test_columns_on_this_machine_are_little_effort() -> None:
    table = TableSlice(pl.DataFrame({"v": range(100)}).to_arrow())
    assert effort_of(table) == 100
    here, there = "/bids/1", "s3://bids/1"
    efforts = [effort_of(FileSlice("parquet", path, nbytes=800)) for path in (here, there)]
    assert efforts == [100, 800]


@pytest.mark.usefixtures("direct")
def test_partitions_share_what_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = []
    called = SourceTask.__call__

    def call(self: SourceTask) -> Iterator[Parcel]:
        for parcel in called(self):
            told.extend([parcel.told] if parcel.tag == REPORT else [])
            yield parcel

    monkeypatch.setattr(SourceTask, "__call__", call)
    write(tmp_path, 1)
    with tm.Engine("inprocess", partitions=2) as engine:
        query_of(engine, STREAM.format(tmp_path)).collect()
    assert [[found.rows for _, found in each.found] for each in told] == [[20_000], [20_000]]
    assert [sum(seen.rows for seen in each.sights.values()) for each in told] == [40_000, 0]


@pytest.mark.usefixtures("direct")
def test_what_cannot_be_read_in_one_partition_only_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = []

    def read(*arguments: Any) -> pa.Table:
        reads.append(arguments)
        if len(reads) == 2:
            raise OSError("the disk has failed")
        return read_slice(*arguments)

    monkeypatch.setattr(source_task, "read_slice", read)
    write(tmp_path, 1)
    with (
        tm.Engine("inprocess", partitions=2) as engine,
        pytest.raises(tm.TidemillError, match="the disk has failed"),
    ):
        query_of(engine, STREAM.format(tmp_path)).collect()
