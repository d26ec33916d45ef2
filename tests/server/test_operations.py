"""For those who operate a server: probes, metrics, logs, roles, TLS, and `tidemill top`."""

from __future__ import annotations

import json
import logging
import re
import ssl
import subprocess
import threading
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from tests.server.conftest import BIDS, SETTINGS, serving
from tidemill import TidemillError
from tidemill.cli.app import app
from tidemill.server.logs import write_logs
from tidemill.server.main import Serving
from tidemill.server.security import refuse_open_door
from tidemill.server.starting import Starting

TOKEN, READER = "may do everything", "may only read"
LINE = re.compile(r'tidemill_\w+(\{\w+="[^"]*"(,\w+="[^"]*")*\})? [-+.e\d]+')


def _metrics(server, **headers) -> dict[str, float]:
    said = server.http.get("/metrics", headers=headers)
    assert said.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = [line for line in said.text.splitlines() if not line.startswith("#")]
    assert all(LINE.fullmatch(line) for line in lines)
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


def test_metrics_count_what_was_done(bids):
    bids.push((1, 1.0, 1), (2, 1.0, 3), (1, 1.0, 5))
    bids.push((3, 1.0, 20), (3, 1.0, 2))
    found = _metrics(bids)
    assert found["tidemill_pushes_total"] == 2
    assert found["tidemill_pushed_rows_total"] == 5
    assert found['tidemill_source_rows_total{source="bid"}'] >= 4
    assert found['tidemill_source_watermark{source="bid"}'] == 20
    assert found['tidemill_query_state{query="hot",state="running"}'] == 1
    assert found['tidemill_query_state{query="hot",state="failed"}'] == 0
    assert found['tidemill_query_rows_out_total{query="hot"}'] >= 4
    assert found['tidemill_query_complete_until{query="hot"}'] == 20
    assert found["tidemill_ticks_total"] >= 2
    assert 0 < found["tidemill_tick_seconds_total"] < found["tidemill_uptime_seconds"]
    assert 'tidemill_query_lag_seconds{query="hot"}' not in found  # its time is no clock


def test_lag_is_measured_for_clocks_and_late_rows_are_counted(server):
    server.run("CREATE STREAM s (a BIGINT, ts TIMESTAMP) ORDERED BY ts")
    server.run("CREATE QUERY q AS SELECT COUNT(*) AS n FROM s WINDOW(RANGE 1 HOUR); START QUERY q")
    for day in ("02", "03", "01"):
        rows = [{"a": 1, "ts": f"2024-01-{day}T00:00:00"}]
        server.post("streams/s/rows", rows, wait="true")
    found = _metrics(server)
    assert found['tidemill_query_lag_seconds{query="q"}'] > 3600
    assert found['tidemill_query_late_rows_total{query="q"}'] == 1


def test_dashboard_asks_for_metrics_that_there_are(bids):
    bids.push((1, 1.0, 1))
    told = bids.http.get("/metrics").text + "tidemill_query_lag_seconds"
    board = json.loads(Path("deploy/grafana.json").read_text("utf-8"))
    for panel in board["panels"]:
        for target in panel["targets"]:
            assert all(name in told for name in re.findall(r"tidemill_\w+", target["expr"]))


def test_probes_need_no_token_and_metrics_do():
    for server in serving(replace(SETTINGS, host="0.0.0.0", token=TOKEN, read_token=READER)):
        assert server.http.get("/healthz").text == "ok\n"
        assert server.http.get("/readyz", headers={"host": "10.0.0.7"}).status_code == 200
        assert server.http.get("/metrics").status_code == 401
        assert "tidemill_info" in str(_metrics(server, authorization=f"Bearer {READER}"))


def test_a_server_that_catches_up_is_alive_and_not_ready():
    gate = threading.Event()

    def make(tell):
        tell("3 of 40 queries run again")
        gate.wait()
        raise TidemillError("enough")

    starting = Starting(make, SETTINGS)

    async def ask() -> list[tuple[int, str]]:
        transport = httpx.ASGITransport(starting)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            said = [await client.get(path) for path in ("/healthz", "/readyz", "/metrics")]
        return [(each.status_code, each.text) for each in said]

    import anyio

    alive, ready, metrics = anyio.run(ask)
    gate.set()
    assert alive == (200, "ok\n")
    assert ready == (503, "catching up: 3 of 40 queries run again\n")
    assert metrics[0] == 503


