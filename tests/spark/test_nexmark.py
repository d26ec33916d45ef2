"""The auction queries of the text on Spark: the answers of its data set."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

import tidemill as tm
from tests.engine import test_nexmark as golden
from tests.golden.loader import cases


@pytest.fixture(autouse=True)
def _on_spark(session: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the golden tests run, they run here."""
    engine = tm.Engine
    monkeypatch.setattr(tm, "Engine", lambda runtime: engine(spark=session, partitions=2))


def test_the_engine_is_another() -> None:
    assert golden.auction()._place.on_spark


@pytest.mark.parametrize("name", golden.QUERIES)
def test_query(name: str) -> None:
    golden.test_query(name, golden.TIMESTAMPS, 1000)


def test_query_in_small_ticks() -> None:
    golden.test_query("q4", golden.TICKS, 5)


def test_derived_streams() -> None:
    golden.test_derived_streams(golden.TICKS, 1000)


def test_new_users() -> None:
    golden.test_new_users(golden.TIMESTAMPS, 1000)


def test_granularity() -> None:
    golden.test_granularity()


def test_nothing_is_forgotten() -> None:
    run = {f"nexmark.{q}" for q in [*golden.QUERIES, "q5", "q7", "q9"]}
    planned_only = {"nexmark.sensor.qos", "nexmark.ddl.open_auction"}
    assert {case.id for case in cases("nexmark")} == run | planned_only | {
        "nexmark.sensor.granularity"
    }
