"""The page over a large graph: how smooth it is while numbers stream in, in a real browser.

A server of its own runs more than 500 parts and tells the page of all of them with every tick. The
page is opened in Chromium, which draws by software here. Frames are what requestAnimationFrame
sees: one that comes late is one in which somebody saw the page stand still.
"""

from __future__ import annotations

from benchmarks._harness import Figure, Options, Report, options, present  # isort: split

import random
import shutil
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from threading import Event, Thread
from typing import Any

import uvicorn
from playwright.sync_api import CDPSession, Page, sync_playwright

from tidemill import Engine
from tidemill.server.app import create_app
from tidemill.server.service import Service
from tidemill.server.settings import Limits, Settings
from tidemill.server.statements import Scripts

STREAMS = 4
QUERIES = 170
EVERY = 0.25
"""Seconds between two ticks."""
SMOOTH = 34.0
"""Milliseconds: at 60 frames a second, at most one is left out."""
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]

_WATCH = """
window.seen = { frames: [], tasks: [], shift: 0, told: 0 };
const native = window.WebSocket;
window.WebSocket = class extends native {
  constructor(...all) {
    super(...all);
    this.addEventListener("message", ({ data }) => {
      seen.told += data.startsWith('{"topic":"measures"');
    });
  }
};
const watch = (type, take) => {
  const observer = new PerformanceObserver((list) => list.getEntries().forEach(take));
  observer.observe({ type, buffered: true });
};
watch("layout-shift", (each) => (seen.shift += each.value));
watch("longtask", (each) => seen.tasks.push(each.duration));
let before = performance.now();
requestAnimationFrame(function frame(now) {
  seen.frames.push(now - before);
  before = now;
  requestAnimationFrame(frame);
});
"""


_PLACES = (("as it opens", "", 0), ("near", "Closer", 4), ("all of it", "Fit", 1))
"""From where the graph is looked at, and how to get there."""


def script() -> str:
    """Streams that are pushed into, and queries of which each has parts of its own."""
    streams = [
        f"CREATE STREAM s{n} (item BIGINT, price BIGINT, ts TIMESTAMP) ORDERED BY ts"
        for n in range(STREAMS)
    ]
    queries = [f"CREATE QUERY q{n} AS SELECT {_asked(n)}; START QUERY q{n}" for n in range(QUERIES)]
    return ";\n".join(streams + queries)


def _asked(n: int) -> str:
    """Cheap questions for the most part: it is the page that is measured."""
    rows = f"FROM s{n % STREAMS} WINDOW(RANGE {1 + n % 12} MINUTES) WHERE price > {n}"
    if n % 20 == 0:
        return f"item, COUNT(*) AS bids, MAX(price) AS best {rows} GROUP BY item"
    return f"item, price * {n} AS value {rows}"


@contextmanager
def served() -> Iterator[tuple[str, Service]]:
    """A server with its queries, and rows that come all the time."""
    settings = Settings(port=0, every=EVERY, limits=Limits(queries=2 * QUERIES))
    service = Service(Engine(runtime="inprocess"), settings)
    with service.graph.together():
        Scripts(service).run(script())
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(create_app(service, settings), log_config=None))
    stop = Event()
    threads = [
        Thread(target=server.run, args=([listening],), daemon=True),
        Thread(target=_feed, args=(service, stop), daemon=True),
    ]
    for thread in threads:
        thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/", service
    finally:
        stop.set()
        server.should_exit = True
        for thread in threads:
            thread.join()


def _feed(service: Service, stop: Event) -> None:
    dice = random.Random(1)
    while not stop.wait(0.1):
        now = int(time.time() * 1e6)
        for n in range(STREAMS):
            rows = [
                {"item": dice.randrange(20), "price": dice.randrange(300), "ts": now}
                for _ in range(1 + 2 * n)
            ]
            service.engine.push(f"s{n}", rows)


@contextmanager
def opened(url: str) -> Iterator[tuple[Page, CDPSession]]:
    """The page in a browser, watched from its first moment on."""
    with sync_playwright() as playwright, ExitStack() as after:
        browser = playwright.chromium.launch(executable_path=_chromium(), args=FLAGS)
        after.callback(browser.close)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.add_init_script(_WATCH)
        page.goto(f"{url}#/graph")
        page.wait_for_selector(".part", timeout=60_000)
        page.wait_for_timeout(3_000)
        yield page, page.context.new_cdp_session(page)


