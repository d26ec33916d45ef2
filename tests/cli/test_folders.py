"""verify, repair, backup and restore on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from tidemill import Engine
from tidemill.cli.app import app

ROWS = [{"item": n % 2, "at": n} for n in range(9)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    engine = Engine("inprocess", durability="process")
    engine.stream("bid", ROWS, time="at")
    query = engine.sql("SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 4) GROUP BY item")
    assert query is not None
    query.start("noop", checkpoint=str(tmp_path / "run")).await_termination()
    engine.close()
    return tmp_path / "run"


def call(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, [str(each) for each in arguments])
    return done.exit_code, done.output


def test_a_folder_from_backup_to_repair(folder: Path, tmp_path: Path) -> None:
    status, text = call("verify", folder)
    assert (status, "is intact" in text) == (0, True)
    assert call("repair", folder) == (0, f"{folder} is intact: nothing was done\n")
    assert call("backup", folder, tmp_path / "copy")[0] == 0
    (file,) = folder.glob("epochs/*.epoch")
    content = file.read_bytes()
    file.write_bytes(content[:40] + b"?" + content[41:])
    status, text = call("verify", folder)
    assert (status, text.splitlines()[0].split(": ")[0]) == (1, str(file))
    status, text = call("repair", folder)
    assert (status, "lost" in text) == (0, True)
    assert call("verify", tmp_path / "copy")[0] == 0
    assert call("restore", tmp_path / "copy", tmp_path / "again")[0] == 0
    assert call("verify", tmp_path / "again")[0] == 0
    assert call("restore", tmp_path / "copy", tmp_path / "again")[0] == 1


def test_other_folders(tmp_path: Path) -> None:
    status, text = call("verify", tmp_path)
    assert status == 1
    assert "is not the folder of a run or a server" in text
