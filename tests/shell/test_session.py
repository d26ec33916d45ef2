import json
import time
from pathlib import Path

import pytest

from tests.shell.conftest import BIDS, Said, said
from tidemill.errors import ExecutionError
from tidemill.runtime.run import Run
from tidemill.shell import EmbeddedBackend

CSV = "item,price,minute\nlamp,30,1\nvase,12,2\nlamp,35,4\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "bids.csv").write_text(CSV, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def bids(say: Said, folder: Path) -> Said:
    """A session with a stream that is a file."""
    source = "SOURCE csv(path => 'bids.csv') ORDERED BY minute"
    assert say(f"CREATE STREAM bid (item STRING, price BIGINT, minute BIGINT) {source};")
    assert say.notes == "stream bid created"
    return say


def test_a_select_over_what_ends_shows_its_rows_with_their_intervals(bids: Said) -> None:
    assert bids("SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 5) GROUP BY item;")
    lines = [line.split() for line in bids.out.splitlines()]
    assert lines[0] == ["item", "n", "valid_from", "valid_to"]
    assert lines[2:] == [["lamp", "1", "1", "4"], ["vase", "1", "2", "7"],
                         ["lamp", "2", "4", "6"], ["lamp", "1", "6", "9"]]  # fmt: skip


def test_machine_readable_formats_have_nothing_else_on_standard_output(bids: Said) -> None:
    query = "SELECT item FROM bid WHERE price > 20;"
    assert bids(f"\\timing\n\\format csv\n{query}")
    assert bids.out == "item,valid_from,valid_to\nlamp,1,2\nlamp,4,5"
    assert "s" in bids.notes
    assert bids(f"\\format json\n{query}")
    assert [json.loads(line)["item"] for line in bids.out.splitlines()] == ["lamp", "lamp"]


def test_values_cannot_play_with_the_terminal(say: Said) -> None:
    say("CREATE RELATION r (a STRING) CHANGING;")
    say.session.backend.engine.insert(  # type: ignore[attr-defined]
        "r", [{"a": "red \x1b[31m\r"}]
    )
    assert say("SELECT a FROM r;")
    assert "red \\x1b[31m\\r" in say.out


def test_long_tables_are_cut(say: Said, folder: Path) -> None:
    rows = "".join(f"{n},{n}\n" for n in range(100))
    (folder / "long.csv").write_text("a,at\n" + rows, "utf-8")
    say("CREATE STREAM s (a BIGINT, at BIGINT) SOURCE csv(path => 'long.csv') ORDERED BY at;")
    assert say("SELECT a FROM s;")
    assert len(say.out.splitlines()) == 42
    assert "… and 60 more rows" in say.notes
    assert say("\\format csv\nSELECT a FROM s;")
    assert len(say.out.splitlines()) == 101


def test_a_select_over_what_goes_on_says_how_to_watch_it(say: Said) -> None:
    say(BIDS)
    say("CREATE STREAM dear AS SELECT item FROM bid WHERE price > 20;")
    say.clear()
    assert not say("SELECT item FROM dear WINDOW(RANGE 5);")
    assert say.notes.splitlines() == [
        "error: rows are pushed into `bid` for ever: there is no last answer",
        "  line 1, column 18",
        "    SELECT item FROM dear WINDOW(RANGE 5)",
        "                     ^^^^",
        "help: \\watch SELECT ... shows what holds now, CREATE QUERY ... AS keeps it running",
    ]


def test_errors_have_carets_at_their_place_in_the_script(say: Said) -> None:
    say(BIDS)
    say.clear()
    assert not say("\\d\n  CREATE QUERY q AS SELECT prise\n  FROM bid;\n\\d")
    assert say.notes.splitlines() == [
        "error: unknown column `prise` in stream `bid`",
        "  line 2, column 28",
        "      CREATE QUERY q AS SELECT prise",
        "                               ^^^^^",
        "help: did you mean `price`? columns: item, price",
    ]
    assert say.out.count("name") == 1  # what stands behind the mistake is not run


def test_warnings_are_shown(say: Said) -> None:
    say(BIDS)
    assert say("CREATE QUERY every AS SELECT COUNT(*) AS n FROM bid;")
    assert "warning: `bid` has no window" in say.notes


