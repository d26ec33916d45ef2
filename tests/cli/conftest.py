from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tidemill.cli import app

Invoke = Callable[..., Any]

SCRIPT = """\
CREATE STREAM bid (item STRING, price BIGINT, at BIGINT)
SOURCE csv(path => 'bids/') ORDERED BY at SLACK 2;
SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 5) GROUP BY item;
"""


@pytest.fixture
def invoke() -> Invoke:
    """Call the command line; standard output and error are kept apart."""
    runner = CliRunner(env={"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"})

    def call(*arguments: str, input: str | None = None) -> Any:
        return runner.invoke(app, list(arguments), input=input)

    return call


@pytest.fixture
def run(invoke: Invoke) -> Invoke:
    """Call `tidemill run` without Spark."""

    def call(*arguments: str, input: str | None = None) -> Any:
        return invoke("run", "--runtime", "inprocess", *arguments, input=input)

    return call


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a script and two files of bids: two ticks."""
    bids = tmp_path / "bids"
    bids.mkdir()
    (bids / "1.csv").write_text("item,price,at\nlamp,30,1\nvase,12,2\n", "utf-8")
    (bids / "2.csv").write_text("item,price,at\nlamp,35,4\nvase,20,9\n", "utf-8")
    (tmp_path / "bids.sql").write_text(SCRIPT, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path
