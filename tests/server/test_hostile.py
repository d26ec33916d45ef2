"""Requests that try to take a server's time, memory or connections from everyone else."""

import http.client
import socket
import threading
import time
from contextlib import closing, suppress
from dataclasses import replace

import pytest

from tests.server.conftest import BIDS, SETTINGS, serving
from tidemill.server import Limits
from tidemill.server.main import Serving, _listen
from tidemill.server.settings import Settings

NUMBERS = ", ".join(map(str, range(4900)))


def _nested(call: str, times: int) -> str:
    return call * times + "CAST(item AS STRING)" + ")" * times


EXPENSIVE = [
    "SELECT sequence(1, 1000000000) AS x FROM bid",
    "SELECT size(sequence(1, 1000000000)) AS x FROM bid",
    "SELECT length(repeat('abc', 2000000000)) AS x FROM bid",
    "SELECT length(space(2000000000)) AS x FROM bid",
    "SELECT length(rpad('a', 2000000000, 'b')) AS x FROM bid",
    "SELECT length(lpad('a', 2000000000, 'b')) AS x FROM bid",
    "SELECT item FROM bid WHERE length(repeat('a', 2000000000)) > 1",
    f"SELECT item FROM bid WHERE item IN ({NUMBERS})",
    f"SELECT item FROM bid WHERE item NOT IN ({NUMBERS})",
    "SELECT item FROM bid WHERE " + " OR ".join(f"item = {n}" for n in range(900)),
    "SELECT item FROM bid WHERE " + " AND ".join(f"item <> {n}" for n in range(900)),
    "SELECT " + " || ".join(["'x'"] * 100) + " AS x FROM bid",
    f"SELECT {_nested('reverse(', 40)} AS x FROM bid",
    f"SELECT {_nested('upper(', 40)} AS x FROM bid",
    "SELECT " + "CAST(CAST(" * 30 + "item" + " AS STRING) AS INT)" * 30 + " AS x FROM bid",
    "SELECT x FROM "
    + "(SELECT reverse(x) AS x FROM " * 12
    + "(SELECT CAST(item AS STRING) AS x FROM bid)"
    + ")" * 12,
]


@pytest.mark.parametrize("sql", EXPENSIVE, ids=lambda sql: sql[7:60])
def test_a_plan_takes_no_memory_and_little_time(shared, sql):
    began = time.process_time()
    said = shared.http.post("/api/plan", json={"sql": sql})
    assert said.status_code in (200, 400), said.text
    assert time.process_time() - began < 5  # a second or so; machines differ
    shared.get("info")


def test_texts_that_would_take_all_memory_are_errors_where_they_are_made(bids):
    bids.run("CREATE QUERY big AS SELECT repeat('abc', 100000000) AS x FROM bid; START QUERY big")
    bids.push((1, 2.0, 3))
    (big,) = [each for each in bids.get("queries") if each["name"] == "big"]
    assert big["state"] == "failed", big
    assert "16777216 bytes" in str(big)


@pytest.mark.parametrize("limited", [{"plan_seconds": 0.0}], indirect=True)
def test_planning_ends_in_time(limited):
    for path in ("plan", "check", "run"):
        error = limited.post(path, {"sql": "SELECT item + 1 AS x FROM bid"}, status=503)["error"]
        assert error["message"] == "planning the query takes more than 0 s"
    body = {"name": "q", "sql": "SELECT item + 1 AS x FROM bid"}
    limited.post("queries", body, status=503)
    limited.run("CREATE QUERY q AS SELECT item + 1 AS x FROM bid", status=503)
    assert [each["name"] for each in limited.get("queries")] == ["hot"]


def test_others_go_on_while_one_plans(bids, monkeypatch):
    planning, go_on = threading.Event(), threading.Event()
    from tidemill.engine.planning import Planning

    plan = Planning.plan

    def slow(self, tree, text, is_shown=True):
        planning.set()
        assert go_on.wait(30)
        return plan(self, tree, text, is_shown)

    monkeypatch.setattr(Planning, "plan", slow)
    asking = threading.Thread(
        target=bids.http.post, args=("/api/plan",), kwargs={"json": {"sql": "SELECT item FROM bid"}}
    )
    asking.start()
    assert planning.wait(30)
    bids.push((1, 2.0, 3))  # waits for a tick
    go_on.set()
    asking.join(30)
    assert not asking.is_alive()


def test_a_run_is_stopped_within_a_tick(tmp_path):
    rows = "\n".join(f"{n},{n % 7}" for n in range(1500))
    (tmp_path / "rows.csv").write_text(f"n,at\n{rows}\n")
    script = f"""CREATE STREAM s (n BIGINT, at BIGINT) SOURCE csv(path => '{tmp_path}/rows.csv')
        ORDERED BY at"""
    limits = Limits(run_seconds=0.5)
    # One tick, with two million pairs, and minutes of work for them.
    sql = """SELECT COUNT(*) AS n FROM s AS a WINDOW(RANGE 9), s AS b WINDOW(RANGE 9)
        WHERE md5(repeat(CAST(a.n + b.n AS STRING), 30000)) > 'f'"""
    for server in serving(replace(SETTINGS, limits=limits), script):
        began = time.monotonic()
        error = server.post("run", {"sql": sql}, status=503)["error"]
        assert error["message"] == "the query takes more than 0.5 s"
        assert time.monotonic() - began < 20
        server.get("info")


