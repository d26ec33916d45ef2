"""The view of the graph: parts that queries share, what they do, and the end of it."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.chromium import Watch
from tests.browser.conftest import Bids
from tests.server.process import ServerProcess

HIGHEST = "SELECT item, MAX(price) AS highest FROM bid WINDOW(RANGE 10) GROUP BY item"
COUNTED = "SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 10) GROUP BY item"


def test_a_second_query_shares_what_the_first_one_does(
    page: Page, watch: Watch, server: ServerProcess, bids: Bids
):
    page.goto("/#/graph")
    expect(page.locator(".part")).to_have_count(0)
    watch.picture("empty")
    server.run(f"CREATE QUERY highest AS {HIGHEST}; START QUERY highest")
    parts = page.locator(".part")
    expect(parts.first).to_be_visible()
    expect(page.locator(".part.shared")).to_have_count(0)
    alone = parts.count()

    server.run(f"CREATE QUERY counted AS {COUNTED}; START QUERY counted")
    shared = page.locator(".part.shared")
    expect(shared.first).to_be_visible()
    expect(shared.first).to_have_accessible_name(
        re.compile("used by (highest, counted|counted, highest)")
    )
    assert parts.count() < 2 * alone
    bids.push(*range(1, 30))
    kept = page.get_by_role("button", name=re.compile("^Aggregate")).first
    expect(kept.locator("[data-figure=state]")).to_have_text(re.compile("[1-9]"))
    watch.picture("shared")

    shared.first.click()
    details = page.get_by_role("complementary", name=re.compile("^Details of"))
    expect(details).to_contain_text("highest")
    expect(details).to_contain_text("counted")
    watch.picture("details")
    page.keyboard.press("Escape")
    expect(details).to_have_count(0)


def test_numbers_that_come_in_move_nothing(
    page: Page, watch: Watch, server: ServerProcess, bids: Bids
):
    server.run(f"CREATE QUERY highest AS {HIGHEST}; START QUERY highest")
    page.goto("/#/graph")
    expect(page.locator(".part").first).to_be_visible()
    bids.push(1, 2, 3)
    page.wait_for_load_state("networkidle")
    settled = watch.shift
    for _ in range(5):
        bids.push(*range(50))
    assert watch.shift - settled < 0.02


def test_when_everything_is_stopped_the_graph_is_empty(
    page: Page, watch: Watch, server: ServerProcess
):
    server.run(f"CREATE QUERY highest AS {HIGHEST}; START QUERY highest")
    server.run(f"CREATE QUERY counted AS {COUNTED}; START QUERY counted")
    page.goto("/#/queries")
    for name in ("highest", "counted"):
        page.get_by_role("button", name=f"Stop {name}").first.click()
        expect(page.get_by_role("button", name=f"Start {name}").first).to_be_visible()
    page.get_by_role("link", name="Graph", exact=True).click()
    expect(page.locator("main")).to_be_visible()
    expect(page.locator(".part")).to_have_count(0)
    watch.picture("stopped")


SMALL = """() => [...document.querySelectorAll('.stage *')].filter(each =>
  [...each.childNodes].some(node => node.nodeType === 3 && node.textContent.trim())
).map(each => {
  const view = each.closest('.react-flow__viewport');
  const zoom = view ? new DOMMatrix(getComputedStyle(view).transform).a : 1;
  return [each.textContent, zoom * parseFloat(getComputedStyle(each).fontSize)];
}).filter(([, size]) => size < 10.9 && size > 0)"""
"""Words in the graph that are too small to be read."""


def test_words_can_be_read_however_many_queries_run(
    page: Page, watch: Watch, server: ServerProcess
):
    for number in range(8):
        sql = f"{HIGHEST.replace('10', str(10 + number))}"
        server.run(f"CREATE QUERY q{number} AS {sql}; START QUERY q{number}")
    for width, height in ((1440, 900), (1024, 768), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        page.goto("/#/queries")
        page.goto("/#/graph")
        expect(page.locator(".part").first).to_be_visible()
        assert page.evaluate(SMALL) == []
        watch.picture(f"readable-{width}")


def test_queries_are_listed_with_what_they_ask_and_can_be_found(page: Page, server: ServerProcess):
    server.run(f"CREATE QUERY highest AS {HIGHEST}; START QUERY highest")
    server.run("CREATE QUERY sellers AS SELECT seller FROM auction; START QUERY sellers")
    page.goto("/#/graph")
    listed = page.get_by_role("navigation", name="Queries of the graph").get_by_role("listitem")
    expect(listed.filter(has_text="sellers")).to_contain_text("SELECT seller FROM auction")
    page.get_by_role("searchbox").fill("auction")
    expect(listed.filter(has_text="highest")).to_have_count(0)
    expect(listed.filter(has_text="sellers")).to_have_count(1)
