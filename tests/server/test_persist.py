"""A server that goes on where it was, whenever it went down."""

import time
from dataclasses import replace

import pytest

from tests.server.conftest import BIDS, SETTINGS, serving
from tidemill import TidemillError
from tidemill.errors import DamageError
from tidemill.server import begin
from tidemill.server.persist import CatalogLog, Lasting
from tidemill.sql import parse

WIDER = "SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 20) GROUP BY item"


class Crash(Exception):
    """The machine goes down here."""


@pytest.fixture
def settings(tmp_path):
    return replace(SETTINGS, folder=tmp_path)


@pytest.fixture
def again(settings):
    """Starts a server on the same folder, after the one before has gone."""
    running = []

    def start(script=""):
        for each in running:
            next(each, None)
        running[:] = [serving(settings, script)]
        return next(running[0])

    yield start
    for each in running:
        next(each, None)


def _crashes(monkeypatch, when):
    """Let the next note of a statement be the last thing that happens, or not happen at all."""
    real = CatalogLog.add

    def add(self, sql):
        if when == "after":
            real(self, sql)
        raise Crash

    monkeypatch.setattr(CatalogLog, "add", add)


def _run_into_crash(server, sql):
    with pytest.raises(Crash):
        server.run(sql)


def test_everything_is_there_again(again):
    server = again(BIDS)
    server.push((1, 1.0, 1), (1, 2.0, 5), (2, 1.0, 8))
    before = server.get("queries/hot/results")
    server = again("this is not even read")
    assert server.get("queries/hot/results") == before
    server.push((3, 1.0, 30))
    assert server.get("queries/hot/snapshot", at=10)["rows"] == [[1, 2], [2, 1]]
    assert server.get("queries/hot")["complete_from"] == 0


def test_what_was_dropped_and_made_anew_under_its_name(again):
    server = again(BIDS)
    server.push((1, 1.0, 1), (1, 2.0, 5))
    server.run("DROP QUERY hot; DROP STREAM bid;" + BIDS.replace("RANGE 10", "RANGE 3"))
    server.push((7, 1.0, 1), (7, 1.0, 2))
    before = server.get("queries/hot/results")
    assert before["rows"] == [[7, 1]]
    server = again()
    assert server.get("queries/hot/results") == before


def test_queries_that_were_stopped_stay_so_and_keep_their_results(again):
    server = again(BIDS)
    server.push((1, 1.0, 1), (1, 2.0, 5))
    server.post("queries/hot/stop")
    server = again()
    assert server.get("queries/hot")["state"] == "stopped"
    assert server.get("queries/hot/results")["rows"] == [[1, 1]]


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(
    "sql",
    [
        "CREATE STREAM s (a BIGINT, t BIGINT) ORDERED BY t",
        "START QUERY later",
        "STOP QUERY hot",
        "DROP QUERY hot",
        f"ALTER QUERY hot AS {WIDER}",
    ],
)
def test_a_crash_around_a_note(again, monkeypatch, sql, when):
    server = again(BIDS + "; CREATE QUERY later AS SELECT item FROM bid")
    server.push((1, 1.0, 1), (1, 2.0, 5))
    with monkeypatch.context() as patched:
        _crashes(patched, when)
        _run_into_crash(server, sql)
    server = again()
    # The statement was never answered for: it may have been done or not, but not half.
    states = {query["name"]: query["state"] for query in server.get("queries")}
    assert states["later"] in ("running", "stopped")
    if states.get("hot") == "running":
        server.push((1, 3.0, 8))
        assert server.get("queries/hot/snapshot", at=7)["rows"] == [[1, 2]]
    server.run("CREATE QUERY more AS SELECT price FROM bid; START QUERY more")
    assert not [e for e in server.get("resources")["events"] if e["kind"] == "fail"]
    names = {query["name"] for query in server.get("queries")}
    assert {query["name"] for query in again().get("queries")} == names


def test_a_change_in_the_middle_of_which_it_crashes(again, monkeypatch):
    server = again(BIDS)
    server.push((1, 1.0, 1), (1, 2.0, 5))
    with monkeypatch.context() as patched:
        _crashes(patched, "after")
        _run_into_crash(server, f"ALTER QUERY hot AS {WIDER}")
    server = again()
    assert server.get("queries/hot")["state"] == "running"
    assert "RANGE 10" in server.get("queries/hot")["sql"]
    changed = server.call("PATCH", "queries/hot", {"sql": WIDER})
    assert "RANGE 20" in changed["sql"]
    assert "RANGE 20" in again().get("queries/hot")["sql"]


