"""The best join as users call it: tables of all kinds, columns of all names, and what is wrong."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from experiments.offline import BestJoin, best_join
from tidemill.errors import TidemillError

R = {"at": [0, 1, 2], "a": [1, 1, 2], "worth": [5, 2, 9]}
S = {"at": [1, 2, 3], "b": [7, 8, 7], "worth": [3, 9, 4]}
F = {"a": [1, 1, 2], "b": [7, 8, 7]}
TERMS: dict[str, Any] = {
    "memory": 2,
    "life": 5,
    "time": "at",
    "keys": ("a", "b"),
    "importance": "worth",
}


def joined(r: Any = R, s: Any = S, f: Any = F, **terms: Any) -> BestJoin:
    found = best_join(r, s, f, **{**TERMS, **terms})
    assert isinstance(found, BestJoin)
    return found


def pairs(best: BestJoin) -> list[tuple[int, int]]:
    columns = best.outputs.select(["r_at", "s_at"]).to_pydict()
    return list(zip(*columns.values(), strict=True))


@pytest.mark.parametrize("table", [pa.table, pl.DataFrame, pd.DataFrame, lambda rows: rows])
def test_tables_of_all_kinds(table: Any) -> None:
    best = joined(table(R), table(S), table(F))
    assert (best.importance, best.tuples) == (17, 5)
    assert pairs(best) == [(0, 1), (1, 1), (0, 2), (2, 1), (0, 3)]
    assert best.outputs.column_names == [
        "time", "importance", "r_at", "r_a", "r_worth", "s_at", "s_b", "s_worth", "f_a", "f_b",
    ]  # fmt: skip


def test_timestamps() -> None:
    start = datetime(2026, 1, 1)
    r, s = ({**each, "at": [start + timedelta(hours=at) for at in each["at"]]} for each in (R, S))
    ticks = joined(life=2)
    best = joined(r, s, life=timedelta(hours=2))
    assert (best.importance, best.tuples) == (ticks.importance, ticks.tuples)
    hours = [(time - start) // timedelta(hours=1) for time in best.outputs["time"].to_pylist()]
    assert hours == ticks.outputs["time"].to_pylist()
    assert best.kept.schema.field("until").type == pa.timestamp("us")
    assert joined(r, s, life="2 hours").importance == ticks.importance


def test_names_that_differ() -> None:
    r = {"t": R["at"], "item": R["a"], "weight": R["worth"]}
    f = {"left": F["a"], "right": F["b"]}
    keys = ({"item": "left"}, {"b": "right"})
    best = joined(r, S, f, time=("t", "at"), keys=keys, importance=("weight", "worth"))
    assert best.importance == joined().importance


def test_keys_of_several_columns_and_null() -> None:
    r = {"at": [0, 1], "a": [1, 1], "x": ["u", None]}
    s = {"at": [2], "b": [7]}
    f = {"a": [1, 1, 1], "x": ["u", "v", None], "b": [7, 7, 7]}
    for split in (1, 2):
        best = joined(r, s, f, keys=(["a", "x"], "b"), importance=None, split=split, memory=8)
        assert pairs(best) == [(0, 2)]


def test_rows_of_the_relation_come_and_go() -> None:
    f = {**F, "from": [None, 2, None], "to": [3, None, None]}
    best = joined(f=f, active=("from", "to"), memory=100)
    # r0 came before (1, 8) was there; (1, 7) was gone when s2 came.
    assert pairs(best) == [(0, 1), (1, 1), (2, 1), (2, 3)]


def test_every_stream_has_its_life() -> None:
    assert pairs(joined(life=(1, 5), memory=100)) == [(1, 1), (2, 1)]
    assert pairs(joined(life=(5, 1), memory=100)) == [(0, 1), (1, 1), (0, 2), (1, 2), *LATER]


LATER = [(0, 3), (1, 3), (2, 3)]


def test_pairs_that_meet_twice_count_twice() -> None:
    best = joined(f={"a": [1, 1], "b": [7, 7]}, memory=100)
    assert best.tuples == 2 * joined(f={"a": [1], "b": [7]}, memory=100).tuples


@pytest.mark.parametrize("split", [1, 2])
@pytest.mark.parametrize("empty", ["r", "s", "f"])
def test_tables_without_rows(empty: str, split: int) -> None:
    tables = {"r": pa.table(R), "s": pa.table(S), "f": pa.table(F)}
    tables[empty] = tables[empty].slice(0, 0)
    best = joined(**tables, split=split)
    assert (best.importance, best.tuples, best.outputs.num_rows, best.kept.num_rows) == (0, 0, 0, 0)


def test_fractions() -> None:
    r, s = ({**each, "worth": [worth / 7 for worth in each["worth"]]} for each in (R, S))
    assert joined(r, s).importance == pytest.approx(17 / 7)


@pytest.mark.parametrize(
    ("terms", "told"),
    [
        ({"time": "when"}, "unknown column `when` in `r`"),
        ({"importance": "wroth"}, "did you mean `worth`"),
        ({"keys": ("a", "c")}, "unknown column `c` in `s`"),
        ({"keys": ("a", [])}, "shares no column"),
        ({"active": ("from", None)}, "unknown column `from` in `f`"),
        ({"memory": -1}, "no memory holds -1 rows"),
        ({"life": 0}, "live for no time"),
        ({"life": "2 hours"}, "not a duration here"),
        ({"by": "size"}, "compared by 'size'"),
        ({"split": 0}, "0 tasks"),
        ({"r": {**R, "worth": [1, -2, 3]}}, "NULL, infinite or negative"),
        ({"r": {**R, "worth": [1, None, 3]}}, "NULL, infinite or negative"),
        ({"r": {**R, "worth": ["x", "y", "z"]}}, "is no number"),
        ({"r": {**R, "at": [1, None, 3]}}, "has NULLs"),
        ({"r": {**R, "at": ["x", "y", "z"]}}, "time is an integer"),
        ({"r": {**R, "a": ["x", "y", "z"]}}, "keys have one type"),
        ({"r": {**R, "at": [datetime(2026, 1, 1)] * 3}}, "times of two kinds"),
        ({"f": 3}, "cannot be read from int"),
    ],
)
def test_what_is_wrong_is_said(terms: dict[str, Any], told: str) -> None:
    with pytest.raises(TidemillError, match=told.replace("`", ".")):
        joined(**terms)
