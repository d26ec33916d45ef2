"""`tidemill run` with queries that are started, on Spark and in this process."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.cli.conftest import SCRIPT, Invoke
from tests.cli.test_run import CSV
from tidemill.cli import board

DECLARED = SCRIPT.partition("SELECT")[0]
INSERTS = (
    DECLARED
    + """
INSERT INTO parquet(path => 'out/counts')
SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 5) GROUP BY item;
INSERT INTO json(path => 'out/items', form => 'changes') SELECT item FROM bid WINDOW(RANGE 5);
"""
)


@pytest.fixture(params=["inprocess", pytest.param("spark", marks=pytest.mark.spark)])
def run(request: pytest.FixtureRequest, invoke: Invoke) -> Invoke:
    """Call `tidemill run` on a runtime."""

    def call(*arguments: str) -> Any:
        return invoke("run", "--runtime", request.param, *arguments)

    return call


@pytest.fixture
def inserts(folder: Path) -> Path:
    (folder / "inserts.sql").write_text(INSERTS, "utf-8")
    return folder


@pytest.mark.spark
def test_spark_is_the_default(invoke: Invoke, folder: Path) -> None:
    result = invoke("run", "bids.sql", "-f", "csv")
    assert result.exit_code == 0, result.output
    assert result.stdout == CSV
    assert re.match(r"on Spark 4\.\S+, local\[2\]\n", result.stderr)
    assert "4 rows in, 5 out" in result.stderr


def test_without_java_it_runs_in_process(
    invoke: Invoke, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    result = invoke("run", "bids.sql", "-f", "csv")
    assert result.stdout == CSV
    said = ["there is no Java, so there is no Spark", "in this process"]
    assert [line.strip() for line in result.stderr.splitlines()[:2]] == said


def test_inserts_run_together(run: Invoke, inserts: Path) -> None:
    result = run("inserts.sql", "--once", "-c", "SELECT item FROM bid WHERE price > 30")
    assert result.exit_code == 0, result.output
    assert [line.split() for line in result.stdout.splitlines()[2:]] == [["lamp", "4", "5"]]
    assert "parquet out/counts: rows in 4" in result.stderr
    assert "json out/items: rows in 4" in result.stderr
    assert pl.read_parquet(inserts / "out" / "counts" / "*" / "*.parquet").height == 5
    lines = [p.read_text("utf-8") for p in (inserts / "out" / "items").rglob("*.json")]
    changes = [json.loads(line) for line in "".join(lines).splitlines()]
    assert sorted(row["changed_at"] for row in changes if row["change"] == "+") == [1, 2, 4, 9]


def test_following_until_ctrl_c(
    run: Invoke, inserts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pressed_after_a_tick(waiting: object, meanwhile: object = None) -> None:
        waiting.process_all_available()  # type: ignore[attr-defined]
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(board, "_wait", pressed_after_a_tick)
        assert run("inserts.sql", "--once").exit_code == 130
        shutil.rmtree(inserts / "out")
        select = "SELECT item, price FROM bid WINDOW(RANGE 5)"
        following = ("inserts.sql", "-c", select, "--follow", "--checkpoint", "ck", "-f", "csv")
        result = run(*following)
        assert result.exit_code == 0, result.output
        assert "SELECT: rows in 4" in result.stderr
        assert result.stderr.splitlines()[-1] == "stopped"
    (inserts / "bids" / "3.csv").write_text("item,price,at\nlamp,1,30\n", "utf-8")
    result = run(*following, "--once")
    assert result.exit_code == 0, result.output
    assert "parquet out/counts: rows in 5, rows/s" in result.stderr  # those from before count
    assert pl.read_parquet(inserts / "out" / "counts" / "*" / "*.parquet").height == 6
    (inserts / "inserts.sql").write_text(INSERTS.replace("RANGE 5", "RANGE 6"), "utf-8")
    result = run(*following, "--once")
    assert result.exit_code == 1, "what is asked for with a checkpoint may not change"
    assert "the checkpoint has another query under the name `q1`" in result.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("item,price,at\nlamp,much,1\n", "column `price`: 'much' is no BIGINT"),
        ("item,cost,at\nlamp,1,1\n", "its columns are item, cost, at, not item, price"),
    ],
)
def test_errors(run: Invoke, folder: Path, text: str, message: str) -> None:
    (folder / "bids" / "3.csv").write_text(text, "utf-8")
    select = "SELECT item, price FROM bid"
    for query in (select, f"INSERT INTO console() {select}"):
        result = run("bids.sql", "--once", "-c", query)
        assert result.exit_code == 1
        assert f"cannot read 3.csv of `bid` as csv: {message}" in result.stderr
        assert result.stderr.count("error: ") == 1
        assert "Traceback" not in result.output