def test_a_change_that_is_refused_is_taken_back(again):
    server = again(BIDS)
    server.push((1, 1.0, 1))
    assert server.run("ALTER QUERY hot AS SELECT item FROM bid", 400)
    assert "COUNT" in again().get("queries/hot")["sql"]


@pytest.mark.parametrize("how", ["empty", "shorter", "other", "gone"])
def test_a_damaged_catalog_is_told(settings, tmp_path, how):
    begin(settings, BIDS).stop()
    file = tmp_path / "catalog.sql"
    content = file.read_bytes()
    damaged = {"empty": b"", "shorter": content[:-30], "other": content.replace(b"10", b"11")}
    file.unlink() if how == "gone" else file.write_bytes(damaged[how])
    with pytest.raises(DamageError, match=r"catalog\.sql is damaged"):
        begin(settings)
    assert how == "gone" or file.read_bytes() == damaged[how], "it is not written anew"
    file.write_bytes(content)
    begin(settings).stop()


def test_a_first_start_that_did_not_get_far_begins_again(settings, monkeypatch):
    def crash(*arguments):
        raise Crash

    script = "CREATE RELATION r (a BIGINT) CHANGING; INSERT INTO r VALUES (1);" + BIDS
    with monkeypatch.context() as patched:
        patched.setattr("tidemill.server.startup._start", crash)
        with pytest.raises(Crash):
            begin(settings, script)
    service = begin(settings, script)
    assert len(service.engine.sql("SELECT a FROM r").snapshot(0)) == 1
    service.stop()


def test_files_are_for_nobody_else(again, tmp_path):
    server = again(BIDS + "; CREATE RELATION r (a BIGINT) CHANGING; INSERT INTO r VALUES (1)")
    server.push((1, 1.0, 1))
    for path in (each for each in tmp_path.rglob("*") if each != tmp_path):
        assert path.stat().st_mode & 0o077 == 0, path


def test_nobody_works_and_nothing_is_written(again, tmp_path):
    server = again(BIDS)
    server.push((1, 1.0, 1), (2, 1.0, 9))

    def files():
        return {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}

    before = files()
    time.sleep(0.5)
    assert files() == before


def test_relations_are_tables_and_do_not_grow_for_ever(again, tmp_path):
    server = again("CREATE RELATION r (a BIGINT, b STRING, c ARRAY<BIGINT>) CHANGING")
    for at in range(100):
        rows = [{"a": at * 10 + n, "b": "x", "c": [n]} for n in range(10)]
        server.post("relations/r/rows", {"rows": rows, "at": at})
        server.call("DELETE", "relations/r/rows", {"where": f"a < {at * 10 - 50}", "at": at})
    before = sorted(server.post("run", {"sql": "SELECT a, b, c FROM r"})["rows"])
    assert len(list(tmp_path.glob("relations/r/*.arrow"))) < 70
    assert sorted(again().post("run", {"sql": "SELECT a, b, c FROM r"})["rows"]) == before


def test_a_relation_that_is_dropped_and_made_anew(again):
    server = again("CREATE RELATION r (a BIGINT) CHANGING; INSERT INTO r VALUES (1)")
    server.run("DROP RELATION r; CREATE RELATION r (a BIGINT) CHANGING; INSERT INTO r VALUES (2)")
    assert again().post("run", {"sql": "SELECT a FROM r"})["rows"] == [[2]]


def test_relations_keep_their_rows(again):
    server = again("CREATE RELATION r (a BIGINT, b STRING) CHANGING")
    server.run("INSERT INTO r VALUES (1, 'x'), (2, 'y')")
    server.post("relations/r/rows", {"rows": [{"a": 3, "b": "it's"}], "at": 5})
    server.call("DELETE", "relations/r/rows", {"where": "a = 1"})
    said = again().post("run", {"sql": "SELECT a, b FROM r"})
    assert sorted(said["rows"]) == [[2, "y"], [3, "it's"]]


def test_a_folder_serves_one_server(settings):
    service = begin(settings)
    with pytest.raises(TidemillError, match="in use by another server"):
        begin(settings)
    service.stop()


def test_statements_are_for_nobody_else(again, tmp_path):
    again(BIDS)
    assert (tmp_path / "catalog.sql").stat().st_mode & 0o077 == 0


