import json
from pathlib import Path

import pytest

from tests.cli.conftest import Invoke
from tests.serving import served
from tidemill import __version__

BID = (
    "CREATE STREAM bid (item STRING, price BIGINT, at BIGINT) "
    "SOURCE csv(path => 'bids/') ORDERED BY at;"
)
COUNT = "SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 5) GROUP BY item"


def test_a_command(invoke: Invoke, folder: Path) -> None:
    result = invoke("shell", "-f", "csv", "-c", f"{BID} {COUNT}; \\format")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[:2] == ["item,n,valid_from,valid_to", "lamp,1,1,4"]
    said = ["an engine in this process", "stream bid created", "results are printed as csv"]
    assert result.stderr.splitlines() == said


def test_a_file_and_then_standard_input(invoke: Invoke, folder: Path) -> None:
    (folder / "bid.sql").write_text(BID, "utf-8")
    result = invoke("shell", "bid.sql", "-f", "json", input=f"\\d bid\n{COUNT};\n\\q\n\\d nothing")
    assert result.exit_code == 0
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert rows[0] == {"column": "item", "type": "STRING"}
    assert rows[-1] == {"item": "vase", "n": 1, "valid_from": 9, "valid_to": 14}


def test_a_mistake_ends_a_script_with_its_place(invoke: Invoke, folder: Path) -> None:
    result = invoke("shell", input=f"{BID}\n\nSELECT itm\nFROM bid;\n\\d\n")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "  line 3, column 8\n    SELECT itm\n           ^^^\n" in result.stderr
    (folder / "wrong.sql").write_text("SELEC 1", "utf-8")
    result = invoke("shell", "wrong.sql", "-c", "\\d")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.endswith("in wrong.sql\n")
    assert invoke("shell", "missing.sql", "-c", "\\d").exit_code == 1


def test_ticks_by_hand(invoke: Invoke) -> None:
    stream = "CREATE STREAM s (a BIGINT, at BIGINT) ORDERED BY at; "
    query = "CREATE QUERY q AS SELECT a FROM s WINDOW(RANGE 5); START QUERY q; "
    script = (
        f'{stream}{query}\n\\push s [{{"a": 1, "at": 1}}, {{"a": 2, "at": 3}}]\n\\tick\n\\watch q'
    )
    result = invoke("shell", "--every", "never", "-f", "csv", input=script)
    assert result.stdout == "a\n1\n"
    assert "tick 1" in result.stderr


def test_a_server_with_a_token(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "token").write_text("roses are red\n", "utf-8")
    with served(token="roses are red") as url:
        known = invoke(
            "shell", "--server", url, "--token-file", str(tmp_path / "token"), "-c", "\\d"
        )
        assert known.exit_code == 0
        assert known.stderr.splitlines() == [
            f"the server {__version__} at {url}, in its process",
            "there are no names yet: CREATE STREAM ... makes a stream",
        ]
        monkeypatch.setenv("TIDEMILL_TOKEN", "roses are red")
        assert invoke("shell", "--server", url, "-c", "\\d").exit_code == 0
        monkeypatch.setenv("TIDEMILL_TOKEN", "violets are blue")
        refused = invoke("shell", "--server", url, "-c", "\\d")
        assert refused.exit_code == 1
        assert "token" in refused.stderr


def test_no_server(invoke: Invoke) -> None:
    result = invoke("shell", "--server", "http://127.0.0.1:1", "-c", "\\d")
    assert result.exit_code == 1
    assert "help: is `tidemill serve` running there?" in result.stderr
