from pathlib import Path

import pytest

from tests.cli.conftest import SCRIPT, Invoke


def test_tree(invoke: Invoke, folder: Path) -> None:
    result = invoke("explain", "bids.sql")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "logical",
        "Project [item := bid.item, n := count1]",
        "└── Aggregate by=[bid.item] [count1 := COUNT(*)]",
        "    └── TimeWindow range=5",
        "        └── Scan bid columns=[item, price]",
    ]


def test_two_inputs(invoke: Invoke, folder: Path) -> None:
    query = "SELECT a.item FROM bid AS a WINDOW(RANGE 5) JOIN bid AS b ON a.item = b.item"
    lines = invoke("explain", "bids.sql", "-c", query).stdout.splitlines()
    assert [line[:8] for line in lines[3:]] == ["    ├── ", "    │   ", "    └── "]


def test_plain_and_physical(invoke: Invoke, folder: Path) -> None:
    result = invoke("explain", "bids.sql", "--level", "physical", "--plain")
    assert result.stdout.splitlines() == [
        "physical",
        "01 ProjectExec [item := bid.item, n := count1]",
        "02   AggregateExec by=[bid.item] [count1 := COUNT(*)]",
        "03     TimeWindowExec range=5",
        "04       SourceExec bid columns=[item]",
    ]


def test_optimized(invoke: Invoke, folder: Path) -> None:
    query = "SELECT item FROM bid WINDOW(RANGE 5) WHERE price > 3"
    result = invoke("explain", "bids.sql", "-c", query, "--level", "optimized")
    assert result.stdout.splitlines() == [
        "optimized",
        "TimeWindow range=5",
        "└── Project [item := bid.item]",
        "    └── Filter bid.price > 3",
        "        └── Scan bid columns=[item, price]",
    ]


def test_verbose(invoke: Invoke, folder: Path) -> None:
    query = "SELECT item FROM bid WINDOW(RANGE 5) WHERE price > 3"
    lines = invoke("explain", "bids.sql", "-c", query, "-l", "verbose").stdout.splitlines()
    assert lines[:2] == ["verbose", "01 Project [item := bid.item]"]
    assert "push_filters: Filter as early as possible" in lines
    assert lines[-1].startswith("unchanged by ")


def test_stages(invoke: Invoke, folder: Path) -> None:
    result = invoke("explain", "bids.sql", "--level", "stages")
    assert result.stdout.splitlines() == [
        "stages",
        "native: #1 hash [bid.item] := TimeWindowExec range=5",
        "stage 1",
        "#0 keep :=",
        "01 ProjectExec [item := bid.item, n := count1]",
        "02   AggregateExec by=[bid.item] [count1 := COUNT(*)]",
        "03     ReceiveExec #1",
    ]


def test_the_last_of_several_inserts(invoke: Invoke, folder: Path) -> None:
    more = "".join(f"INSERT INTO console() SELECT {c} FROM bid;" for c in ("item", "price"))
    lines = invoke("explain", "bids.sql", "-c", more, "--plain").stdout.splitlines()
    assert lines[1] == "01 Project [price := bid.price]"


def test_it_reads_no_data(invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert invoke("explain", "-c", SCRIPT).exit_code == 0


def test_warnings_go_to_standard_error(invoke: Invoke, folder: Path) -> None:
    result = invoke("explain", "bids.sql", "-c", "SELECT COUNT(*) AS n FROM bid", "--plain")
    assert "warning: `bid` has no window" in result.stderr
    assert "warning" not in result.stdout
    assert result.stdout.splitlines()[-1].startswith("03 ")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["missing.sql"], 1, "cannot read missing.sql"),
        (["-c", "SELECT * FROM bid"], 1, "unknown stream or relation `bid`"),
        (["bids.sql", "--level", "kosts"], 2, "'logical', 'optimized',"),
    ],
)
def test_errors(
    invoke: Invoke, folder: Path, arguments: list[str], code: int, message: str
) -> None:
    result = invoke("explain", *arguments)
    assert result.exit_code == code
    assert message in " ".join(result.stderr.split())
    assert result.stdout == ""
