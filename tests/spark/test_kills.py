"""A driver that is killed goes on from its checkpoint: nothing is lost, nothing is doubled.

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

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from tests.spark.driving import SCRIPTS, multiset, net_changes, query_of

import tidemill as tm
from tests.spark.scripts.drive import QUERY

FILES = 4
KILLS = int(os.environ.get("TIDEMILL_KILLS", "1"))
SEED = int(os.environ.get("TIDEMILL_SEED", "7"))
POINTS = ["before-sink", "in-sink", "after-sink", "before-marks", "after-marks"]


def write_input(work: Path, seed: int = 1) -> dict[str, list[pa.Table]]:
    """Two folders of files with rows that are a little out of order."""
    source = random.Random(seed)
    tables: dict[str, list[pa.Table]] = {}
    for name, per_file in (("s", 30), ("t", 6)):
        (work / name).mkdir(parents=True)
        tables[name] = []
        for number in range(FILES if name == "s" else FILES - 2):
            rows = [
                {
                    "k": source.randint(0, 5),
                    "v": source.randint(0, 99),
                    "at": max(0, 6 * number + source.randint(-6, 5)),
                }
                for _ in range(per_file)
            ]
            table = pa.Table.from_pylist(rows)
            path = work / name / f"{number:03d}.parquet"
            pq.write_table(table, path)
            os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))
            tables[name].append(table)
    return tables


def drive(work: Path, wish: str = "") -> tuple[bool, str]:
    """Start the driver; whether it came to its end, and what it said."""
    done = subprocess.run(
        [sys.executable, str(SCRIPTS / "drive.py"), str(work), wish],
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,
        timeout=600,
    )
    if done.returncode not in (0, -9):
        raise AssertionError(f"the driver failed:\n{done.stdout}\n{done.stderr[-5000:]}")
    return done.returncode == 0, done.stdout


def results(work: Path) -> pa.Table:
    """All rows of the sink."""
    files = sorted(map(str, (work / "results").glob("tick=*/*.parquet")))
    return ds.dataset(files).to_table()


class Expected:
    """The input, and what comes of it; with many kills, also the rows of a run without one."""

    def __init__(self, work: Path) -> None:
        engine = tm.Engine("inprocess")
        for name, ticks in write_input(work).items():
            engine.stream(name, ticks, time="at", slack=3)
        self._changes = net_changes(query_of(engine, QUERY).collect())
        self._rows: Counter[str] | None = None
        if KILLS >= 10:
            ended, _ = drive(work)
            assert ended
            self._rows = multiset(results(work))
            self.check(results(work), [])

    def check(self, found: pa.Table, log: list[str]) -> None:
        assert net_changes(found) == self._changes, "\n".join(log)
        assert self._rows is None or multiset(found) == self._rows, "\n".join(log)


def wishes() -> list[tuple[str, int]]:
    """Points at which every driver must be killed once: with input, at its end, and after it."""
    if KILLS < 10:
        return [("after-sink", 2)]  # one that doubles rows if anything does
    certain = [(point, tick) for tick in (0, 3, FILES) for point in POINTS]
    return [*certain, ("before-end", FILES), ("after-end", FILES), ("after-sink", FILES + 2)]


def last_tick(work: Path) -> int:
    return max((int(path.stem) for path in (work / "checkpoint/ticks").glob("*.json")), default=-1)


def next_wish(work: Path, waiting: list[tuple[str, int]], chosen: random.Random) -> str:
    """A point that is still ahead, or some time; where there are few kills, only points."""
    if KILLS < 10 or chosen.random() < 0.6:
        for point, tick in waiting:
            if tick > last_tick(work):
                waiting.remove((point, tick))
                return f"{point}:{0 if point.endswith('end') else tick}"
    return "" if KILLS < 10 else f"delay:{chosen.uniform(0.1, 6):.2f}"


def test_killed_drivers(tmp_path: Path) -> None:
    original = tmp_path / "original"
    expected = Expected(original)
    chosen, waiting = random.Random(SEED), wishes()
    rounds, log = 0, list[str]()
    while len(log) < KILLS or waiting:
        rounds += 1
        work = tmp_path / f"round{rounds}"
        for name in ("s", "t"):
            shutil.copytree(original / name, work / name)
        ended = False
        while not ended:
            wish = next_wish(work, waiting, chosen) if len(log) < KILLS or waiting else ""
            ended, said = drive(work, wish)
            if not ended:
                reached = said.splitlines()[-2:]
                log.append(f"round {rounds}: {wish}, at {' '.join(reached[:-1])}")
                assert reached[-1] == "killed"
            elif not wish.startswith("delay") and wish:
                raise AssertionError(f"{wish} was not reached:\n{said}")
        expected.check(results(work), log)
    print("\n".join([f"{len(log)} kills in {rounds} runs", *log]))
    assert len(log) >= KILLS