def test_everything_with_a_name(say: Said) -> None:
    assert say("\\d")
    assert "there are no names yet" in say.notes
    say(BIDS + "START QUERY hot; CREATE STREAM dear AS SELECT item FROM bid WHERE price > 9;")
    assert say("\\d")
    assert [line.split() for line in say.out.splitlines()[2:]] == [
        ["bid", "stream", "dear,", "hot"],
        ["dear", "derived", "stream", "bid"],
        ["hot", "query", "running", "bid"],
    ]


def test_one_thing_in_detail(say: Said) -> None:
    say("CREATE STREAM s (a BIGINT, b STRING, at BIGINT) ORDERED BY at SLACK 3;" + BIDS)
    assert say("\\d S")
    lines = say.out.splitlines()
    assert [line.split() for line in lines[2:5]] == [["a", "BIGINT"], ["b", "STRING"],
                                                     ["at", "BIGINT"]]  # fmt: skip
    assert lines[5:] == ["kind: stream, rows are pushed", "time: at, slack 3"]
    assert say("\\d hot")
    lines = say.out.splitlines()
    assert "state: stopped" in lines
    assert lines[-1].startswith("defined as: ")
    assert not say("\\d hott")
    assert "did you mean `hot`?" in say.notes


def test_plans(say: Said) -> None:
    say(BIDS)
    assert say("\\explain SELECT item FROM bid WINDOW(RANGE 5)")
    assert say.out.splitlines() == [
        "logical",
        "Project [item := bid.item]",
        "└── TimeWindow range=5",
        "    └── Scan bid columns=[item, price]",
    ]
    assert say("\\explain physical hot")
    assert "AggregateExec" in say.out
    assert say("\\explain cost hot")
    assert "rows/instant" in say.out
    assert not say("\\explain SELECT prise FROM bid")
    assert "^^^^^" in say.notes
    assert not say("\\explain")


def test_rows_are_pushed_from_files_and_from_json(say: Said, folder: Path) -> None:
    say(BIDS + "START QUERY hot;")
    assert say("\\push bid bids.csv")
    assert say.notes.endswith("3 rows pushed")
    (folder / "more.json").write_text('{"item": "cup", "price": 1, "minute": 5}\n', "utf-8")
    assert say("\\push bid more.json")
    assert say('\\push bid [{"item": "cup", "price": 1, "minute": 9}]')
    assert say("\\watch hot")
    assert [line.split() for line in say.out.splitlines()[2:]] == [
        ["cup", "1", "1"],
        ["lamp", "1", "35"],
    ]
    assert say.notes.endswith("as of 8")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("nothing.csv", "cannot read nothing.csv"),
        ("[1, 2]", "must be objects"),
        ("{oops}", "cannot be read as JSON"),
        ('{"item": "lamp"}', "rows for `bid` lack price, minute"),
        ('{"item": "lamp", "price": "dear", "minute": 1}', "is no BIGINT"),
        ('{"item": "lamp", "price": 1, "minute": null}', "is NULL in 1 row(s)"),
        ("", "push what?"),
    ],
)
def test_rows_that_cannot_be_pushed(say: Said, folder: Path, rows: str, message: str) -> None:
    say(BIDS)
    assert not say(f"\\push bid {rows}")
    assert message in say.notes


def test_a_select_is_watched_as_a_query_for_that_time(say: Said) -> None:
    say(BIDS)
    assert say("\\watch SELECT item FROM bid WINDOW(RANGE 5)")
    assert (say.out, say.notes.splitlines()[-1]) == ("no rows", "no rows yet")
    assert say("\\d")
    assert "watched" not in say.out
    assert not say("\\watch SELECT prise FROM bid")
    assert say.notes.splitlines()[1:4] == [
        "  line 1, column 8",
        "    SELECT prise FROM bid",
        "           ^^^^^",
    ]
    assert not say("\\watch hott")
    assert "did you mean `hot`?" in say.notes


def test_a_query_with_a_sink_and_no_name_is_started(say: Said) -> None:
    say(BIDS)
    say.clear()
    assert say("INSERT INTO memory() SELECT item FROM bid;")
    assert say.notes == "query q1 started; its results go to memory"
    assert say("STOP QUERY q1;")


def test_ticks_are_made_by_hand_without_a_clock(say: Said) -> None:
    say(BIDS + "START QUERY hot;")
    say('\\push bid {"item": "cup", "price": 1, "minute": 9}')
    assert say("\\tick")
    assert say.notes.endswith("tick 1")


