from __future__ import annotations

import json
import pickle
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidemill.algebra.schema import Schema
from tidemill.connectors.feeds import FileSlice, Slice, TableSlice, read_slice, split
from tidemill.connectors.feeds.slices import from_json, size_of, to_json

SCHEMA = Schema.of(n=pa.int64())


@pytest.mark.parametrize(
    "slice",
    [
        FileSlice("csv", "a b.csv"),
        FileSlice("csv", "a.csv", (("header", False), ("sep", "|")), rows=0, nbytes=0),
        FileSlice("parquet", "s3://b/a", first=0, last=3, rows=7, nbytes=9),
    ],
)
def test_slices_travel(slice: FileSlice) -> None:
    assert from_json(json.loads(json.dumps(to_json(slice)))) == slice
    assert pickle.loads(pickle.dumps(slice)) == slice
    assert len({slice, pickle.loads(pickle.dumps(slice))}) == 1


def numbers(slices: list[Slice]) -> list[int]:
    tables = [read_slice(slice, SCHEMA, ["n"], "s") for slice in slices]
    return [n for table in tables for n in table.column("n").to_pylist()]


def written(folder: Path, format: str, rows: int, per_part: int) -> FileSlice:
    table = pa.table({"n": pa.array(range(rows), pa.int64()), "text": ["x" * 50] * rows})
    path = folder / f"{rows}.{format}"
    if format == "parquet":
        pq.write_table(table, path, row_group_size=per_part)
    else:
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=per_part)
    return FileSlice(format, str(path), nbytes=path.stat().st_size)


@pytest.mark.parametrize("format", ["parquet", "arrow"])
@pytest.mark.parametrize("ways", [1, 2, 3, 7, 50])
def test_parts_add_up(tmp_path: Path, format: str, ways: int) -> None:
    slices: list[Slice] = [written(tmp_path, format, 1000, 60), written(tmp_path, format, 10, 60)]
    tasks = split(slices, ways)
    assert len(tasks) == ways
    read = [numbers(task) for task in tasks]
    assert sorted(n for task in read for n in task) == sorted([*range(1000), *range(10)])
    pieces = [piece for task in tasks for piece in task]
    assert [piece.rows for piece in pieces if piece.rows is not None] == [
        len(numbers([piece])) for piece in pieces if piece.rows is not None
    ]
    if 1 < ways <= 7 and format == "arrow":  # what describes small Parquet files is most of them
        rows = [len(task) for task in read]
        assert max(rows) - min(rows) <= 120, "no more than two parts"


@pytest.mark.parametrize("format", ["parquet", "arrow"])
def test_parts_of_parts(tmp_path: Path, format: str) -> None:
    whole = written(tmp_path, format, 1000, 100)
    first, second = split([whole], 2)
    again = [piece for task in split(second, 3) for piece in task]
    assert sorted(numbers([*first, *again])) == list(range(1000))
    assert sorted(numbers(again)) == sorted(numbers(second))
    assert len(again) > len(second)


def test_neighbours_are_read_at_once(tmp_path: Path) -> None:
    slices = [written(tmp_path, "arrow", rows, 10) for rows in (4000, 5000)]
    tasks = split(slices, 3)
    assert sum(len(task) for task in tasks) <= len(tasks) + len(slices)
    small = FileSlice("csv", "a.csv", nbytes=slices[0].nbytes)
    loads = [sum(map(size_of, task)) for task in split([small, *slices], 3)]
    assert max(loads) < 1.2 * min(loads)


def test_tables_are_cut_by_rows() -> None:
    table = pa.table({"n": pa.array(range(10), pa.int64())})
    tasks = split([TableSlice(table)], 3)
    assert [numbers(task) for task in tasks] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert [len(task) for task in split([TableSlice(table.slice(0, 0))], 3)] == [1, 0, 0]


def test_what_cannot_be_read_is_not_cut(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_text("no parquet")
    slice = FileSlice("parquet", str(tmp_path / "a.parquet"), nbytes=1 << 30)
    gone = FileSlice("arrow", str(tmp_path / "gone.arrow"), nbytes=1 << 30)
    assert split([slice, gone], 2) == [[slice], [gone]]


@settings(max_examples=200)
@given(st.lists(st.one_of(st.none(), st.integers(0, 10**6)), max_size=30), st.integers(1, 9))
def test_files_are_dealt_out_once_evenly_and_in_order(sizes: list[int | None], ways: int) -> None:
    slices: list[Slice] = [
        FileSlice("csv", f"{number:02d}.csv", nbytes=size) for number, size in enumerate(sizes)
    ]
    tasks = split(slices, ways)
    assert tasks == split(slices, ways)
    assert sorted(s.path for task in tasks for s in task) == [s.path for s in slices]  # type: ignore[union-attr]
    for task in tasks:
        assert [s.path for s in task] == sorted(s.path for s in task)  # type: ignore[union-attr]
    loads = [sum(map(size_of, task)) for task in tasks]
    largest = max(map(size_of, slices), default=0)
    assert max(loads) - min(loads) <= largest
