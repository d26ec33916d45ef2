"""A server in this process, whose ticks come when somebody waits for one."""

import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tidemill.server import Limits, Settings, begin, create_app

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it would rather have another version of httpx
    from starlette.testclient import TestClient

SETTINGS = Settings(every=3600.0)
BASE = "http://127.0.0.1:8321"

BIDS = """
CREATE STREAM bid (item BIGINT, price DOUBLE, at BIGINT) ORDERED BY at;
CREATE QUERY hot AS SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 10) GROUP BY item;
START QUERY hot
"""


class Server:
    """What tests ask of a server."""

    def __init__(self, client: TestClient) -> None:
        self.http = client

    def get(self, path: str, status: int = 200, **parameters: Any) -> Any:
        """What a route under /api says."""
        return self._said(self.http.get(f"/api/{path}", params=parameters), status)

    def post(self, path: str, body: Any = None, status: int = 200, **parameters: Any) -> Any:
        """What a route under /api answers."""
        return self._said(self.http.post(f"/api/{path}", json=body, params=parameters), status)

    def call(self, method: str, path: str, body: Any = None, status: int = 200) -> Any:
        """What a route under /api answers to a method."""
        return self._said(self.http.request(method, f"/api/{path}", json=body), status)

    def run(self, sql: str, status: int = 200) -> Any:
        """Run statements."""
        return self.post("statements", {"sql": sql}, status)

    def push(self, *rows: tuple[int, float, int]) -> None:
        """Push bids, and wait for the tick that takes them."""
        bids = [dict(zip(("item", "price", "at"), row, strict=True)) for row in rows]
        self.post("streams/bid/rows", bids, wait="true")

    def socket(self, **options: Any) -> Any:
        """A socket; the client would not say the name of the server by itself."""
        return self.http.websocket_connect(f"{BASE.replace('http', 'ws')}/api/live", **options)

    def _said(self, response: Any, status: int) -> Any:
        assert response.status_code == status, response.text
        assert response.headers["content-type"] == "application/json"
        return response.json()


def serving(settings: Settings = SETTINGS, script: str = "", **options: Any) -> Iterator[Server]:
    app = create_app(begin(settings, script), settings)
    with TestClient(app, base_url=BASE, **options) as client:
        yield Server(client)


@pytest.fixture
def server() -> Iterator[Server]:
    """A server without anything."""
    yield from serving()


@pytest.fixture
def bids() -> Iterator[Server]:
    """A server with a stream of bids, and a query that runs."""
    yield from serving(script=BIDS)


@pytest.fixture(scope="module")
def shared() -> Iterator[Server]:
    """The same, for tests that leave it as it is."""
    yield from serving(script=BIDS)


@pytest.fixture
def limited(request: pytest.FixtureRequest) -> Iterator[Server]:
    """A server with some limit, which the test names."""
    yield from serving(replace(SETTINGS, limits=Limits(**request.param)), BIDS)
