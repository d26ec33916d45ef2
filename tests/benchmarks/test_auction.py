"""The benchmark: which questions are asked of whom, and a small run of it."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from benchmarks import growth, nexmark
from benchmarks.auction import flink, flink_job, runner
from benchmarks.auction.command import choose_queries
from benchmarks.auction.data import Data
from benchmarks.auction.growth import CASES, measure_growth
from benchmarks.auction.run import Plan, compare_systems
from benchmarks.auction.runner import Runner
from benchmarks.auction.systems import PEERS, TIDEMILL
from benchmarks.auction.worker import Reply, Request, Spent, WorkerFailed
from tidemill.nexmark.generate import STREAMS, Size
from tidemill.nexmark.queries import QUERIES

ROOT = Path(__file__).parents[2]


class FakeWorker:
    """Answers at once; remembers what it was asked, and by whom it was started."""

    asked: list[tuple[str, Request]] = []
    started: list[str] = []

    def __init__(self, system: str, cores: int, python: str) -> None:
        self.system = system
        self.started.append(system)

    def ask(self, request: Request, limit: float | None = None) -> Reply:
        self.asked.append((self.system, request))
        if request.query == "q2@spark":
            raise WorkerFailed("it cannot")
        if request.do == "generate":
            Path(request.data).mkdir(parents=True)
        if request.file:
            pl.DataFrame({"item": [7]}).with_columns(valid_from=1, valid_to=2).write_parquet(
                request.file
            )
        over = limit is not None and request.query == "q3@spark"
        return Reply(Spent(limit if limit is not None and over else 2.0), over=over)

    def close(self) -> None:
        pass


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> type[FakeWorker]:
    monkeypatch.setattr(runner, "Worker", FakeWorker)
    FakeWorker.asked, FakeWorker.started = [], []
    return FakeWorker


def plan(folder: Path, queries: str, peers: str = "", **more: Any) -> Plan:
    names = [QUERIES[name] for name in queries.split()]
    return Plan(1210, names, [PEERS[name] for name in peers.split()], folder, **more)


def test_every_query_is_asked_of_every_system(fake: type[FakeWorker], tmp_path: Path) -> None:
    chosen = plan(tmp_path, "q1 q7", "spark spark-memory inprocess", compare=False)
    with Runner() as run:
        found = list(compare_systems(chosen, run))
    assert [(o.query, o.system, o.missing[:7], o.events) for o in found] == [
        ("q1", "tidemill", "", 1000),
        ("q1", "floor", "", 1000),
        ("q1", "spark", "", 1000),
        ("q1", "spark-memory", "no stat", 0),
        ("q1", "inprocess", "", 1000),
        ("q7", "tidemill", "", 1200),
        ("q7", "floor", "", 1200),
        ("q7", "spark", "no form", 0),
        ("q7", "spark-memory", "no form", 0),
        ("q7", "inprocess", "", 1200),
    ]
    runs = [request for _, request in fake.asked if request.do != "generate"]
    folders = {Path(request.data).name for request in runs}
    assert folders == {"1000-bids-in-2-files", "1000-bids-in-4-files"}, "warm-up, and run"
    # The floor runs where Tidemill runs; every query has processes of its own.
    assert [name.rsplit(".", 1)[1] for name in fake.started] == [
        "tidemill_spark",  # for the data
        "tidemill_spark",
        "structured",
        "inprocess",
        "tidemill_spark",
        "inprocess",
    ]


def test_data_are_used_again_and_processes_too(fake: type[FakeWorker], tmp_path: Path) -> None:
    chosen = plan(tmp_path, "q1 counts", "spark", compare=False)
    for _ in range(2):
        with Runner(fresh=False) as run:
            list(compare_systems(chosen, run))
    assert sum(request.do == "generate" for _, request in fake.asked) == 2
    assert len(fake.started) == 4


def test_what_fails_or_takes_too_long_is_an_outcome(fake: type[FakeWorker], tmp_path: Path) -> None:
    notes: list[str] = []
    with Runner(limit=60.0, note=notes.append) as run:
        found = list(compare_systems(plan(tmp_path, "q2 q3", "spark", compare=False), run))
    assert found[2].missing == "failed: it cannot"
    assert found[2].spent is None
    assert found[5].gave_up
    assert found[5].summary == "over 60 s (gave up), under 3 events/s"
    assert "q2 in spark: failed: it cannot" in notes
    assert "q3 in spark: over 60 s (gave up), under 3 events/s" in notes


def test_answers_are_compared_with_ours(fake: type[FakeWorker], tmp_path: Path) -> None:
    with Runner() as run:
        found = list(compare_systems(plan(tmp_path, "q1", "spark inprocess"), run))
    # The fake of Spark answers with validity, as Spark itself would not.
    assert [o.agrees for o in found] == [None, None, False, True]


def test_growth_differs_in_one_thing_at_a_time(fake: type[FakeWorker], tmp_path: Path) -> None:
    with Runner() as run:
        found = list(measure_growth(plan(tmp_path, "counts", compare=False), run))
    assert [outcome.case for outcome in found] == [case.name for case in CASES]
    assert [outcome.events for outcome in found] == [1000, 1000, 1000, 10_000, 10_000, 1000, 1000]
    runs = [request for _, request in fake.asked if request.do == "run"][1::2]
    assert [request.window for request in runs] == [1, 10, 100, 1, 10, 1, 1]
    assert [request.partitions for request in runs] == [2, 2, 2, 2, 2, 1, 2]
    assert runs[-1].master == "local-cluster[2,1,2048]"
    assert {request.master for request in runs[:-1]} == {"local"}
    assert Path(runs[3].data).name == "10000-bids-in-40-files", "ticks of the same size"


def test_half_made_data_are_made_anew(fake: type[FakeWorker], tmp_path: Path) -> None:
    data = Data(tmp_path, Size(10), 1)
    data.path.with_name(f"{data.path.name}.unfinished").mkdir()
    assert not data.is_there
    with Runner() as run:
        run.prepare(data)
    assert data.is_there


def test_flink_reads_the_same_rows(tmp_path: Path) -> None:
    rows = pl.DataFrame({"item": [1, 2, 3]}).with_columns(ts=pl.datetime(2024, 3, 1, 0, 0, 1))
    for stream in STREAMS:
        (tmp_path / "data" / stream).mkdir(parents=True)
        rows.write_parquet(tmp_path / "data" / stream / "0.parquet")
    folder = flink.to_csv(tmp_path / "data", 2)
    assert (folder / "bid" / "0.csv").read_text() == (
        "1,2024-03-01 00:00:01.000\n3,2024-03-01 00:00:01.000\n"
    )
    assert (folder / "bid" / "1.csv").read_text() == "2,2024-03-01 00:00:01.000\n"
    (folder / "bid" / "1.csv").unlink()
    assert flink.to_csv(tmp_path / "data", 2) == folder
    assert not (folder / "bid" / "1.csv").exists(), "made once"


def test_every_system_has_a_form_or_says_why_not() -> None:
    for system in (TIDEMILL, *PEERS.values()):
        for query in QUERIES:
            assert system.forms(query) or system.no_form[query]
    assert {form.name for q in QUERIES for form in flink.forms(q)} == set(flink_job.QUERIES)


def test_queries_are_chosen_by_name() -> None:
    assert [query.name for query in choose_queries("q1, counts")] == ["q1", "counts"]
    assert [query.name for query in choose_queries("")] == list(QUERIES)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--peers", "abacus"], "no peer `abacus`"),
        (["--queries", "q99"], "no query `q99`"),
        (["--events", "0"], "--events must be at least 1: 0"),
        (["--json", "nowhere/figures.json"], "there is no folder for `nowhere/figures.json`"),
    ],
)
def test_what_cannot_be_measured_is_refused(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        nexmark.main(["--quick", *arguments])
    assert ended.value.code == 1
    assert message in capsys.readouterr().err


def test_quick_and_only_choose_less(
    fake: type[FakeWorker], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "figures.json"
    nexmark.main(["--quick", "--only", "counts", "--json", str(file)])
    found = json.loads(file.read_text())
    assert found["settings"]["events"] == 24_200
    assert [(o["query"], o["system"]) for o in found["outcomes"]] == [
        ("counts", "tidemill"),
        ("counts", "floor"),
        ("counts", "spark"),
    ]
    assert "goals met" in capsys.readouterr().out


def test_growth_is_a_command(
    fake: type[FakeWorker], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    growth.main(["--quick", "--data", str(tmp_path)])
    assert "window × 100" in capsys.readouterr().out
    assert (tmp_path / "10000-bids-in-2-files").exists()


@pytest.mark.spark
@pytest.mark.slow
def test_bench_writes_tables_and_json(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    arguments = ["--events", "3000", "--queries", "counts", "--peers", "spark,inprocess"]
    command = [sys.executable, "-m", "benchmarks.nexmark", *arguments, "--json", str(file)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert "answers agree" in result.stdout
    assert "goals met" in result.stdout
    assert "counts in spark: running" in result.stderr
    found = json.loads(file.read_text())
    outcomes = found["outcomes"]
    assert [o["system"] for o in outcomes] == ["tidemill", "floor", "spark", "inprocess"]
    assert [o["agrees"] for o in outcomes] == [None, None, True, True]
    assert all(o["events_per_second"] > 0 and o["spent"]["memory"] > 0 for o in outcomes)
    assert len(outcomes[0]["ticks"]) >= 4
    assert outcomes[0]["phases"]["run"] > 0
    assert outcomes[0]["state_rows"] > 0
    assert found["slowest"]["floor"] > 0


@pytest.mark.slow
@pytest.mark.spark
def test_two_executors(tmp_path: Path) -> None:
    cluster = next(case for case in CASES if case.master != "local")
    chosen = plan(tmp_path, "counts")
    (form,) = TIDEMILL.forms("counts")
    with Runner() as run:
        run.prepare(chosen.little)
        case = replace(cluster, window=10)
        data = chosen.little
        outcome = run.measure(TIDEMILL, form, QUERIES["counts"], data, data, case)
    assert outcome.missing == ""
    assert outcome.events_per_second is not None
