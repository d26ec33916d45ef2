"""Merging of equal rows that follow each other in a batch."""

from __future__ import annotations

import polars as pl
import pyarrow as pa
import pytest

from tidemill.algebra import Scan, Schema
from tidemill.physical.operators.merge import MergeExec
from tidemill.physical.operators.source import SourceExec

NODE = MergeExec(SourceExec(Scan("s", "s", Schema.of(v=pa.float64()))))
NAN = float("nan")


def merged(*rows: tuple[float | None, int, int]) -> list[tuple[float | None, int, int]]:
    schema = {"s.v": pl.Float64, "valid_from": pl.Int64, "valid_to": pl.Int64}
    batch = pl.DataFrame(list(rows), schema=schema, orient="row")
    result, watermark = NODE.operator().step([batch], [7])
    assert watermark == 7
    assert result.schema == batch.schema
    return result.rows()


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([], []),
        ([(1.0, 1, 2)], [(1.0, 1, 2)]),
        ([(1.0, 1, 2), (1.0, 2, 5), (1.0, 5, 6)], [(1.0, 1, 6)]),
        ([(1.0, 4, 5), (2.0, 2, 4), (1.0, 1, 2)], [(1.0, 1, 2), (2.0, 2, 4), (1.0, 4, 5)]),
        ([(1.0, 2, 4), (1.0, 1, 2)], [(1.0, 1, 4)]),
        ([(1.0, 1, 2), (1.0, 3, 4)], [(1.0, 1, 2), (1.0, 3, 4)]),
        ([(None, 1, 2), (None, 2, 3), (1.0, 3, 4)], [(None, 1, 3), (1.0, 3, 4)]),
    ],
)
def test_merge(
    rows: list[tuple[float | None, int, int]], expected: list[tuple[float | None, int, int]]
) -> None:
    assert merged(*rows) == expected


def test_groups_are_merged_apart() -> None:
    source = SourceExec(Scan("s", "s", Schema.of(k=pa.int64(), v=pa.int64())))
    node = MergeExec(source, ("s.k",))
    rows = [
        (1, 5, 1, 2),
        (2, 5, 1, 3),
        (1, 5, 2, 4),
        (None, 5, 4, 5),
        (2, 6, 3, 4),
        (None, 5, 3, 4),
    ]
    names = ["s.k", "s.v", "valid_from", "valid_to"]
    batch = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.Int64), orient="row")
    result, _ = node.operator().step([batch], [7])
    found = sorted(result.rows(), key=str)
    assert found == [(1, 5, 1, 4), (2, 5, 1, 3), (2, 6, 3, 4), (None, 5, 3, 5)]
    assert not node.validity.end_order


def test_nan_equals_itself() -> None:
    ((value, start, end),) = merged((NAN, 1, 2), (NAN, 2, 3))
    assert value != value
    assert (start, end) == (1, 3)


def test_its_rows_may_be_longer_than_those_below() -> None:
    assert NODE.child.validity.chronon
    assert not NODE.validity.chronon
    assert NODE.validity.end_order
