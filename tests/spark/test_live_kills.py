"""A driver that is killed while its queries come and go: every query answers as if alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from tests.spark.driving import SCRIPTS
from tests.spark.live_graph import END, Answers, check, random_rows

from tests.conftest import ROOT
from tests.spark.scripts.live import QUERIES, STEPS

POINTS = ["before-epoch", "after-epoch", "before-sinks", "after-sinks", "before-marks"]
CERTAIN = [["after-sinks:3"]]
"""What a tick gave must not be given twice, whatever queries there are when it is done again."""

MORE = [["after-epoch:6", "after-sinks:1"]]
"""In the middle of changes; and when the first tick after them has given its results."""

MORE += [[f"{point}:{number}" for number in (1, 2, 4)] for point in POINTS]


def drive(work: Path, wish: str = "") -> tuple[bool, str]:
    """Start the driver; whether it came to its end, and what it said."""
    done = subprocess.run(
        [sys.executable, str(SCRIPTS / "live.py"), str(work), wish],
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,
        timeout=600,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)])},
    )
    if done.returncode not in (0, -9):
        raise AssertionError(f"the driver failed:\n{done.stdout}\n{done.stderr[-5000:]}")
    return done.returncode == 0, done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("wishes", [*CERTAIN, *MORE])
def test_kills(wishes: list[str], tmp_path: Path) -> None:
    ticks = random_rows(Random(3), len(STEPS), 20)
    for number, tick in enumerate(ticks):
        for name, table in tick.items():
            folder = tmp_path / "input" / name
            folder.mkdir(parents=True, exist_ok=True)
            pq.write_table(table, folder / f"{number:04d}.parquet")
    for wish in wishes:
        ended, said = drive(tmp_path, wish)
        assert not ended, f"{wish} was not reached:\n{said}"
    ended, said = drive(tmp_path)
    assert ended
    removed = {name for _, names in STEPS for name in names}
    lines = (line.split() for line in said.splitlines() if line.startswith("since"))
    since = {name: int(at) for _, name, at in lines if at != "-"}
    for name, at in since.items():
        until = 0 if name in removed else END
        check(Answers(QUERIES[name], at, until, results(tmp_path / "results" / name)), ticks)
    assert since.keys() >= QUERIES.keys() - removed


def results(folder: Path) -> list[pa.Table]:
    """All rows of a sink."""
    files = sorted(map(str, folder.glob("tick=*/*.parquet")))
    return [ds.dataset(files).to_table()] if files else []
