"""A driver that is killed goes on from its checkpoint: nothing is lost, nothing is doubled.

`make test-long` kills more often.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import tidemill as tm
from tests.conftest import ROOT
from tests.connectors.postgres.conftest import Database
from tests.connectors.postgres.replaying import rows_of, table_rows
from tests.fabrics.answers import Results, multiset, net_changes, query_of
from tests.fabrics.live_graph import END, Answers, check, random_rows
from tests.fabrics.scripts.driver import QUERIES, QUERY, STEPS

SCRIPT = Path(__file__).parent / "scripts" / "driver.py"
SEED = int(os.environ.get("TIDEMILL_SEED", "7"))
FILES = 4

# Points that double or lose rows if anything does: those of a tick, and in the middle of changes.
CERTAIN = {
    "files": ["after-sinks:2", "before-done:3"],
    "postgres": ["after-copy:1", "after-transaction:3"],
    "graph": ["after-sinks:3", "after-push:4"],
}
POINTS = {
    "files": ["begun", "sinks", "state", "done"],
    "postgres": ["begun", "copy", "transaction", "done"],
    "graph": ["epochs", "begun", "push", "sinks", "state", "done"],
}


def write_input(work: Path, seed: int = 1) -> dict[str, list[pa.Table]]:
    """Two folders of files with rows that are a little out of order."""
    source = Random(seed)
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


def answers_of(work: Path) -> tm.Query:
    """The query over all input, in this process."""
    engine = tm.Engine("inprocess")
    for name, ticks in write_input(work).items():
        engine.stream(name, ticks, time="at", slack=3)
    return query_of(engine, QUERY)


class Kind(Protocol):
    """A kind of run: what is there at first, what must hold after a kill, and what at the end."""

    url: str

    def prepare(self, work: Path) -> None: ...
    def look(self, work: Path) -> None: ...
    def check(self, work: Path, said: str) -> None: ...


class FilesKind:
    """Rows of files, which are those of a run that nobody kills."""

    url = ""

    def __init__(self, folder: Path) -> None:
        self._expected = net_changes(answers_of(folder / "input").collect())
        self._input = folder / "input"
        self._rows: Counter[str] | None = None

    def prepare(self, work: Path) -> None:
        shutil.copytree(self._input, work)

    def look(self, work: Path) -> None:
        pass

    def check(self, work: Path, said: str) -> None:
        found = _results(work / "results")
        assert net_changes(found) == self._expected
        # Ticks are the same in every run, and so are the places where intervals are cut.
        self._rows = self._rows or multiset(found)
        assert multiset(found) == self._rows


class PostgresKind:
    """A table that holds exactly the tick that it says it holds, at every moment."""

    def __init__(self, folder: Path, database: Database) -> None:
        self.url = database.url
        self._database = database
        self._input = folder / "input"
        query = answers_of(self._input)
        times = [
            at for f in self._input.glob("*/*.parquet") for at in pq.read_table(f)["at"].to_pylist()
        ]
        self._snapshots = [Counter(rows_of(query.snapshot(at))) for at in range(max(times) + 1)]

    def prepare(self, work: Path) -> None:
        shutil.copytree(self._input, work)
        self._database.run("DROP TABLE IF EXISTS result, tidemill_sink")

    def look(self, work: Path) -> None:
        if self._database.run("SELECT to_regclass('tidemill_sink')") == [(None,)]:
            return  # it was killed before there was a table
        notes = self._database.run("SELECT tick FROM tidemill_sink WHERE target = 'result'")
        for (tick,) in notes:
            expected = given(work)[tick] if tick >= 0 else Counter()
            assert table_rows(self._database, "result") == expected

    def check(self, work: Path, said: str) -> None:
        """Ticks show the query at later and later instants, and at last at the newest one."""
        at = 0
        ticks = given(work)
        for rows in filter(None, ticks):
            while self._snapshots[at] != rows:
                at += 1
        assert ticks[-1] == self._snapshots[-1]
        assert table_rows(self._database, "result") == self._snapshots[-1]


def given(work: Path) -> list[Counter[Any]]:
    """What the sink got with each tick so far."""
    ticks = sorted(int(path.stem.split("-")[1]) for path in work.glob("given-*.parquet"))
    assert ticks == list(range(len(ticks)))
    return [Counter(rows_of(pq.read_table(work / f"given-{tick}.parquet"))) for tick in ticks]


class GraphKind:
    """Queries that come and go, each of which answers as if alone."""

    url = ""

    def __init__(self, folder: Path) -> None:
        self._ticks = random_rows(Random(3), len(STEPS), 20)

    def prepare(self, work: Path) -> None:
        for number, tick in enumerate(self._ticks):
            for name, table in tick.items():
                folder = work / "input" / name
                folder.mkdir(parents=True, exist_ok=True)
                pq.write_table(table, folder / f"{number:04d}.parquet")

    def look(self, work: Path) -> None:
        pass

    def check(self, work: Path, said: str) -> None:
        removed = {name for _, names in STEPS for name in names}
        lines = (line.split() for line in said.splitlines() if line.startswith("since"))
        since = {name: int(at) for _, name, at in lines if at != "-"}
        for name, at in since.items():
            until = 0 if name in removed else END
            kept = Results()
            if (work / "results" / name).exists():
                kept.ticks[0] = _results(work / "results" / name)
            check(Answers(QUERIES[name], at, until, kept), self._ticks)
        assert since.keys() >= QUERIES.keys() - removed


def _results(folder: Path) -> pa.Table:
    """All rows of a sink."""
    files = sorted(map(str, folder.glob("tick=*/*.parquet")))
    return ds.dataset(files).to_table()


def drive(kind: str, fabric: str, work: Path, wish: str, url: str) -> tuple[bool, str]:
    """Start the driver; whether it came to its end, and what it said."""
    paths = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, str(SCRIPT), kind, fabric, str(work), wish, url],
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,
        timeout=600,
        env={**os.environ, "PYTHONPATH": paths},
    )
    if done.returncode not in (0, -9):
        raise AssertionError(f"{wish}: the driver failed:\n{done.stdout}\n{done.stderr[-5000:]}")
    return done.returncode == 0, done.stdout


def random_wishes(kind: str, fabric: str, random: Random) -> Iterator[str]:
    """First none at all, then points of all kinds, any write, and any moment."""
    yield ""
    while True:
        point = random.choice(POINTS[kind])
        when = random.choice(["before", "after"])
        yield f"{when}-{point}:{random.randint(1, 5)}"
        yield f"any:{random.randint(1, 60)}"
        yield f"delay:{random.uniform(0, 6 if fabric == 'spark' else 0.5):.2f}"


class Campaign:
    """Kills drivers of a kind again and again; every one that comes to its end is checked."""

    def __init__(self, name: str, fabric: str, kind: Kind, folder: Path) -> None:
        self._name = name
        self._fabric = fabric
        self._kind = kind
        self._folder = folder
        self.log: list[str] = []

    def killed(self, wishes: Iterator[str], kills: int) -> None:
        """Kill until that was done so often, at points as they are wished for."""
        rounds = 0
        while len(self.log) < kills:
            rounds += 1
            work = self._folder / f"round{rounds}"
            self._kind.prepare(work)
            ended, said = False, ""
            while not ended:
                wish = next(wishes) if len(self.log) < kills else ""
                ended, said = drive(self._name, self._fabric, work, wish, self._kind.url)
                if not ended:
                    self.log.append(f"round {rounds}, {wish}: {' '.join(said.splitlines()[-2:])}")
                self._look(self._kind.look, work)
            self._look(self._kind.check, work, said)

    def _look(self, looks: Any, *args: Any) -> None:
        try:
            looks(*args)
        except AssertionError as error:
            raise AssertionError("\n".join([*self.log, str(error)])) from error


@pytest.fixture
def kind(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Kind]:
    name: str = request.param
    if name == "postgres":
        return name, PostgresKind(tmp_path, request.getfixturevalue("database"))
    return name, {"files": FilesKind, "graph": GraphKind}[name](tmp_path)


ON_SPARK = [pytest.mark.spark, pytest.mark.xdist_group("spark-processes")]
KINDS = pytest.mark.parametrize("kind", ["files", "postgres", "graph"], indirect=True)


@pytest.mark.parametrize(
    ("kind", "fabric"),
    [
        ("files", "inprocess"),
        ("postgres", "inprocess"),
        ("graph", "inprocess"),
        pytest.param("graph", "spark", marks=ON_SPARK),
    ],
    indirect=["kind"],
)
def test_certain_kills(kind: tuple[str, Kind], fabric: str, tmp_path: Path) -> None:
    name, run = kind
    wishes = CERTAIN[name][: 1 if fabric == "spark" else None]
    campaign = Campaign(name, fabric, run, tmp_path)
    campaign.killed(iter(wishes), len(wishes))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fabric", "kills"), [("inprocess", 25), pytest.param("spark", 8, marks=ON_SPARK)]
)
@KINDS
def test_many_kills(kind: tuple[str, Kind], fabric: str, kills: int, tmp_path: Path) -> None:
    name, run = kind
    most = int(os.environ.get("TIDEMILL_KILLS", kills))
    campaign = Campaign(name, fabric, run, tmp_path)
    campaign.killed(random_wishes(name, fabric, Random(SEED)), most)
    print("\n".join(campaign.log))
