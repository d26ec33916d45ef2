"""A page in a real browser, with everything that goes wrong in it written down."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from playwright.sync_api import ConsoleMessage, Page, Request, Response

ROOT = Path(__file__).parents[2]
SCREENSHOTS = ROOT / "build" / "screenshots"

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

# Shifts that follow an input within half a second are what the user asked for.
_WATCH_SHIFTS = """
window.shifted = 0;
new PerformanceObserver((list) => {
  for (const each of list.getEntries()) if (!each.hadRecentInput) window.shifted += each.value;
}).observe({ type: "layout-shift", buffered: true });
"""


def find_chromium() -> str | None:
    """The browser of the distribution."""
    return next(filter(None, map(shutil.which, NAMES)), None)


def flags() -> list[str]:
    """How it is started; its sandbox does not work for root."""
    return [*FLAGS, *(["--no-sandbox"] if os.geteuid() == 0 else [])]


class Troubles:
    """What went wrong in a page: errors of its code, requests that failed or were refused."""

    def __init__(self, page: Page) -> None:
        self._found: list[str] = []
        self._expected: set[int] = set()
        page.on("pageerror", lambda error: self._found.append(f"error: {error}"))
        page.on("console", self._console)
        page.on("requestfailed", self._failed)
        page.on("response", self._answered)

    def expect(self, *statuses: int) -> None:
        """Answers of these kinds belong to the test."""
        self._expected.update(statuses)

    def forgive(self) -> None:
        """What went wrong until now belongs to the test."""
        self._found.clear()

    @property
    def left(self) -> list[str]:
        """What nobody expected."""
        return list(self._found)

    def _console(self, message: ConsoleMessage) -> None:
        # Answers that are errors are looked at where they come in.
        if message.type == "error" and not message.text.startswith("Failed to load resource"):
            self._found.append(f"console: {message.text}")

    def _failed(self, request: Request) -> None:
        # The page gave these up itself.
        if request.failure != "net::ERR_ABORTED":
            self._found.append(f"{request.method} {request.url}: {request.failure}")

    def _answered(self, response: Response) -> None:
        if response.status >= 400 and response.status not in self._expected:
            request = response.request
            self._found.append(
                f"{request.method} {request.url} {request.post_data or ''}: {response.status}"
            )


class Watch:
    """Looks at a page for a test: pictures of it, its troubles, and whether it jumps about."""

    def __init__(self, page: Page, test: str) -> None:
        page.add_init_script(_WATCH_SHIFTS)
        self.troubles = Troubles(page)
        self._page, self._test = page, test

    def picture(self, point: str) -> None:
        """Keep what the page looks like at a named point of the test."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self._page.screenshot(path=SCREENSHOTS / f"{self._test}-{point}.png")

    @property
    def shift(self) -> float:
        """How much of the page moved on its own since it was opened (1: all of it)."""
        return float(self._page.evaluate("window.shifted"))

    @property
    def overflow(self) -> int:
        """By how many pixels the page is wider than the window."""
        script = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        return int(self._page.evaluate(script))