def test_what_is_left_of_statements():
    left = Lasting(
        parse(
            "CREATE STREAM s (a BIGINT, t BIGINT) ORDERED BY t; DROP STREAM s;"
            "CREATE QUERY q AS INSERT INTO csv(path => 'x') SELECT a FROM s; START QUERY Q PARTIAL;"
            "ALTER QUERY q AS SELECT b FROM s; CREATE QUERY r AS SELECT a FROM s; START QUERY r;"
            "DROP QUERY r"
        )
    )
    assert left.texts() == [
        "CREATE QUERY q AS INSERT INTO csv(path => 'x') SELECT b FROM s",
        "START QUERY Q PARTIAL",
    ]


def test_views_and_what_replaced_them_are_there_again(again):
    server = again(BIDS)
    server.run(
        "CREATE VIEW v AS SELECT item FROM bid; CREATE OR REPLACE VIEW v AS SELECT 7 AS n FROM bid"
    )
    server.run("CREATE OR REPLACE RELATION r (a BIGINT) CHANGING; INSERT INTO r VALUES (1)")
    server.run("CREATE OR REPLACE RELATION r (b BIGINT) CHANGING; DROP VIEW IF EXISTS w")
    server.run(f"CREATE OR REPLACE QUERY wide AS {WIDER}; START QUERY wide")
    server.run("CREATE QUERY top AS SELECT MAX(n) AS n FROM wide; START QUERY top")
    for _ in range(2):
        server = again()
        told = server.run("DESCRIBE v; DESCRIBE r; SHOW QUERIES")["results"]
        rows = [each["table"]["rows"] for each in told]
        assert rows[:2] == [[["n", "INT"]], [["b", "BIGINT"]]]
        assert ["top", "running", "wide"] in rows[2]
    said = server.run("DROP QUERY wide", 400)
    assert "cannot drop query `wide`" in said["error"]["message"]
    assert again().get("queries/wide")["state"] == "running"


def test_nothing_replaces_what_it_reads_and_a_refusal_leaves_what_was(again):
    server = again(
        f"{BIDS}; CREATE VIEW v AS SELECT item FROM bid; CREATE RELATION r (a BIGINT) CHANGING"
    )
    server.run("CREATE STREAM s (a BIGINT, t BIGINT) ORDERED BY t")
    refused = {
        "CREATE OR REPLACE VIEW V AS SELECT item FROM v": "view `v` would read itself",
        "ALTER QUERY hot AS SELECT item, n FROM hot": "query `hot` would read itself",
        "CREATE OR REPLACE QUERY hot AS SELECT n FROM HOT": "query `hot` would read itself",
        "CREATE STREAM hot (a BIGINT, t BIGINT) ORDERED BY t": "query `hot` already exists",
        "CREATE OR REPLACE STREAM s (a BIGINT, t BIGINT) SOURCE csv(path => '/s') ORDERED BY t": (
            "csv(...) is not allowed here"
        ),
    }
    for sql, message in refused.items():
        assert message in server.run(sql, 400)["error"]["message"], sql
    server = again()
    told = server.run("SHOW TABLES; DESCRIBE v; DESCRIBE hot")["results"]
    assert {row[0] for row in told[0]["table"]["rows"]} == {"bid", "v", "r", "s"}
    assert [len(each["table"]["rows"]) for each in told[1:]] == [1, 2]
    assert server.get("queries/hot")["state"] == "running"


def test_what_a_query_reads_now_is_made_before_it_and_what_it_read_may_be_gone(again):
    server = again(BIDS)
    server.run("CREATE QUERY z AS SELECT item FROM bid; START QUERY z")
    server.run(BIDS.split(";")[0].replace("bid", "other"))
    server.run("ALTER QUERY z AS SELECT item FROM other WHERE price > 1; DROP QUERY hot")
    server.run("STOP QUERY z; ALTER QUERY z AS SELECT item FROM other; DROP STREAM bid")
    for _ in range(2):
        server = again()
        told = server.run("SHOW TABLES; SHOW QUERIES")["results"]
        rows = [each["table"]["rows"] for each in told]
        assert rows == [[["other", "stream"]], [["z", "stopped", "other"]]]


def test_a_change_that_is_wrong_is_forgotten(again):
    server = again(BIDS)
    for query in ("SELECT nope FROM bid", "SELECT item FROM nope"):
        assert server.run(f"ALTER QUERY hot AS {query}", 400)["error"]["message"]
    server = again()
    assert server.get("queries/hot")["state"] == "running"
