"""`tidemill inspect`."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from typer.testing import CliRunner

import tidemill as tm
from tidemill.cli.app import app


def filled(folder: Path) -> None:
    engine = tm.Engine("inprocess", partitions=2)
    engine.stream("bid", pa.schema({"item": pa.string(), "minute": pa.int64()}), time="minute")
    engine.function("loud", str.upper, "STRING")
    graph = engine.run(checkpoint=str(folder), every=None)
    text = "SELECT LOUD(item) AS item, COUNT(*) AS n FROM bid WINDOW(RANGE 5) GROUP BY LOUD(item)"
    engine.sql(text).start("memory", name="counts")
    engine.push("bid", [{"item": item, "minute": 3} for item in ("lamp", "vase", "lamp")])
    graph.tick()
    engine.close()


def shown(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["inspect", *arguments])
    return result.output


def test_a_checkpoint_is_shown_without_its_functions(tmp_path: Path) -> None:
    filled(tmp_path)
    text = shown(str(tmp_path))
    assert "2 partitions" in text
    assert "last tick: 0" in text
    assert "query counts" in text
    assert "AggregateExec" in text
    assert "stage 1 partition 1: snapshot of tick 0" in text


def test_rows_of_a_state(tmp_path: Path) -> None:
    filled(tmp_path)
    parts = [shown(str(tmp_path), "--partition", str(number), "--rows", "3") for number in (0, 1)]
    assert "LAMP" in "".join(parts)
    assert "stage 1 partition 0" not in parts[1]


def test_a_folder_without_one(tmp_path: Path) -> None:
    assert "there is no checkpoint" in shown(str(tmp_path))
