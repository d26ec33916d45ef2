import json
from pathlib import Path

import pytest

from tests.cli.conftest import SCRIPT, Invoke

ROWS = [
    ("lamp", 1, 1, 4),
    ("vase", 1, 2, 7),
    ("lamp", 2, 4, 6),
    ("lamp", 1, 6, 9),
    ("vase", 1, 9, 14),
]
CSV = "item,n,valid_from,valid_to\n" + "".join(f"{a},{b},{c},{d}\n" for a, b, c, d in ROWS)


def test_table(run: Invoke, folder: Path) -> None:
    result = run("bids.sql")
    assert result.exit_code == 0
    lines = [line.split() for line in result.stdout.splitlines()]
    assert lines[0] == ["item", "n", "valid_from", "valid_to"]
    assert lines[2:] == [[str(value) for value in row] for row in ROWS]
    assert result.stderr.splitlines()[0].strip() == "in this process"
    assert "4 rows in, 5 out, 1 tick," in result.stderr


def test_csv(run: Invoke, folder: Path) -> None:
    assert run("bids.sql", "--format", "csv").stdout == CSV


def test_json(run: Invoke, folder: Path) -> None:
    lines = run("bids.sql", "-f", "json", "--limit", "1").stdout.splitlines()
    assert [json.loads(line) for line in lines] == [
        {"item": "lamp", "n": 1, "valid_from": 1, "valid_to": 4}
    ]


def test_changes(run: Invoke, folder: Path) -> None:
    result = run("bids.sql", "--changes", "-f", "csv", "--limit", "3")
    assert result.stdout.splitlines() == [
        "item,n,changed_at,change", "lamp,1,1,+", "vase,1,2,+", "lamp,1,4,-"
    ]  # fmt: skip


def test_snapshot(run: Invoke, folder: Path) -> None:
    result = run("bids.sql", "--snapshot", "5", "-f", "csv")
    assert result.stdout.splitlines() == ["item,n", "lamp,2", "vase,1"]


def test_coalesce(run: Invoke, folder: Path) -> None:
    query = "SELECT MAX(price) AS best FROM bid WINDOW(RANGE 5)"
    whole = run("bids.sql", "-c", query, "-f", "csv").stdout.splitlines()
    merged = run("bids.sql", "-c", query, "-f", "csv", "--coalesce").stdout.splitlines()
    assert merged == ["best,valid_from,valid_to", "30,1,4", "35,4,9", "20,9,14"]
    assert len(whole) > len(merged)


def test_limit_of_a_table(run: Invoke, folder: Path) -> None:
    result = run("bids.sql", "--limit", "2")
    assert "… and 3 more rows" in result.stdout
    assert "vase" in result.stdout
    assert "more rows" not in run("bids.sql", "--limit", "0").stdout


def test_standard_input(run: Invoke, folder: Path) -> None:
    assert run("-", "-f", "csv", input=SCRIPT).stdout == CSV


def test_no_rows(run: Invoke, folder: Path) -> None:
    query = "SELECT item FROM bid WHERE price > 1000"
    result = run("bids.sql", "-c", query)
    assert (result.exit_code, result.stdout) == (0, "no rows\n")
    assert run("bids.sql", "-c", query, "-f", "csv").stdout == "item,valid_from,valid_to\n"
    assert run("bids.sql", "-c", query, "-f", "json").stdout == ""


def test_open_ends_and_nulls(run: Invoke, folder: Path) -> None:
    query = "SELECT NULLIF(item, 'lamp') AS item FROM bid WINDOW(ROWS 1)"
    last = run("bids.sql", "-c", query).stdout.splitlines()
    assert last[2].split() == ["NULL", "1", "2"]
    assert last[-1].split() == ["vase", "9", "∞"]
    last = run("bids.sql", "-c", query, "-f", "csv").stdout.splitlines()
    assert last[1] == ",1,2"
    assert last[-1] == "vase,9,"


def test_nested_values(run: Invoke, folder: Path) -> None:
    query = "SELECT ARRAY(price, 1) AS pair FROM bid WHERE at = 1"
    assert "[30, 1]" in run("bids.sql", "-c", query).stdout
    assert '"[30, 1]"' in run("bids.sql", "-c", query, "-f", "csv").stdout
    rows = run("bids.sql", "-c", query, "-f", "json").stdout
    assert json.loads(rows)["pair"] == [30, 1]


def test_late_rows_are_reported(run: Invoke, folder: Path) -> None:
    (folder / "bids" / "3.csv").write_text("item,price,at\nlamp,1,6\n", "utf-8")
    script = SCRIPT.replace("'bids/'", "'bids/', maxFilesPerTrigger => 1")
    (folder / "bids.sql").write_text(script, "utf-8")
    result = run("bids.sql", "-f", "csv")
    assert result.stdout == CSV
    assert "`bid`: 1 late rows were dropped" in result.stderr


