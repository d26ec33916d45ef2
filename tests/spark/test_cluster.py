"""Executors in processes of their own: one is killed in the middle, and a task fails once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import tidemill as tm
from tests.fabrics.answers import net_changes, query_of
from tests.spark.scripts.cluster import QUERY, TICKS, tables

SCRIPTS = Path(__file__).parent / "scripts"


@pytest.mark.slow
def test_an_executor_is_killed_and_a_task_fails(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPTS / "cluster.py"), str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,
        timeout=600,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr[-5000:]}"
    assert "killed" in done.stdout
    assert (tmp_path / "failed").exists()
    engine = tm.Engine("inprocess")
    for name, ticks in tables().items():
        engine.stream(name, ticks, time="at")
    engine.function("shaky", lambda value: value, returns="BIGINT")
    expected = query_of(engine, QUERY).collect()
    assert expected.num_rows > TICKS
    assert net_changes(pq.read_table(tmp_path / "results.parquet")) == net_changes(expected)
