"""`tidemill run` as users get it: on Spark."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from tests.cli.conftest import SCRIPT, Invoke
from tests.cli.test_run import CSV
from tidemill.cli import board

pytestmark = pytest.mark.spark

DECLARED = SCRIPT.partition("SELECT")[0]
INSERTS = (
    DECLARED
    + """
INSERT INTO parquet(path => 'out/counts')
SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 5) GROUP BY item;
INSERT INTO json(path => 'out/items', form => 'changes') SELECT item FROM bid WINDOW(RANGE 5);
"""
)


@pytest.fixture
def inserts(folder: Path) -> Path:
    (folder / "inserts.sql").write_text(INSERTS, "utf-8")
    return folder


def test_the_answer_is_that_of_the_other_runtime(invoke: Invoke, folder: Path) -> None:
    result = invoke("run", "bids.sql", "-f", "csv")
    assert result.exit_code == 0, result.output
    assert result.stdout == CSV
    assert "4 rows in, 5 out" in result.stderr


@pytest.mark.slow
def test_inserts_run_together(invoke: Invoke, inserts: Path) -> None:
    result = invoke("run", "inserts.sql", "--once", "-c", "SELECT item FROM bid WHERE price > 30")
    assert result.exit_code == 0, result.output
    assert [line.split() for line in result.stdout.splitlines()[2:]] == [["lamp", "4", "5"]]
    assert "parquet out/counts: rows in 4" in result.stderr
    assert "json out/items: rows in 4" in result.stderr
    assert pl.read_parquet(inserts / "out" / "counts" / "*" / "*.parquet").height == 5
    lines = [p.read_text("utf-8") for p in (inserts / "out" / "items").rglob("*.json")]
    changes = [json.loads(line) for line in "".join(lines).splitlines()]
    assert sorted(row["changed_at"] for row in changes if row["change"] == "+") == [1, 2, 4, 9]


def test_following_until_ctrl_c(
    invoke: Invoke, inserts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pressed_after_a_tick(waiting: object, meanwhile: object = None) -> None:
        waiting.process_all_available()  # type: ignore[attr-defined]
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(board, "_wait", pressed_after_a_tick)
        select = "SELECT item, price FROM bid WINDOW(RANGE 5)"
        following = ("inserts.sql", "-c", select, "--follow", "--checkpoint", "ck", "-f", "csv")
        result = invoke("run", *following)
        assert result.exit_code == 0, result.output
        assert "SELECT: rows in 4" in result.stderr
        assert result.stderr.splitlines()[-1] == "stopped"
        assert invoke("run", "inserts.sql", "--once").exit_code == 130
    (inserts / "bids" / "3.csv").write_text("item,price,at\nlamp,1,30\n", "utf-8")
    result = invoke("run", *following, "--once")
    assert result.exit_code == 1, "what is asked for with a checkpoint may not change"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("item,price,at\nlamp,much,1\n", "cannot read 3.csv: "),
        pytest.param(
            "item,cost,at\nlamp,1,1\n", "cannot read 3.csv: CSV header", marks=pytest.mark.slow
        ),
    ],
)
def test_errors(invoke: Invoke, folder: Path, text: str, message: str) -> None:
    (folder / "bids" / "3.csv").write_text(text, "utf-8")
    select = "SELECT item, price FROM bid"
    for query in (select, f"INSERT INTO console() {select}"):
        result = invoke("run", "bids.sql", "--once", "-c", query)
        assert result.exit_code == 1
        assert message in result.stderr
        assert result.stderr.count("error: ") == 1
        assert "Traceback" not in result.output
