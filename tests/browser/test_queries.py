"""The view of queries: a mistake at its place, results as they arrive, plans, and all of it by
keyboard, on a phone, in the dark."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from tests.browser.chromium import Watch
from tests.browser.conftest import Bids
from tests.server.process import ServerProcess

WRONG = "SELECT item, MAX(prise) AS highest\nFROM bid WINDOW(RANGE 10)\nGROUP BY item"
RIGHT = WRONG.replace("prise", "price")
LONG_ENOUGH = [5, 6, 4, 9, 2] * 6
"""Prices until a query that starts late has seen a whole window: only then it answers."""
PHONE = {"width": 390, "height": 844}


def region(page: Page, name: str) -> Locator:
    return page.get_by_role("region", name=name, exact=True)


def write(page: Page, sql: str) -> None:
    """Put a text into the editor of new queries."""
    region(page, "New query").get_by_role("textbox", name="SQL").fill(sql)


def check(page: Page) -> Locator:
    """What the page thinks of the text."""
    return page.get_by_role("status", name="Check")


def test_a_query_from_a_mistake_to_its_results(page: Page, watch: Watch, bids: Bids):
    page.goto("/#/queries")
    write(page, WRONG)
    expect(page.locator(".cm-lintRange-error")).to_have_text("prise")
    expect(check(page)).to_have_text("1 error")
    problem = page.get_by_role("list", name="Problems")
    expect(problem).to_contain_text("prise")
    expect(problem).to_contain_text("price")  # what may have been meant
    watch.picture("mistake")

    write(page, RIGHT)
    expect(check(page)).to_have_text("no errors")
    expect(page.locator(".cm-lintRange-error")).to_have_count(0)
    page.get_by_role("textbox", name="Name").fill("highest")
    page.get_by_role("button", name="Start query").click()
    expect(region(page, "Query highest")).to_be_visible()
    bids.push(10, 30, 20)
    expect(region(page, "Changes").get_by_role("row", name="+ 1 30 2")).to_be_visible()
    page.get_by_role("button", name="Snapshot").click()
    rows = region(page, "Snapshot").get_by_role("row")
    expect(rows.nth(1)).to_contain_text("30")
    settled = watch.shift
    for price in (50, 40, 80, 60, 70, 75):
        bids.push(price)
    expect(rows.nth(1)).to_contain_text("80")
    chart = page.get_by_test_id("chart")
    expect(chart.locator("canvas").first).to_be_visible()
    watch.picture("results")
    assert watch.shift - settled < 0.02  # nothing jumps while rows come in

    region(page, "Queries").get_by_role("button", name="Stop highest").click()
    expect(region(page, "Query highest").get_by_text("stopped", exact=True)).to_be_visible()
    region(page, "Queries").get_by_role("button", name="Drop highest").click()
    page.get_by_role("group", name="Drop highest?").get_by_role("button", name="Drop").click()
    expect(region(page, "Queries").get_by_text("highest")).to_have_count(0)
    expect(page.get_by_role("heading", name="New query")).to_be_visible()
    watch.picture("dropped")


def test_rows_can_be_pushed_from_the_page(page: Page, server: ServerProcess):
    server.run("CREATE QUERY sellers AS SELECT seller FROM auction WINDOW(RANGE 100)")
    server.run("START QUERY sellers")
    page.goto("/#/queries")
    catalog = region(page, "Catalog")
    catalog.get_by_role("button", name="Columns of auction").click()
    form = catalog.get_by_role("form", name="Push rows into auction")
    form.get_by_role("button", name="Push 10 invented").click()
    expect(form.get_by_role("status")).to_have_text("10 rows pushed")


def test_the_plan_before_and_after_with_its_rules(page: Page, watch: Watch, server: ServerProcess):
    sql = (
        "SELECT b.item, b.price FROM bid WINDOW(RANGE 10) AS b "
        "JOIN auction WINDOW(RANGE 50) AS a ON a.item = b.item WHERE b.price > 5 AND a.reserve > 1"
    )
    server.run(f"CREATE QUERY joined AS {sql}; START QUERY joined")
    page.goto("/#/queries/joined")
    page.get_by_role("tab", name="Plan").click()
    before, after = region(page, "Before"), region(page, "After")
    expect(before).to_contain_text("Join")
    expect(after).to_contain_text("Join")
    left, right = before.bounding_box(), after.bounding_box()
    assert left is not None
    assert right is not None
    assert left["x"] + left["width"] <= right["x"] + 1  # side by side
    rules = page.get_by_role("list", name="Rules").get_by_role("button")
    assert rules.count() >= 1
    rules.first.click()
    watch.picture("plan")


def test_light_and_dark(page: Page, watch: Watch, server: ServerProcess, bids: Bids):
    server.run(f"CREATE QUERY highest AS {RIGHT}; START QUERY highest")
    bids.push(*LONG_ENOUGH)
    brightness: dict[str, int] = {}
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        page.goto("/#/queries/highest")
        expect(page.get_by_test_id("chart").locator("canvas").first).to_be_visible()
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        brightness[scheme] = sum(map(int, re.findall(r"\d+", colour)[:3]))
        watch.picture(scheme)
    assert brightness["dark"] < 200 < 600 < brightness["light"]


def test_a_phone_needs_no_scrolling_to_the_side(
    page: Page, watch: Watch, server: ServerProcess, bids: Bids
):
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    server.run(f"CREATE QUERY highest AS {RIGHT}; START QUERY highest")
    bids.push(*LONG_ENOUGH)
    for view in ("queries", "queries/highest", "graph", "compose", "resources"):
        page.goto(f"/#/{view}")
        expect(page.get_by_text("Loading…")).to_have_count(0)
        page.wait_for_load_state("networkidle")
        watch.picture(view.replace("/", "-"))
        assert watch.overflow <= 0, view


def tab_to(page: Page, name: str) -> None:
    """Press Tab until the focus is on something of that name."""
    script = "document.activeElement.ariaLabel ?? document.activeElement.innerText ?? ''"
    for _ in range(60):
        page.keyboard.press("Tab")
        if str(page.evaluate(script)).startswith(name):
            return
    raise AssertionError(f"`{name}` cannot be reached with Tab")


def test_starting_and_stopping_by_keyboard_alone(page: Page, watch: Watch, server: ServerProcess):
    page.goto("/#/queries")
    expect(region(page, "New query")).to_be_visible()
    tab_to(page, "SQL")
    page.keyboard.type("SELECT item FROM bid ")
    page.keyboard.press("Escape")  # no suggestion is wanted
    expect(check(page)).to_have_text("no errors")
    expect(page.locator(".cm-tooltip-autocomplete")).to_have_count(0)  # Escape is for the editor
    expect(page.get_by_role("button", name="Start query")).to_be_enabled()
    page.keyboard.press("Escape")  # and Tab shall leave the editor
    tab_to(page, "Start query")
    watch.picture("focus")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("#/queries/query1$"))
    assert [each["state"] for each in server.get("queries")] == ["running"]
    tab_to(page, "Stop query1")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Start query1").first).to_be_visible()
    assert [each["state"] for each in server.get("queries")] == ["stopped"]
