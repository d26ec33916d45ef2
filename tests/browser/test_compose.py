"""Composing a plan: dragging operators, connecting and configuring them, and running the result."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from tests.browser.chromium import Watch
from tests.server.process import ServerProcess

PLACES = {"bid": 30, "Time window": 170, "Filter": 310, "Aggregate": 430}
"""Where operators are dropped, from the top of the canvas."""

FIRST_CHECK = 30_000
"""Milliseconds; a server that has just started compiles what checks a plan."""

DRAWN_AGAIN = 3
"""How often a line is drawn that missed: the canvas may move below it, as for a person."""

AT_REST = 5
"""So many looks in a row show an operator in one place."""


def offer(page: Page, name: str) -> Locator:
    """An operator of the palette."""
    palette = page.get_by_role("region", name="Operators")
    return palette.get_by_role("button", name=name, exact=True)


def drag(page: Page, name: str) -> None:
    canvas = page.get_by_test_id("canvas")
    offer(page, name).drag_to(canvas, target_position={"x": 360, "y": PLACES[name]})


def connect(page: Page, above: str, below: str, place: str = "input") -> None:
    """Draw a line from one operator to another."""
    start = page.get_by_label(f"result of {above}", exact=True)
    end = page.get_by_label(f"{place} of {below}", exact=True)
    drawn = edge(page, above, below)
    for _ in range(DRAWN_AGAIN):
        wait_until_at_rest(page, start)
        start.drag_to(end)
        page.wait_for_timeout(500)
        if drawn.count():
            break
    expect(drawn).to_have_count(1)


def wait_until_at_rest(page: Page, place: Locator) -> None:
    """Operators grow with what is found out about them, and a line begun then ends nowhere."""
    seen: list[object] = []
    while len(seen) < AT_REST or any(each != seen[-1] for each in seen[-AT_REST:]):
        seen.append(place.bounding_box())
        page.wait_for_timeout(60)


def edge(page: Page, above: str, below: str) -> Locator:
    """A line, with what is said of it."""
    return page.get_by_label(re.compile(f"^from {above} to {below}: "))


def settings(page: Page, operator: str) -> Locator:
    """The settings of an operator, which is selected for it."""
    page.get_by_test_id(f"operator-{operator}").locator("header").click()
    return page.get_by_role("region", name="Settings")


def test_a_plan_is_composed_by_dragging(page: Page, watch: Watch, server: ServerProcess):
    page.goto("/#/compose")
    expect(page.get_by_role("heading", name="Compose a query")).to_be_visible()
    watch.picture("empty")
    for name in PLACES:
        drag(page, name)
    # Before the first answer an operator has no columns, and its result is drawn higher up: a line
    # that is begun there ends nowhere when the answer comes.
    expect(page.get_by_role("tab", name="Problems (4)")).to_be_visible(timeout=FIRST_CHECK)
    expect(page.get_by_test_id("operator-scan1")).to_contain_text("price DOUBLE")
    page.get_by_role("button", name="Show the outcome").click()  # more room for the canvas
    for above, below in (("scan1", "time_window1"), ("time_window1", "filter1")):
        connect(page, above, below)
    connect(page, "filter1", "aggregate1")
    # Only now: the canvas moves a moment after the click, and a line begun then ends nowhere.
    page.get_by_role("button", name="Fit").click()

    settings(page, "time_window1").get_by_label("Size").fill("100")
    settings(page, "filter1").get_by_role("textbox", name="Condition").fill("bidder > 10")
    wrong = edge(page, "time_window1", "filter1")
    expect(wrong).to_have_accessible_name(re.compile("cannot compare STRING with INT"))
    expect(page.get_by_role("tab", name="Problems (1)")).to_be_visible()
    expect(edge(page, "scan1", "time_window1")).to_have_accessible_name(re.compile("fits"))
    wrong.focus()
    expect(page.get_by_role("tooltip")).to_contain_text("cannot compare")
    watch.picture("wrong")

    panel = settings(page, "filter1")
    panel.get_by_role("textbox", name="Condition").fill("price > 10")
    panel = settings(page, "aggregate1")
    panel.get_by_role("textbox", name="Group by 1").fill("item")
    panel.get_by_role("button", name="COUNT(*) AS n").click()
    expect(edge(page, "time_window1", "filter1")).to_have_accessible_name(re.compile("fits"))
    expect(page.get_by_test_id("operator-aggregate1")).to_contain_text("n BIGINT")
    page.get_by_role("button", name="Arrange").click()
    page.get_by_role("tab", name="SQL").click()
    expect(page.get_by_test_id("sql")).to_contain_text("FROM bid WINDOW(RANGE 100)")
    page.get_by_role("tab", name="Explain").click()
    expect(page.get_by_role("tabpanel")).to_contain_text("Aggregate")
    watch.picture("explain")

    page.get_by_role("textbox", name="Name of the query").fill("high_bids")
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("link", name="Show results").click()
    expect(page).to_have_url(re.compile("#/queries/high_bids$"))
    assert server.get("queries/high_bids")["state"] == "running"


def test_a_plan_is_composed_with_the_keyboard_alone(page: Page):
    page.goto("/#/compose")
    for name in ("bid", "auction", "Join"):
        offer(page, name).press("Enter")
    # The join reads both; what it reads can also be said by name.
    panel = page.get_by_role("region", name="Settings")
    right = panel.get_by_label("right", exact=True)
    expect(right).to_have_value("scan2")
    right.select_option("connect to…")
    expect(page.get_by_test_id("operator-join1")).to_contain_text("connect an input")
    right.select_option("scan2")
    panel.get_by_role("textbox", name="Condition").press_sequentially("bid.item = auction.it")
    page.get_by_role("option", name="auction.item").wait_for()
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").filter(has_text="valid")).to_be_visible()
    node = page.get_by_label(re.compile("^Join join1: bid.item = auction.item"))
    before = node.bounding_box()
    node.press("Enter")
    node.press("ArrowDown")
    assert node.bounding_box() != before
    node.press("Delete")
    expect(node).to_have_count(0)
    page.keyboard.press("Control+z")
    expect(node).to_have_count(1)


def test_a_query_is_opened_changed_and_run_at_both_levels(page: Page, server: ServerProcess):
    sql = "SELECT item, MAX(price) AS best FROM bid WINDOW(RANGE 50) GROUP BY item"
    server.run(f"CREATE QUERY best AS {sql}")
    page.goto("/#/compose/best")
    expect(page.get_by_test_id("sql")).to_contain_text("WINDOW(RANGE 50)")
    window = page.get_by_label(re.compile("^Time window n"))
    window.focus()
    window.press("Enter")
    page.get_by_role("region", name="Settings").get_by_label("Size").fill("70")
    expect(page.get_by_test_id("sql")).to_contain_text("WINDOW(RANGE 70)")
    page.reload()
    expect(page.get_by_test_id("sql")).to_contain_text("WINDOW(RANGE 70)")
    page.get_by_role("button", name="Replace").click()
    expect(
        page.get_by_role("status").filter(has_text="The query has this plan now")
    ).to_be_visible()
    assert "RANGE 70" in server.get("queries/best")["sql"]

    page.get_by_role("radio", name="Physical").click()
    expect(page.get_by_label(re.compile("^Source n1: bid"))).to_be_visible()
    expect(page.get_by_label(re.compile("^Time window n2: size 70"))).to_be_visible()
    expect(page.get_by_role("status").filter(has_text="valid")).to_be_visible()
    page.get_by_role("textbox", name="Name of the query").fill("by_hand")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("status").filter(has_text="by_hand runs")).to_be_visible()
