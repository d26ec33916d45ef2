"""Who may use a server, over HTTP and over the socket."""

from dataclasses import replace

import pytest
from starlette.websockets import WebSocketDisconnect

from tests.server.conftest import SETTINGS, serving
from tidemill import TidemillError
from tidemill.server.security import refuse_open_door

TOKEN = "a long secret"
RIGHT = {"authorization": f"Bearer {TOKEN}"}


@pytest.fixture(scope="module")
def guarded():
    yield from serving(replace(SETTINGS, host="0.0.0.0", token=TOKEN))


@pytest.fixture(scope="module")
def local():
    yield from serving()


def _routes(server):
    document = server.http.get("/api/openapi.json", headers=RIGHT).json()
    for path, methods in document["paths"].items():
        for method in methods:
            yield method.upper(), path.replace("{node}", "1").replace("{name}", "x")


def test_every_route_needs_the_token(guarded):
    routes = [*_routes(guarded), ("GET", "/api/openapi.json"), ("GET", "/api/nothing")]
    assert len(routes) > 25
    wrong = [{}, {"authorization": "Bearer no"}, {"authorization": f"Basic {TOKEN}"}]
    for method, path in routes:
        for headers in wrong:
            said = guarded.http.request(method, path, headers=headers)
            assert said.status_code == 401, (method, path)
            assert said.headers["www-authenticate"] == "Bearer"
            assert TOKEN not in said.text
    assert guarded.http.get("/api/info", headers=RIGHT).json()["authenticated"] is True


def test_a_token_in_the_address_does_not_count(guarded):
    assert guarded.http.get(f"/api/info?token={TOKEN}").status_code == 401


def test_the_page_itself_is_for_everybody(guarded):
    said = guarded.http.get("/")
    assert said.status_code == 200
    assert "script-src 'self'" in said.headers["content-security-policy"]


def _refused(server, **options):
    with (
        pytest.raises(WebSocketDisconnect) as closed,
        server.socket(**options) as socket,
    ):
        socket.receive_text()
    return closed.value.code


def test_the_socket_needs_the_token(guarded):
    assert _refused(guarded, subprotocols=["tidemill"]) == 4401
    assert _refused(guarded, subprotocols=["tidemill", "tidemill.bm8"]) == 4401
    right = "tidemill.YSBsb25nIHNlY3JldA"
    with guarded.socket(subprotocols=["tidemill", right]) as socket:
        assert socket.accepted_subprotocol == "tidemill"
    with guarded.socket(headers=RIGHT):
        pass


def test_a_socket_without_our_protocol_is_refused_at_once(guarded):
    from starlette.testclient import WebSocketDenialResponse

    with (
        pytest.raises(WebSocketDenialResponse) as said,
        guarded.socket(),
    ):
        pass
    assert said.value.status_code == 401


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8321", "10.0.0.1", "[::", ""])
def test_other_names_do_not_lead_to_a_local_server(local, host):
    assert local.http.get("/api/info", headers={"host": host}).status_code == 403
    assert local.http.get("/", headers={"host": host}).status_code == 403


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:99", "[::1]:8321", "LOCALHOST:1"])
def test_names_of_this_machine_do(local, host):
    assert local.http.get("/api/info", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:99", "http://["]
)
def test_pages_of_others_may_not_use_it(local, origin):
    headers = {"origin": origin}
    said = local.http.post("/api/statements", json={"sql": "SELECT 1"}, headers=headers)
    assert said.status_code == 403
    assert "access-control-allow-origin" not in said.headers
    preflight = {**headers, "access-control-request-method": "POST"}
    assert local.http.options("/api/statements", headers=preflight).status_code == 403
    from starlette.testclient import WebSocketDenialResponse

    with (
        pytest.raises(WebSocketDenialResponse),
        local.socket(headers=headers),
    ):
        pass


def test_its_own_page_may(local):
    headers = {"origin": "http://127.0.0.1:8321"}
    assert local.http.post("/api/check", json={"sql": ""}, headers=headers).status_code == 200


def test_a_server_that_others_can_reach_needs_a_token():
    with pytest.raises(TidemillError, match="a token is needed to listen on"):
        refuse_open_door(replace(SETTINGS, host="0.0.0.0"))
    with pytest.raises(TidemillError, match="at least 8 characters"):
        refuse_open_door(replace(SETTINGS, token="short"))
    refuse_open_door(replace(SETTINGS, host="0.0.0.0", token=TOKEN))
    refuse_open_door(SETTINGS)


def test_the_token_is_in_no_picture_of_the_settings():
    assert TOKEN not in repr(replace(SETTINGS, token=TOKEN))