def test_wrong_tokens_are_counted():
    token = "a long secret"
    settings = replace(SETTINGS, token=token, limits=Limits(wrong_tokens=3))
    for server in serving(settings):
        ask = []
        for _ in range(3):
            ask.append(server.http.get("/api/info", headers={"authorization": "Bearer no"}))
        assert [each.status_code for each in ask] == [401] * 3
        right = {"authorization": f"Bearer {token}"}
        assert server.http.get("/api/info", headers=right).status_code == 429
        assert server.http.get("/").status_code == 200


FOREIGN = ["[::1].evil.example", "[::1].evil.example:8321", "a@127.0.0.1", "127.0.0.1.evil", "::1"]


@pytest.mark.parametrize("host", FOREIGN)
def test_a_host_is_this_machine_or_it_is_not(shared, host):
    assert shared.http.get("/api/info", headers={"host": host}).status_code == 403


@pytest.fixture(scope="module")
def listening():
    """A real server with little patience, and its address."""
    limits = Limits(request_seconds=1.0, connections=8)
    serving = Serving(Settings(port=0, every=3600.0, limits=limits), BIDS)
    thread = threading.Thread(target=serving.run, daemon=True)
    thread.start()
    yield serving._socket.getsockname()[:2]
    serving.stop()
    thread.join()


HALVES = [
    b"",
    b"G",
    b"GET /api/info HTTP/1.1\r\nhost: 127.0.0.1\r\n",
    b"POST /api/plan HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 100\r\n\r\n{",
    b"POST /api/plan HTTP/1.1\r\nhost: 127.0.0.1\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{",
]


@pytest.mark.parametrize("half", HALVES)
def test_half_a_request_is_not_waited_for(listening, half):
    with socket.create_connection(listening, timeout=20) as client:
        client.sendall(half)
        while client.recv(1000):
            pass  # closed by the server: else this times out


def test_a_request_that_drips_is_not_waited_for(listening):
    with socket.create_connection(listening, timeout=20) as client:
        until = time.monotonic() + 20
        with suppress(OSError):  # a pipe that is broken, or reset
            while time.monotonic() < until:
                client.sendall(b"G")
                time.sleep(0.05)
        assert time.monotonic() < until


def test_whole_requests_on_one_connection_are_answered(listening):
    with closing(http.client.HTTPConnection(*listening, timeout=20)) as client:
        for _ in range(2):
            client.request("GET", "/api/info")
            said = client.getresponse()
            assert (said.status, bool(said.read())) == (200, True)
            time.sleep(1.3)  # longer than a request may take


def test_there_are_only_so_many_connections(listening):
    held = [socket.create_connection(listening, timeout=20) for _ in range(8)]
    try:
        with socket.create_connection(listening, timeout=20) as client:
            assert client.recv(100).startswith(b"HTTP/1.1 503")
    finally:
        for each in held:
            each.close()


def test_cells_that_spreadsheets_would_run_are_texts(server):
    server.run("CREATE STREAM s (x STRING, n INT, at BIGINT) ORDERED BY at")
    server.run("CREATE QUERY q AS SELECT x, n FROM s; START QUERY q")
    texts = ["=1+1", "+1", "-1", "@a", "\t=1", "plain", "a=b", "", None]
    rows = [{"x": x, "n": -5, "at": at} for at, x in enumerate(texts)]
    server.post("streams/s/rows", rows, wait="true")
    server.post("streams/s/heartbeat", {"at": 100})
    server.post("streams/s/rows", [], wait="true")
    said = server.http.get("/api/queries/q/results?format=csv").text
    assert '"\'=1+1",-5' in said
    assert not any(f'"{sign}' in said for sign in "=+-@\t")
    kept = server.get("queries/q/results")
    assert "=1+1" in str(kept)  # JSON has what there is


def test_a_query_is_made_and_started_or_neither(bids, monkeypatch):
    from tidemill.engine.running import RunningGraph
    from tidemill.graph.query_graph import QueryGraph

    full = OSError(28, "No space left on device")

    def fail(*_args, **_named):
        raise full

    monkeypatch.setattr(RunningGraph, "start", fail, raising=False)
    monkeypatch.setattr(QueryGraph, "add", fail, raising=False)
    error = bids.post("queries", {"name": "q", "sql": "SELECT item FROM bid"}, status=503)["error"]
    assert "No space left on device" in error["message"]
    assert [each["name"] for each in bids.get("queries")] == ["hot"]


@pytest.mark.parametrize("body", [{"name": "q", "sql": "SELECT item FROM bid"}, None])
def test_a_full_disk_when_the_catalog_is_written(tmp_path, monkeypatch, body):
    from tidemill.server.persist import CatalogLog

    for server in serving(replace(SETTINGS, folder=tmp_path / "dir"), BIDS):

        def full(_self, _sql):
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patched:
            patched.setattr(CatalogLog, "add", full)
            if body is None:
                server.run("CREATE STREAM other (a INT, at BIGINT) ORDERED BY at", status=503)
            else:
                server.post("queries", body, status=503)
        assert [each["name"] for each in server.get("queries")] == ["hot"]
        server.run("CREATE STREAM other (a INT, at BIGINT) ORDERED BY at")
        server.post("queries", {"name": "q", "sql": "SELECT item FROM bid"}, status=201)


def test_the_end_of_an_answer_does_not_wait_for_the_client():
    """asyncio sees to that only where a socket names its protocol; else answers took 40 ms."""
    with closing(_listen("127.0.0.1", 0)) as found:
        assert found.proto == socket.IPPROTO_TCP