def test_warnings_are_shown_once(run: Invoke, folder: Path) -> None:
    result = run("bids.sql", "-c", "SELECT COUNT(*) AS n FROM bid", "-f", "csv")
    assert result.exit_code == 0
    assert result.stderr.count("warning: `bid` has no window") == 1
    assert "did you mean bid WINDOW(RANGE 100)?" in result.stderr
    assert "warning" not in result.stdout


ERRORS = [
    ([], "there is nothing to run"),
    (
        ["missing.sql"],
        "cannot read missing.sql: no such file or directory\nhelp: scripts there: bids",
    ),
    (["bids"], "cannot read bids: is a directory"),
    (["empty.sql"], "empty.sql does not end with a query"),
    (["latin.sql"], "latin.sql is not UTF-8 text"),
    (["-c", "DROP STREAM IF EXISTS s"], "the command does not end with a query"),
    (["bids.sql", "-c", "DROP STREAM IF EXISTS s"], "the command does not end with a query"),
    (["bids.sql", "-c", "SELECT prise FROM bid"], "help: did you mean `price`?"),
    (["bids.sql", "-c", "SELCT 1"], "error: a statement cannot start with `SELCT`"),
    (["bids.sql", "-c", "SELECT price / 0 AS x FROM bid"], "division by zero"),
    (["bids.sql", "--snapshot", "noon"], "`noon` is not an instant"),
    (["bids.sql", "--snapshot", "2024-03-01"], "time here is an integer"),
    (["bids.sql", "--changes", "--snapshot", "1"], "exclude each other"),
    (["bids.sql", "--changes", "--coalesce"], "--coalesce merges intervals"),
    (["bids.sql", "--follow", "--coalesce"], "need a complete answer"),
    (["bids.sql", "--follow", "--snapshot", "5"], "need a complete answer"),
    (["bids.sql", "--checkpoint", "x"], "--checkpoint is for started queries"),
    (["bids.sql", "-c", "INSERT INTO mars() SELECT item FROM bid"], "results cannot go to mars"),
    (["delta.sql"], "`s` has the source delta, which only Spark reads"),
    (["kafka.sql"], "the source of `s` needs the option servers"),
    (["typo.sql"], "help: did you mean parquet? Engine() runs on Spark"),
    (["nofile.sql"], "/nothing.csv\nhelp: check the path option"),
    (["types.sql"], "of `s` as csv"),
]


@pytest.mark.parametrize(("arguments", "message"), ERRORS)
def test_errors(run: Invoke, folder: Path, arguments: list[str], message: str) -> None:
    (folder / "empty.sql").write_text("-- nothing\n", "utf-8")
    (folder / "latin.sql").write_bytes(b"SELECT '\xe9'")
    declared = "CREATE STREAM s (price BIGINT, at BIGINT) SOURCE csv(path => '{}') ORDERED BY at;"
    nothing, wrong = declared.format("nothing.csv"), declared.format("wrong.csv")
    (folder / "nofile.sql").write_text(f"{nothing} SELECT price FROM s", "utf-8")
    (folder / "types.sql").write_text(f"{wrong} SELECT price FROM s", "utf-8")
    (folder / "wrong.csv").write_text("price,at\nmuch,1\n", "utf-8")
    sources = {"delta": "delta(path => 'x')", "kafka": "kafka(topic => 'x')"}
    for name, source in (*sources.items(), ("typo", "parqet(path => 'x')")):
        text = f"CREATE STREAM s (price BIGINT, at BIGINT) SOURCE {source} ORDERED BY at;"
        (folder / f"{name}.sql").write_text(f"{text} SELECT price FROM s", "utf-8")
    result = run(*arguments)
    assert result.exit_code == 1
    assert message in result.stderr
    assert result.stderr.count("error: ") == 1
    assert "Traceback" not in result.output
    assert result.stdout == ""


def test_unknown_format(run: Invoke, folder: Path) -> None:
    result = run("bids.sql", "--format", "xml")
    assert result.exit_code == 2
    assert "'table', 'csv', 'json'" in " ".join(result.stderr.split())


def test_the_caret_keeps_its_place(run: Invoke, folder: Path) -> None:
    query = f"SELECT {', '.join(f'price AS p{number}' for number in range(30))}, prise FROM bid"
    lines = run("bids.sql", "-c", query).stderr.splitlines()
    assert lines[3].index("^") == lines[2].index("prise")


def test_reports(run: Invoke, folder: Path) -> None:
    result = run("-c", "CREATE RELATION r (a INT) CHANGING; SHOW TABLES; EXPLAIN SELECT a FROM r")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert [lines[0].split(), lines[2].split()] == [["name", "kind"], ["r", "relation"]]
    assert lines[3] == "logical"
    assert run("-c", "SHOW FUNCTIONS", "-f", "csv").stdout == "name,kind\n"
