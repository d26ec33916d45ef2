"""A server that others can reach: nothing without the token, from a real other address."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

import tidemill.server.security as security
from tests.server.process import ServerProcess
from tests.server.served import served
from tidemill.cli import app
from tidemill.server.settings import Settings

# Two networks at once would have the same addresses.
pytestmark = pytest.mark.xdist_group("network")

TOKEN = "only-for-those-who-know"
SPACE = f"tidemill-{os.getpid()}"
HERE, THERE = "10.213.77.1", "10.213.77.2"
REFUSED = (401, 403)
STREAM = "CREATE STREAM bid (item BIGINT, at BIGINT) ORDERED BY at"
QUERY = "CREATE QUERY q AS SELECT item FROM bid; START QUERY q"


def _ip(*words: str) -> None:
    command = shutil.which("ip", path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    assert command is not None
    subprocess.run([command, *words], check=True, capture_output=True)


def _can_make_spaces() -> str | None:
    """Why there can be no second network; None if there can."""
    if os.geteuid() != 0:
        return "only root can make a network namespace"
    if shutil.which("ip", path=f"{os.environ['PATH']}:/usr/sbin:/sbin") is None:
        return "no `ip` on this machine: `make chromium` installs it"
    try:
        _ip("netns", "add", SPACE)
    except subprocess.CalledProcessError as error:
        return f"no network namespace can be made: {error.stderr.decode().strip()}"
    return None


@pytest.fixture(scope="module")
def other() -> Iterator[str]:
    """The name of another network, in which somebody has the address THERE."""
    if (reason := _can_make_spaces()) is not None:
        pytest.skip(reason)
    ends = (f"tm{os.getpid() % 10**7}a", f"tm{os.getpid() % 10**7}b")
    try:
        try:
            _ip("link", "add", ends[0], "type", "veth", "peer", "name", ends[1], "netns", SPACE)
        except subprocess.CalledProcessError as error:
            pytest.skip(f"no pair of network devices: {error.stderr.decode().strip()}")
        _ip("addr", "add", f"{HERE}/24", "dev", ends[0])
        _ip("link", "set", ends[0], "up")
        _ip("-n", SPACE, "addr", "add", f"{THERE}/24", "dev", ends[1])
        _ip("-n", SPACE, "link", "set", ends[1], "up")
        yield SPACE
    finally:
        _ip("netns", "del", SPACE)  # its device goes, and with it the other end


@pytest.fixture(scope="module")
def open_server(other: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server on an address that the other network reaches."""
    bearer = {"authorization": f"Bearer {TOKEN}"}
    folder = tmp_path_factory.mktemp("open")
    server = ServerProcess(
        folder, f"{STREAM};{QUERY}", "--every", "100 ms", host=HERE, headers=bearer, token=TOKEN
    )
    try:
        yield server.start()
    finally:
        if server.is_running:
            server.stop()


