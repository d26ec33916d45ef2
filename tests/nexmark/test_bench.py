"""The benchmark: every query once in every system, with tables and JSON."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tidemill.cli import app
from tidemill.nexmark.bench.measure import Outcome, Spent
from tidemill.nexmark.bench.table import ratio


@pytest.mark.spark
def test_bench_writes_tables_and_json(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    arguments = ["--events", "3000", "--queries", "q2", "--peers", "spark,inprocess"]
    result = CliRunner().invoke(app, ["bench", "nexmark", *arguments, "--json", str(file)])
    assert result.exit_code == 0, result.output
    assert "answers agree" in result.stdout
    outcomes = json.loads(file.read_text())["outcomes"]
    assert [o["system"] for o in outcomes] == ["tidemill", "floor", "spark", "inprocess"]
    assert all(o["events_per_second"] > 0 and o["spent"]["memory"] > 0 for o in outcomes)
    assert outcomes[0]["phases"]["run"] > 0


@pytest.mark.spark
def test_generate_says_what_it_wrote(tmp_path: Path) -> None:
    arguments = [str(tmp_path / "nexmark"), "--bids", "2000", "--files", "2"]
    result = CliRunner().invoke(app, ["nexmark", "generate", *arguments])
    assert result.exit_code == 0, result.output
    assert "2,000 bids, 200 auctions opened and closed, 20 persons" in result.stdout
    assert len(list((tmp_path / "nexmark" / "bid").glob("*.parquet"))) == 2


def test_unknown_peers_are_named() -> None:
    result = CliRunner().invoke(app, ["bench", "nexmark", "--peers", "abacus"])
    assert result.exit_code == 1
    assert "no peer `abacus`" in result.stderr


def test_ratio_compares_events_per_second() -> None:
    ours = Outcome("q1", "tidemill", 100, Spent(seconds=1))
    theirs = Outcome("q1", "spark", 100, Spent(seconds=4))
    assert ratio(theirs, [ours, theirs]) == 4
    assert ratio(theirs, [theirs]) is None
