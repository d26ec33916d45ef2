"""Who may use a checkpoint, and for what; without Spark."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.spark.driving import query_of

import tidemill as tm
from tidemill.errors import ExecutionError
from tidemill.runtime.spark.checkpoint import Checkpoint


def plan(window: int = 5) -> str:
    engine = tm.Engine("inprocess")
    engine.stream("s", [{"k": 1, "at": 1}], time="at")
    sql = f"SELECT k, COUNT(*) AS n FROM s WINDOW(RANGE {window}) GROUP BY k"
    return str(query_of(engine, sql).job.plan)


def test_the_state_keeps_its_number_of_partitions(tmp_path: Path) -> None:
    for wanted in (3, 8, 1):
        place = Checkpoint(str(tmp_path))
        assert place.open(plan(), wanted) == 3
        place.close()


def test_another_query(tmp_path: Path) -> None:
    place = Checkpoint(str(tmp_path))
    place.open(plan(), 2)
    place.close()
    with pytest.raises(ExecutionError, match="belongs to another query") as caught:
        Checkpoint(str(tmp_path)).open(plan(window=6), 2)
    assert "range=5" in str(caught.value)
    assert "range=6" in str(caught.value)


@pytest.mark.parametrize("key", ["format", "polars"])
def test_another_version(tmp_path: Path, key: str) -> None:
    place = Checkpoint(str(tmp_path))
    place.open(plan(), 2)
    place.close()
    manifest = json.loads((tmp_path / "manifest.json").read_text("utf-8"))
    (tmp_path / "manifest.json").write_text(json.dumps({**manifest, key: "0.0.1"}), "utf-8")
    with pytest.raises(ExecutionError, match="belongs to another version of") as caught:
        Checkpoint(str(tmp_path)).open(plan(), 2)
    assert "0.0.1" in str(caught.value)


def test_one_at_a_time(tmp_path: Path) -> None:
    first = Checkpoint(str(tmp_path))
    first.open(plan(), 2)
    with pytest.raises(ExecutionError, match="in use by another query"):
        Checkpoint(str(tmp_path)).open(plan(), 2)
    first.close()
    second = Checkpoint(str(tmp_path))
    second.open(plan(), 2)
    second.close()


def test_who_is_refused_holds_nothing(tmp_path: Path) -> None:
    first = Checkpoint(str(tmp_path))
    first.open(plan(), 2)
    first.close()
    refused = Checkpoint(str(tmp_path))
    with pytest.raises(ExecutionError):
        refused.open(plan(window=6), 2)
    second = Checkpoint(str(tmp_path))
    second.open(plan(), 2)
    second.close()