def from_there(other: str, url: str, asked: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What a client in the other network is answered; see `there.py`."""
    ip = shutil.which("ip", path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
    command = [str(ip), "netns", "exec", other, sys.executable, str(THERE_SCRIPT), url]
    done = subprocess.run(command, input=json.dumps(asked), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


THERE_SCRIPT = Path(__file__).with_name("there.py")


def routes(server: ServerProcess) -> list[dict[str, Any]]:
    """One request for every operation that the server describes, and what it does not describe."""
    paths = server.get("openapi.json")["paths"]
    found = [
        {"method": method.upper(), "path": path.replace("{name}", "q").replace("{node}", "0")}
        for path, methods in paths.items()
        for method in methods
    ]
    more = ("/api/openapi.json", "/api", "/api/", "/api/none", "/docs", "/redoc", "/metrics")
    return [*found, *({"method": "GET", "path": path} for path in more)]


@pytest.mark.parametrize("host", ["0.0.0.0", "::", HERE, "a.example"])
def test_no_server_for_others_without_a_token(host: str):
    done = CliRunner().invoke(app, ["serve", "--host", host, "--port", "0"])
    assert done.exit_code == 1
    assert f"a token is needed to listen on {host}" in " ".join(done.stderr.split())


WRONG = (
    {},
    {"authorization": "Bearer wrong"},
    {"authorization": f"Bearer {TOKEN}x"},
    {"authorization": f"Bearer {TOKEN[:-1]}"},
    {"authorization": f"Basic {TOKEN}"},
    {"authorization": "Bearer"},
    {"cookie": f"token={TOKEN}", "x-forwarded-for": "127.0.0.1", "host": "localhost"},
)


def test_every_route_is_closed_without_the_token(other: str, open_server: ServerProcess):
    every = [*routes(open_server), {"method": "GET", "path": f"/api/info?token={TOKEN}"}]
    asked = [{**each, "headers": wrong} for each in every for wrong in WRONG[:2]]
    asked += [{**every[0], "headers": wrong} for wrong in WRONG]
    assert len(asked) > 80
    for each, found in zip(asked, from_there(other, open_server.url, asked), strict=True):
        assert found["status"] in REFUSED, (each, found)
        assert "bid" not in found["text"]
        assert TOKEN not in found["text"]
    assert [each["name"] for each in open_server.get("queries")] == ["q"]


def test_routes_work_with_the_token_from_there(other: str, open_server: ServerProcess):
    known = {"authorization": f"Bearer {TOKEN}"}
    paths = ("info", "catalog", "queries", "graph", "queries/q/snapshot", "openapi.json")
    asked = [{"method": "GET", "path": f"/api/{path}", "headers": known} for path in paths]
    assert [each["status"] for each in from_there(other, open_server.url, asked)] == [200] * 6


def test_the_page_itself_is_for_everybody_and_tells_nothing(other: str, open_server: ServerProcess):
    asked = [{"method": "GET", "path": path, "headers": {}} for path in ("/", "/tidemill.svg")]
    for found in from_there(other, open_server.url, asked):
        assert found["status"] == 200
        assert TOKEN not in found["text"]


def test_the_socket_needs_the_token(other: str, open_server: ServerProcess):
    # The last of them is not encoded as it should be.
    wrong = ([], ["tidemill"], ["tidemill", "tidemill.wrong"], ["tidemill", f"tidemill.{TOKEN}"])
    asked = [{"socket": each, "token": TOKEN} for each in (*wrong, ["tidemill", "TOKEN"])]
    *refused, heard = from_there(other, open_server.url, asked)
    for each in refused:
        assert not each["heard"]
        assert each["status"] in (*REFUSED, 4401)
    assert heard["heard"]


# Loopback: no token, but nobody else's page and no other name.


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    server = ServerProcess(tmp_path_factory.mktemp("local"), STREAM, "--every", "100 ms")
    try:
        yield server.start()
    finally:
        if server.is_running:
            server.stop()


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "10.0.0.1", ""]
)
def test_other_names_do_not_lead_to_a_local_server(local: ServerProcess, host: str):
    """Whoever owns a name can let it lead to 127.0.0.1."""
    for path in ("/api/info", "/api/queries", "/"):
        assert local.http.get(path, headers={"host": host}).status_code in (400, 403)
    with (
        pytest.raises(InvalidStatus) as refused,
        connect(local.url.replace("http", "ws") + "/api/live", additional_headers={"Host": host}),
    ):
        pass
    assert refused.value.response.status_code in (400, 403)


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1"])
def test_pages_of_others_may_do_nothing(local: ServerProcess, origin: str):
    foreign = {"origin": origin}
    sql = {"sql": "CREATE QUERY stolen AS SELECT item FROM bid"}
    found = local.http.post("/api/statements", json=sql, headers=foreign)
    assert found.status_code == 403
    assert "access-control-allow-origin" not in found.headers
    asked = {**foreign, "access-control-request-method": "POST"}
    before = local.http.options("/api/statements", headers=asked)
    assert "access-control-allow-origin" not in before.headers
    assert local.get("queries") == []
    with (
        pytest.raises(InvalidStatus) as refused,
        connect(
            local.url.replace("http", "ws") + "/api/live",
            origin=origin,  # type: ignore[arg-type]
        ),
    ):
        pass
    assert refused.value.response.status_code == 403


def test_the_own_page_may(local: ServerProcess):
    own = {"origin": local.url}
    assert local.http.post("/api/check", json={"sql": "x"}, headers=own).status_code == 200
    with connect(local.url.replace("http", "ws") + "/api/live", origin=local.url) as socket:  # type: ignore[arg-type]
        socket.send('{"subscribe": ["queries"]}')
        assert json.loads(socket.recv(10))["topic"] == "queries"


def test_tokens_are_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch):
    compared: list[tuple[int, int]] = []
    real = security.compare_digest  # type: ignore[attr-defined]

    def spy(one: bytes, other: bytes) -> bool:
        compared.append((len(one), len(other)))
        return real(one, other)

    monkeypatch.setattr(security, "compare_digest", spy)
    with served(Settings(every=60, token=TOKEN)) as server:
        transport = httpx.ASGITransport(server.app)

        async def status(token: str) -> int:
            async with httpx.AsyncClient(transport=transport, base_url="http://a") as client:
                headers = {"authorization": f"Bearer {token}"}
                return (await client.get("/api/info", headers=headers)).status_code

        found = [asyncio.run(status(each)) for each in ("x", TOKEN[:-1], TOKEN)]
    assert found == [401, 401, 200]
    assert compared == [(32, 32)] * 3  # digests: not even the length of the token shows
