"""The best join of DataFrames: the same results as of tables."""

from __future__ import annotations

from datetime import datetime, timedelta

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark.sql import DataFrame, SparkSession

from experiments.offline import best_join
from tests.offline.stars import random_star
from tidemill.errors import PlanError

pytestmark = pytest.mark.spark

STAR = random_star(seed=7, rows=60, values=9)


def in_order(table: pa.Table) -> pa.Table:
    return table.sort_by([(name, "ascending") for name in table.column_names])


def with_moments(table: pa.Table) -> pa.Table:
    """Ticks as days of a year."""
    days = pc.multiply(table["ts"].cast(pa.duration("s")), 86400)
    return table.set_column(0, "ts", pc.add(pa.scalar(datetime(2026, 1, 1)), days))


def test_frames_give_what_tables_give(session: SparkSession) -> None:
    r, s, f = STAR.tables()
    terms = {
        "memory": 8, "life": timedelta(days=STAR.life), "time": "ts", "keys": ("a", "b"),
        "importance": "importance", "split": 3,
    }  # fmt: skip
    r, s, f = with_moments(r), with_moments(s), f.select(["a", "b"])
    wanted = best_join(r, s, f, **terms)
    assert wanted.importance < wanted.exact_importance
    frames = [session.createDataFrame(table) for table in (r, s, f)]
    found = best_join(*frames, **terms)
    assert isinstance(found, DataFrame)
    rows = found.toArrow()
    assert in_order(rows.cast(wanted.outputs.schema)).equals(in_order(wanted.outputs))


def test_what_is_wrong_is_said_at_once(session: SparkSession) -> None:
    r, s, f = STAR.tables()
    frames = [session.createDataFrame(table) for table in (r, s)]
    words = f.set_column(0, "a", f["a"].cast(pa.string()))
    with pytest.raises(PlanError, match="keys have one type"):
        best_join(*frames, words, memory=2, life=3, time="ts", keys=("a", "b"))
