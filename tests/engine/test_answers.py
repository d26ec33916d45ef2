"""The answer of a query as people work with it: first rows, Polars, pandas."""

import builtins
from datetime import datetime

import polars as pl
import pytest

import tidemill as tm

BIG = 2**60 + 1


@pytest.fixture
def engine():
    with tm.Engine(runtime="inprocess") as engine:
        rows = [{"a": BIG, "b": None, "at": 1}, {"a": None, "b": "x", "at": 2}]
        engine.stream("s", rows, time="at")
        yield engine


def test_head_is_the_beginning_of_collect(engine) -> None:
    query = engine.sql("SELECT a FROM s WINDOW(RANGE 3)")
    whole = query.collect()
    assert query.head() == whole
    assert query.head(1) == whole.slice(0, 1)
    assert query.head(0).num_rows == 0
    with pytest.raises(tm.TidemillError, match="first -1 rows"):
        query.head(-1)


@pytest.mark.parametrize("form", ["head", "to_polars", "to_pandas"])
def test_equal_neighbours_can_be_merged(engine, form) -> None:
    query = engine.sql("SELECT MAX(a) AS most FROM s WINDOW(RANGE 3)")
    rows = [len(getattr(query, form)(coalesce=coalesce)) for coalesce in (False, True)]
    assert rows == [query.collect(c).num_rows for c in (False, True)]
    assert rows[0] > rows[1]


def test_polars_has_the_rows_of_collect(engine) -> None:
    query = engine.sql("SELECT a, b FROM s WINDOW(RANGE UNBOUNDED)")
    assert query.to_polars().to_dicts() == query.collect().to_pylist()
    assert query.to_polars().schema["valid_to"] == pl.Int64


def test_integers_stay_exact_in_pandas(engine) -> None:
    frame = engine.sql("SELECT a, b FROM s WINDOW(RANGE UNBOUNDED)").to_pandas()
    assert list(map(str, frame.dtypes)) == ["Int64", "object", "int64", "Int64"]
    assert frame["a"][0] == BIG
    assert frame["valid_to"].isna().all()


def test_timestamps_and_no_rows_in_pandas(engine) -> None:
    engine.stream("t", [{"a": 1, "ts": datetime(2024, 3, 1)}], time="ts")
    frame = engine.sql("SELECT a FROM t").to_pandas()
    assert frame["valid_from"][0] == datetime(2024, 3, 1)
    assert len(engine.sql("SELECT a FROM t WHERE a > 1").to_pandas()) == 0


def test_without_pandas_the_error_says_what_to_do(engine, monkeypatch) -> None:
    real = builtins.__import__

    def without_pandas(name, *rest):
        if name == "pandas":
            raise ModuleNotFoundError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without_pandas)
    with pytest.raises(tm.TidemillError, match="pip install pandas"):
        engine.sql("SELECT a FROM s").to_pandas()
