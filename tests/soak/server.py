"""Many clients read results from a server: `python -m tests.soak.server --seconds 300`."""

from __future__ import annotations

import argparse
import asyncio
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from rich.console import Console
from rich.table import Table

from tests.server.process import ROOT, ServerProcess
from tests.soak.clients import Clients, Seen, sample

SCRIPT = """
CREATE STREAM bid (item BIGINT, price DOUBLE, bidder STRING, at BIGINT) ORDERED BY at;
CREATE QUERY highest AS SELECT item, MAX(price) AS price FROM bid WINDOW(RANGE 100) GROUP BY item;
CREATE QUERY counted AS SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 100) GROUP BY item;
CREATE QUERY dear AS SELECT item, price FROM bid WINDOW(RANGE 50) WHERE price > 150;
CREATE QUERY bidders AS SELECT bidder, COUNT(*) AS n, AVG(price) AS mean FROM bid WINDOW(ROWS 500)
GROUP BY bidder;
START QUERY highest; START QUERY counted; START QUERY dear; START QUERY bidders
"""
WARM = 0.2
"""The share of the time after which memory must not grow any more."""
MOST = 800.0
"""Megabytes that the server may have in memory."""
GROWTH = 0.10
"""By which share of itself the memory may seem to grow while it is measured."""

Samples = list[tuple[float, float]]


def resident(pid: int) -> float:
    """The megabytes of a process that are in memory."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def growth(samples: Samples) -> float:
    """By how many megabytes memory grows after it is warm, along a straight line."""
    times, sizes = map(np.array, zip(*samples, strict=True))
    warm = times >= WARM * times[-1]
    slope = np.polyfit(times[warm], sizes[warm], 1)[0]
    return float(slope * (times[-1] - times[warm][0]))


async def read(server: ServerProcess, seconds: float, many: int) -> tuple[Seen, Samples]:
    """Let clients read for so long; what they saw, and the memory of the server."""
    until = time.monotonic() + seconds
    clients = Clients(server.url, many, until)
    sizes = asyncio.create_task(sample(lambda: resident(server.process.pid), until))
    await clients.run()
    return clients.seen, await sizes


def table_of(seen: Seen) -> Table:
    """How long everything took."""
    table = Table("what", "times", "p50 ms", "p95 ms", "p99 ms", "most ms")
    for kind, seconds in seen.seconds.items():
        figures = np.percentile(seconds, [50, 95, 99, 100]) * 1000
        table.add_row(kind, f"{len(seconds):,}", *(f"{each:.0f}" for each in figures))
    for kind, count in sorted(seen.counts.items()):
        table.add_row(kind, f"{count:,}")
    return table


def draw(samples: Samples, file: Path) -> None:
    """A picture of the memory, where there is something to draw it with."""
    try:
        from matplotlib import pyplot
    except ImportError:
        return
    file.parent.mkdir(exist_ok=True)
    figure, axes = pyplot.subplots(figsize=(8, 3))
    axes.plot(*zip(*samples, strict=True))
    axes.set(xlabel="seconds", ylabel="MB in memory", ylim=(0, None))
    figure.savefig(file, bbox_inches="tight")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--clients", type=int, default=200)
    wanted = parser.parse_args()
    with TemporaryDirectory() as folder:
        server = ServerProcess(Path(folder), SCRIPT, "--every", "250 ms", "--max-kept", "2000")
        server.start()
        try:
            seen, samples = asyncio.run(read(server, wanted.seconds, wanted.clients))
            assert server.is_running, server.log
        finally:
            status = server.stop() if server.is_running else -1
    draw(samples, ROOT / "build" / "soak-server.png")
    console, grown, last = Console(), growth(samples), samples[-1][1]
    console.print(table_of(seen))
    console.print(f"memory: {samples[0][1]:.0f} MB first, {last:.0f} MB last, {grown:+.0f} MB warm")
    assert not seen.errors, f"{len(seen.errors)} errors, such as {seen.errors[:5]}"
    assert last < MOST, f"the server has {last:.0f} MB in memory"
    assert grown < GROWTH * last, f"memory grows by {grown:.0f} MB in {wanted.seconds:.0f} s"
    assert status == 0, f"the server ended with {status}"


if __name__ == "__main__":
    main()