def _chromium() -> str | None:
    """The browser of the system; Playwright's own if there is none."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


def idle(page: Page, seconds: float) -> None:
    page.wait_for_timeout(seconds * 1000)


def pan(page: Page, seconds: float) -> None:
    """Drag the graph to and fro."""
    end, step = time.monotonic() + seconds, 0
    page.mouse.move(760, 520)
    page.mouse.down()
    while time.monotonic() < end:
        step += 1
        page.mouse.move(760 + 300 * _wave(step, 60), 420 + 200 * _wave(step, 45))
        page.wait_for_timeout(8)
    page.mouse.up()


def zoom(page: Page, seconds: float) -> None:
    """Turn the wheel: closer, and away again."""
    end, step = time.monotonic() + seconds, 0
    page.mouse.move(760, 420)
    while time.monotonic() < end:
        step += 1
        page.mouse.wheel(0, 60 if step % 60 < 30 else -60)
        page.wait_for_timeout(12)


def _wave(step: int, length: int) -> float:
    """From -1 to 1 and back."""
    return 1 - abs(step % (2 * length) - length) * 2 / length


@dataclass
class Watch:
    """A page that is watched, with its debugger."""

    page: Page
    session: CDPSession
    parts: int

    def heap(self) -> float:
        """The memory of its objects, in MB."""
        self.session.send("HeapProfiler.collectGarbage")
        return float(self.session.send("Runtime.getHeapUsage")["usedSize"]) / 1e6

    def spent(self) -> float:
        """Seconds of a core that its main thread had: what others take does not count."""
        self.session.send("Performance.enable", {"timeDomain": "threadTicks"})
        found = self.session.send("Performance.getMetrics")["metrics"]
        return float(next(each["value"] for each in found if each["name"] == "TaskDuration"))


def watched(
    case: str, watch: Watch, seconds: float, action: Callable[[Page, float], None]
) -> Iterator[Figure]:
    """The frames of a stretch of time, and what the page itself did in it."""
    page = watch.page
    page.evaluate("seen.frames = []; seen.tasks = []; seen.told = 0")
    begin, spent = time.monotonic(), watch.spent()
    action(page, seconds)
    passed, spent = time.monotonic() - begin, watch.spent() - spent
    seen: dict[str, Any] = page.evaluate("({ ...seen })")
    frames = sorted(seen["frames"])
    late = sum(frame > 50 for frame in frames) / len(frames) * 100
    told = seen["told"] * watch.parts / passed
    yield Figure(case, "frame, median", "ms", frames[len(frames) // 2])
    yield Figure(case, "frame, 95 of 100", "ms", _share(frames, 0.95), goal=SMOOTH, less=True)
    yield Figure(case, "frame, worst", "ms", frames[-1])
    yield Figure(case, "frames above 50 ms", "%", late)
    yield Figure(case, "long tasks", "per second", len(seen["tasks"]) / passed)
    yield Figure(case, "main thread, of a core", "%", spent / passed * 100)
    yield Figure(case, "updates of parts", "per second", told, goal=1000)


def _share(ordered: list[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def figures(asked: Options) -> Iterator[Figure]:
    """All that is seen as the page opens, from near, and with all parts in sight."""
    seconds = 3.0 if asked.quick else 15.0
    actions = {"still": idle, "panning": pan, "zooming": zoom}
    with served() as (url, service), opened(url) as (page, session):
        watch = Watch(page, session, len(service.graph.operators))
        yield Figure("graph", "parts", "", watch.parts, goal=500)
        yield Figure("page", "layout shift while it opens", "", page.evaluate("seen.shift"))
        page.evaluate("seen.shift = 0")
        before = watch.heap()
        for place, button, clicks in _PLACES:
            for _ in range(clicks):
                page.get_by_role("button", name=button).click()
                page.wait_for_timeout(500)
            for name, action in actions.items():
                if asked.only in (case := f"{place}, {name}"):
                    yield from watched(case, watch, seconds, action)
        yield Figure("page", "layout shift", "", page.evaluate("seen.shift"), goal=1e-9, less=True)
        yield Figure("page", "heap at first", "MB", before)
        yield Figure("page", "heap at the end", "MB", watch.heap())


def main() -> None:
    asked = options(__doc__ or "")
    report = Report("page", {"streams": STREAMS, "queries": QUERIES, "every": EVERY})
    report.figures += figures(asked)
    present(report, "The page over a large graph", asked)


if __name__ == "__main__":
    sys.exit(main())
