"""A real server, and its page in the Chromium of the distribution."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.chromium import Watch, find_chromium, flags
from tests.server.process import ServerProcess

HERE = Path(__file__).parent
LAPTOP = {"width": 1366, "height": 768}
PATIENCE = 10_000
"""Milliseconds; two cores may be busy with other tests."""

STREAMS = """
CREATE STREAM bid (item BIGINT, price DOUBLE, bidder STRING, at BIGINT) ORDERED BY at;
CREATE STREAM auction (item BIGINT, seller STRING, reserve DOUBLE, at BIGINT) ORDERED BY at;
CREATE RELATION blocked (bidder STRING, reason STRING) CHANGING;
INSERT INTO blocked VALUES ('mallory', 'never pays')
"""


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist looks at the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One browser at a time."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.xdist_group("browser"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """For a module, not for longer: Playwright's loop would be in the way of other tests."""
    if (chromium := find_chromium()) is None:
        pytest.skip("no Chromium on this machine: `make chromium` installs it")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=flags())
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server with two streams and a relation, and ticks that come quickly."""
    folder = tmp_path_factory.mktemp("served")
    server = ServerProcess(folder, STREAMS, "--every", "100 ms")
    try:
        yield server.start()
    finally:
        if server.is_running:
            server.stop()


class Bids:
    """Bids that come one after the other, whichever test pushes them."""

    def __init__(self, server: ServerProcess) -> None:
        self._server = server
        self.now = 0

    def push(self, *prices: float, item: int = 1) -> None:
        """A bid of each price, one tick of time after the other, taken when this comes back."""
        rows = []
        for price in prices:
            self.now += 1
            rows.append({"item": item, "price": price, "bidder": "ann", "at": self.now})
        self._server.push("bid", rows, wait=True)


@pytest.fixture(scope="module")
def bids(server: ServerProcess) -> Bids:
    """Pushes bids; a query must read them."""
    return Bids(server)


@pytest.fixture(autouse=True)
def _no_queries(server: ServerProcess) -> Iterator[None]:
    """Every test begins without queries."""
    yield
    if server.is_running:
        for query in reversed(server.get("queries")):
            server.http.delete(f"/api/queries/{query['name']}")


@pytest.fixture
def page(browser: Browser, server: ServerProcess) -> Iterator[Page]:
    """A page that was not opened yet: `page.goto("/#/queries")`."""
    context = browser.new_context(base_url=server.url, viewport=LAPTOP, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    expect.set_options(timeout=PATIENCE)
    yield context.new_page()
    context.close()


@pytest.fixture(autouse=True)
def watch(page: Page, request: pytest.FixtureRequest) -> Iterator[Watch]:
    """Watches the page: a test fails for any trouble in it that it did not expect."""
    watch = Watch(page, request.node.name)
    yield watch
    watch.picture("end")
    assert not watch.troubles.left