def test_rows_without_a_time_are_refused(say: Said) -> None:
    say(BIDS + "START QUERY hot;")
    assert not say('\\push bid {"item": "a", "price": 1, "minute": null}')
    assert "the time column `minute` of `bid` is NULL in 1 row(s)" in say.notes
    assert say('\\push bid {"item": "a", "price": 1, "minute": 3}')
    assert say("\\watch hot"), say.notes


def test_a_tick_that_fails_is_told_once_and_others_follow(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = EmbeddedBackend(every="5 milliseconds")
    say = said(backend)
    tick, failures = Run.tick, iter(["the disk is full"])

    def failing(run: Run) -> None:
        if (why := next(failures, None)) is not None:
            raise ExecutionError(why)
        tick(run)

    monkeypatch.setattr(Run, "tick", failing)
    say(BIDS + "START QUERY hot;")
    until = time.monotonic() + 20
    while say("\\watch hot"):  # the tick is made by another thread
        assert time.monotonic() < until
    assert "the disk is full" in say.notes
    assert say('\\push bid {"item": "a", "price": 1, "minute": 3}')
    assert say("\\watch hot"), say.notes
    backend.close()


def test_scripts_include_scripts(say: Said, folder: Path) -> None:
    (folder / "bids.sql").write_text(BIDS, "utf-8")
    (folder / "wrong.sql").write_text(
        "\\i bids.sql\n\\d\nCREATE QUERY q AS SELECT prise FROM bid;", "utf-8"
    )
    assert not say("\\i wrong.sql")
    notes = say.notes.splitlines()
    assert "  line 3, column 26" in notes
    assert notes[-1] == "in wrong.sql"
    assert not say("\\i missing.sql")
    assert "cannot read missing.sql" in say.notes


def test_commands(say: Said) -> None:
    assert say("\\?")
    assert "\\watch NAME|SELECT ..." in say.out
    assert not say("\\wach")
    assert "did you mean \\watch?" in say.notes
    assert not say("\\format xml")
    assert "formats: table, csv, json" in say.notes
    assert say("\\q\n\\d nothing")
    assert say.session.ended


def test_ctrl_c_cancels_what_runs_and_nothing_else(
    bids: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(sql: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(bids.session.backend, "select", interrupted)
    assert not bids("SELECT item FROM bid;")
    assert bids.notes == "cancelled"
    assert bids("\\d")


def test_a_mistake_of_tidemill_does_not_end_the_shell(
    backend: EmbeddedBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    say = said(backend)
    monkeypatch.setattr(backend, "names", lambda: 1 / 0)
    assert not say("\\d")
    assert "error: ZeroDivisionError" in say.notes


def test_sql_tells_what_there_is(bids: Said) -> None:
    assert bids("CREATE VIEW dear AS SELECT item FROM bid WHERE price > 20;")
    assert bids.notes == "view dear created"
    assert bids("SHOW TABLES;")
    assert [line.split() for line in bids.out.splitlines()[2:]] == [
        ["bid", "stream"],
        ["dear", "view"],
    ]
    assert bids("EXPLAIN SELECT item FROM dear;")
    assert bids.out.splitlines()[:2] == ["logical", "01 Project [item := dear.item]"]


def test_the_answer_of_a_query_is_read_at_once(say: Said) -> None:
    assert say("CREATE STREAM s (k BIGINT, at BIGINT) ORDERED BY at;")
    assert say("CREATE QUERY n AS SELECT k, COUNT(*) AS n FROM s WINDOW(RANGE 9) GROUP BY k;")
    assert say('START QUERY n;\n\\push s [{"k": 1, "at": 1}, {"k": 2, "at": 2}, {"k": 2, "at": 3}]')
    assert say('\\push s {"k": 3, "at": 5}\n\\format csv\nSELECT k, n FROM n ORDER BY n DESC;')
    assert say.out == "k,n\n2,2\n1,1"


@pytest.mark.parametrize("word", ["exit", "QUIT;", "help", "Help ;"])
def test_words_of_other_shells_are_commands(bids: Said, word: str) -> None:
    assert bids(word)
    assert bids.session.ended == (word[0] not in "hH")
    assert ("\\watch" in bids.out) == (word[0] in "hH")
