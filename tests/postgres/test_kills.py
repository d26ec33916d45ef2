"""A driver that is killed leaves a table that is exact, and goes on from there.

`make test-kills` kills more often.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import tidemill as tm
from tests.conftest import ROOT
from tests.fabrics.answers import query_of
from tests.postgres.conftest import Database
from tests.postgres.replaying import rows_of, table_rows
from tests.spark.scripts.drive import QUERY
from tests.spark.test_kills import FILES, last_tick, write_input

pytestmark = pytest.mark.slow
KILLS = int(os.environ.get("TIDEMILL_KILLS", "3"))
SEED = int(os.environ.get("TIDEMILL_SEED", "7"))
SCRIPT = Path(__file__).parent / "scripts" / "drive_sink.py"
POINTS = [
    "after-copy",
    "before-transaction",
    "after-commit",
    "before-copy",
    "before-marks",
    "after-marks",
]


def drive(work: Path, url: str, wish: str) -> bool:
    """Start the driver; whether it came to its end."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(work), url, wish],
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,
        timeout=600,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
    )
    if done.returncode not in (0, -9):
        raise AssertionError(f"the driver failed:\n{done.stdout}\n{done.stderr[-5000:]}")
    return done.returncode == 0


class Expected:
    """The snapshots of the query at all instants, as the other runtime gives them."""

    def __init__(self, work: Path) -> None:
        engine = tm.Engine("inprocess")
        tables = write_input(work)
        for name, ticks in tables.items():
            engine.stream(name, ticks, time="at", slack=3)
        query = query_of(engine, QUERY)
        times = [at for ticks in tables.values() for t in ticks for at in t["at"].to_pylist()]
        self.snapshots = [Counter(rows_of(query.snapshot(at))) for at in range(max(times) + 1)]

    def check(self, given: list[Counter[Any]]) -> None:
        """Ticks show the query at later and later instants, and at last at the newest one."""
        at = 0
        for rows in filter(None, given):
            while self.snapshots[at] != rows:
                at += 1
        assert given[-1] == self.snapshots[-1]


def given(work: Path) -> list[Counter[Any]]:
    """What the sink got with each tick so far."""
    ticks = sorted(int(path.stem.split("-")[1]) for path in work.glob("given-*.parquet"))
    assert ticks == list(range(len(ticks)))
    return [Counter(rows_of(pq.read_table(work / f"given-{tick}.parquet"))) for tick in ticks]


def check_table(database: Database, work: Path) -> None:
    """Fail unless the table holds exactly the tick that it says it holds."""
    if database.run("SELECT to_regclass('tidemill_sink')") == [(None,)]:
        return  # it was killed before there was a table
    ((tick,),) = database.run("SELECT tick FROM tidemill_sink WHERE target = 'result'")
    assert table_rows(database, "result") == (given(work)[tick] if tick >= 0 else Counter())


def wishes() -> list[tuple[str, int]]:
    """Points at which drivers must be killed once."""
    if KILLS < 10:
        # Between COPY and COMMIT, and where the driver does not know yet that it was done.
        return [("after-copy", 1), ("after-commit", 3)]
    return [(point, number % FILES) for number, point in enumerate(POINTS)]


def next_wish(
    work: Path, waiting: list[tuple[str, int]], chosen: random.Random, enough: bool
) -> str:
    """A point that is still ahead, or some time; to come to the end, if there were enough kills."""
    ahead = [(point, tick) for point, tick in waiting if tick > last_tick(work)]
    if ahead and (enough or chosen.random() < 0.5):
        waiting.remove(ahead[0])
        return f"{ahead[0][0]}:{ahead[0][1]}"
    return "" if enough else f"delay:{chosen.uniform(0.1, 5):.2f}"


def test_killed_drivers(database: Database, tmp_path: Path) -> None:
    original = tmp_path / "original"
    expected = Expected(original)
    chosen, waiting = random.Random(SEED), wishes()
    rounds, log = 0, list[str]()
    while len(log) < KILLS or waiting:
        rounds += 1
        work = tmp_path / f"round{rounds}"
        shutil.copytree(original, work)
        database.run("DROP TABLE IF EXISTS result, tidemill_sink")
        ended = False
        while not ended:
            wish = next_wish(work, waiting, chosen, enough=len(log) >= KILLS)
            ended = drive(work, database.url, wish)
            if not ended:
                log.append(f"round {rounds}: {wish}, after tick {last_tick(work)}")
            assert not ended or wish == "" or wish.startswith("delay"), f"{wish} was not reached"
            check_table(database, work)
        expected.check(given(work))
        assert table_rows(database, "result") == expected.snapshots[-1], "\n".join(log)
    print("\n".join([f"{len(log)} kills in {rounds} runs", *log]))
    assert len(log) >= KILLS
