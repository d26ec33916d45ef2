"""Versions of rows against a model in plain Python: a list of the copies of every row."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidemill.algebra.schema import Schema
from tidemill.connectors.change_source import DELETED, INSERTED, INSTANT, OPERATION
from tidemill.runtime.versions import RelationVersions
from tidemill.timeline import OPEN_END

SCHEMA = Schema.of(k=pa.int64(), text=pa.string(), x=pa.float64())
ROWS = st.tuples(
    st.sampled_from([None, 0, 1]),
    st.sampled_from([None, "", "ä", "水 🌊"]),
    st.sampled_from([None, 0.0, -0.0, math.nan, 1.5]),
)
BATCHES = st.lists(
    st.lists(st.tuples(ROWS, st.sampled_from([1, 1, -1]), st.integers(0, 9)), max_size=12),
    max_size=6,
)


class Model:
    """What `RelationVersions` does, one change after the other."""

    def __init__(self) -> None:
        self.open: dict[Any, list[tuple[int, int]]] = defaultdict(list)
        self.ids = 0
        self.missing = 0

    def take(self, changes: list[tuple[Any, int, int]]) -> list[tuple[Any, int, int, int]]:
        first, found = self.ids, {}
        for row, sign, at in changes:
            copies = self.open[key(row)]
            if sign > 0:
                copies.append((self.ids, at))
                found[self.ids] = (key(row), self.ids, at, OPEN_END)
                self.ids += 1
            elif copies:
                number, begin = copies.pop(0)
                end = max(at, begin)
                start = begin if number >= first else end
                found[number] = (key(row), number, start, end)
            else:
                self.missing += 1
        return [v for v in found.values() if v[1] < first or v[2] < v[3]]

    @property
    def rows(self) -> list[tuple[Any, int, int, int]]:
        opened = [(k, n, b, OPEN_END) for k, copies in self.open.items() for n, b in copies]
        return sorted(opened, key=lambda version: version[1])


def key(row: Any) -> Any:
    """Equal rows look alike: one zero, one NaN."""
    return tuple("NaN" if isinstance(v, float) and math.isnan(v) else v for v in row)


def frame(changes: list[tuple[Any, int, int]]) -> pl.DataFrame:
    rows = [(*row, sign, at) for row, sign, at in changes]
    types = {"k": pl.Int64, "text": pl.String, "x": pl.Float64}
    return pl.DataFrame(rows, {**types, OPERATION: pl.Int8, INSTANT: pl.Int64}, orient="row")


def versions_of(found: pl.DataFrame) -> list[tuple[Any, int, int, int]]:
    return [(key(row[:3]), *row[3:]) for row in found.rows()]


@settings(max_examples=60, deadline=None)
@given(BATCHES, st.booleans())
def test_versions_are_those_of_the_model(batches: Any, stops: bool) -> None:
    versions, model = RelationVersions(SCHEMA), Model()
    for changes in batches:
        by_number = sorted(versions_of(versions.take(frame(changes))), key=lambda v: v[1])
        assert by_number == sorted(model.take(changes), key=lambda v: v[1])
        assert versions_of(versions.open) == model.rows
        assert (len(versions), versions.missing) == (len(model.rows), model.missing)
        if stops:
            missing, old, versions = (
                versions.missing,
                versions,
                RelationVersions(SCHEMA, versions.next_id),
            )
            versions.restore(old.open)
            versions.missing = missing


def test_rows_that_are_there_at_first() -> None:
    versions = RelationVersions(Schema.of(k=pa.int64()))
    known = {"k": [1, 1, 2, 3], INSERTED: [4, 0, 5, 9], DELETED: [None, 6, 5, 7]}
    first = versions.begin(pl.DataFrame(known))
    assert first.rows() == [(1, 0, 4, OPEN_END), (1, 1, 0, 6)], "of the others, nothing is left"
    assert versions.open.rows() == [(1, 0, 4, OPEN_END)]
    again = versions.take(pl.DataFrame({"k": [1, 1], OPERATION: [-1, 1], INSTANT: [3, 3]}))
    assert again.rows() == [(1, 4, 3, OPEN_END), (1, 0, 4, 4)], "no row ends before it begins"


def test_nothing_at_all() -> None:
    versions = RelationVersions(SCHEMA)
    assert versions.begin(frame([]).drop(OPERATION, INSTANT)).height == 0
    assert versions.take(frame([])).height == versions.open.height == len(versions) == 0


@pytest.mark.parametrize("distinct", [True, False])
def test_what_is_deleted_takes_no_room(distinct: bool) -> None:
    """Rows come and go; some stay."""
    versions = RelationVersions(Schema.of(k=pa.int64()))
    stay = pl.DataFrame({"k": range(10)})
    versions.begin(stay)
    for turn in range(20):
        rows = [turn * 500 + n if distinct else n % 10 for n in range(500)]
        for sign in (1, -1):
            signs, at = [sign] * 500, [turn] * 500
            versions.take(pl.DataFrame({"k": rows, OPERATION: signs, INSTANT: at}))
    assert sorted(versions.open["k"].to_list()) == list(range(10))
    assert len(versions._copies.live) < 2000
    assert len(versions._rows.live) < 2000
