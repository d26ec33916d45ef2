"""The auction queries of the text in partitions, on both fabrics: the answers of its data set."""

from __future__ import annotations

import pytest

import tidemill as tm
from tests.engine import test_nexmark as golden
from tests.fabrics.ground import Ground, everywhere
from tests.golden.loader import cases


@pytest.fixture(autouse=True)
def _there(fabric: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the golden tests run, they run here."""
    make, session = tm.Engine, fabric.session

    def there(runtime: str) -> tm.Engine:
        return make(runtime, partitions=2) if session is None else make(spark=session, partitions=2)

    monkeypatch.setattr(tm, "Engine", there)


@pytest.mark.parametrize("name", golden.QUERIES)
def test_query(name: str) -> None:
    golden.test_query(name, golden.TIMESTAMPS, 1000)


@everywhere
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
