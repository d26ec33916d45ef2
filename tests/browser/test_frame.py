"""The frame of the page: where one can go, and whether the server is heard."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.chromium import Watch
from tests.server.process import ServerProcess


def test_every_view_can_be_reached(page: Page, watch: Watch):
    page.goto("/")
    expect(page.get_by_role("status").first).to_contain_text("live")
    for view in ("Graph", "Queries", "Compose", "Resources"):
        page.get_by_role("navigation", name="Views").get_by_role("link", name=view).click()
        expect(page).to_have_title(f"{view} · Tidemill")
        watch.picture(view.lower())
    assert watch.shift < 0.05


def test_a_server_that_goes_away_and_comes_back(page: Page, watch: Watch, server: ServerProcess):
    page.goto("/#/queries")
    sign = page.locator(".connection")
    expect(sign).to_have_text("live")
    server.stop()
    expect(sign).to_have_text("connection lost")
    watch.picture("lost")
    server.start()
    expect(sign).to_have_text("live")
    watch.troubles.forgive()  # the page asked in vain for a while