@pytest.fixture(scope="module")
def guarded():
    settings = replace(SETTINGS, host="0.0.0.0", token=TOKEN, read_token=READER)
    yield from serving(settings, BIDS)


def test_a_reader_reads_and_changes_nothing(guarded):
    reader = {"authorization": f"Bearer {READER}"}
    document = guarded.http.get("/api/openapi.json", headers=reader).json()
    reading = ("/api/check", "/api/plan", "/api/run", "/api/compose/check")
    refused = 0
    for path, methods in document["paths"].items():
        for method in methods:
            place = path.replace("{node}", "1").replace("{name}", "hot")
            said = guarded.http.request(method.upper(), place, headers=reader)
            may = method == "get" or path in reading
            assert (said.status_code == 403) is not may, (method, path)
            refused += said.status_code == 403
    assert refused > 10
    writer = {"authorization": f"Bearer {TOKEN}"}
    said = guarded.http.post("/api/statements", json={"sql": "SHOW TABLES"}, headers=writer)
    assert said.status_code == 200


def test_a_token_for_reading_alone_is_refused():
    with pytest.raises(TidemillError, match="needs one for writing"):
        refuse_open_door(replace(SETTINGS, read_token=READER))


@pytest.fixture
def logged(capsys):
    logger = logging.getLogger("tidemill")
    before = logger.handlers, logger.propagate, logger.level, logging.root.manager.disable

    def lines(level: str):
        write_logs(level)
        return lambda: [json.loads(line) for line in capsys.readouterr().err.splitlines()]

    yield lines
    logger.handlers, logger.propagate = before[:2]
    logger.setLevel(before[2])
    logging.disable(before[3])


def test_the_log_has_a_line_of_json_for_what_happens(logged):
    lines = logged("info")
    for server in serving(SETTINGS, BIDS):
        server.get("queries/nothing", 404)
        server.push((1, 1.0, 1))
        server.run("STOP QUERY hot")
        server.get("info")
    said = lines()
    assert {"time", "level", "logger", "message"} <= set(said[0])
    by_message = {each["message"]: each for each in said}
    refused = by_message["GET /api/queries/nothing"]
    assert (refused["level"], refused["status"]) == ("warning", 404)
    assert by_message["POST /api/statements"]["level"] == "info"
    assert "GET /api/info" not in by_message
    [start] = [each for each in said if each.get("event") == "start"]
    assert start["query"] == "hot"


def test_levels(logged):
    with pytest.raises(TidemillError, match="no log level `loud`"):
        write_logs("loud")
    lines = logged("error")
    for server in serving(SETTINGS, BIDS):
        server.get("queries/nothing", 404)
    assert lines() == []


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")
    cert, key = folder / "cert.pem", folder / "key.pem"
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *names]
    subprocess.run([*made, "-out", cert, "-keyout", key], check=True, capture_output=True)
    return cert, key


@pytest.fixture(scope="module")
def secure(certificate):
    cert, key = certificate
    server = Serving(replace(SETTINGS, port=0, tls_cert=cert, tls_key=key), BIDS)
    thread = threading.Thread(target=server.run)
    thread.start()
    assert server._starting.done.wait(60)
    yield server
    server.stop()
    thread.join()


def test_https(secure, certificate):
    assert secure.url.startswith("https://127.0.0.1:")
    context = ssl.create_default_context(cafile=certificate[0])
    assert httpx.get(f"{secure.url}readyz", verify=context).text == "ready\n"


def test_a_certificate_that_cannot_be_used_is_refused(tmp_path):
    (tmp_path / "x.pem").write_text("no certificate")
    with pytest.raises(TidemillError, match="cannot be used"):
        Serving(replace(SETTINGS, port=0, tls_cert=tmp_path / "x.pem", tls_key=tmp_path / "x.pem"))
    with pytest.raises(TidemillError, match="a certificate and its key"):
        Serving(replace(SETTINGS, port=0, tls_cert=tmp_path / "x.pem"))


def test_top_shows_every_query():
    server = Serving(replace(SETTINGS, port=0), BIDS)
    thread = threading.Thread(target=server.run)
    thread.start()
    assert server._starting.done.wait(60)
    try:
        said = CliRunner().invoke(app, ["top", server.url, "--once", "--every", "0.1"])
    finally:
        server.stop()
        thread.join()
    assert said.exit_code == 0, said.output
    assert "1 queries" in said.output
    assert [line.split()[:2] for line in said.output.splitlines()][2] == ["hot", "running"]
