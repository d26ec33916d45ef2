"""Rows per second that a server takes and acknowledges, with either durability.

Clients push rows over HTTP, each of them the next request when the last one was answered: 1 or 50
of them, with 1 to 1,000 rows per request. A query counts the rows. The clients are in one process
on the same machine, and take a share of it. Goal: with 100 rows and 50 clients, rows that survive
the machine come at least half as fast as those that survive the process.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import tempfile
import time
from itertools import pairwise
from pathlib import Path

from benchmarks import _harness
from benchmarks._harness import Figure, Report
from benchmarks._serving import post_again, served

STREAM = """
CREATE STREAM bid (item BIGINT, price DOUBLE, bidder STRING, at BIGINT) ORDERED BY at SLACK 5000;
CREATE QUERY counts AS SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 10000) GROUP BY item;
START QUERY counts
"""
BATCHES = (1, 10, 100, 1000)
CLIENTS = (1, 50)
GOAL = (100, 50)
AT_LEAST = 0.5


def main(arguments: list[str] | None = None) -> None:
    asked = _harness.options(__doc__ or "", arguments)
    seconds = 0.5 if asked.quick else 3.0
    report = Report("acknowledged pushes", {"seconds": seconds, "runtime": "inprocess"})
    rates: dict[tuple[str, int, int], float] = {}
    for durability in ("process", "machine"):
        with tempfile.TemporaryDirectory() as folder:
            options = ("--runtime", "inprocess", "--durability", durability)
            with served(Path(folder), STREAM, *options) as server:
                for batch, clients in _cases(asked):
                    rates[durability, batch, clients] = _measure(
                        report, server.port, durability, batch, clients, seconds
                    )
    for batch, clients in _cases(asked):
        share = rates["machine", batch, clients] / rates["process", batch, clients]
        goal = AT_LEAST if (batch, clients) == GOAL else None
        case = _case(batch, clients)
        report.figures.append(Figure(case, "machine / process", "", share, goal=goal))
    _harness.present(report, "Acknowledged pushes", asked)


def _cases(asked: _harness.Options) -> list[tuple[int, int]]:
    every = [(batch, clients) for clients in CLIENTS for batch in BATCHES]
    return [case for case in every if asked.only in _case(*case)]


def _case(batch: int, clients: int) -> str:
    return f"{batch} rows, {clients} clients"


def _measure(
    report: Report, port: int, durability: str, batch: int, clients: int, seconds: float
) -> float:
    """Rows per second, and how long a client waits for an answer."""
    rows = [{"item": n % 10, "price": n / 7, "bidder": f"b{n % 5}", "at": 0} for n in range(batch)]
    body = json.dumps(rows).replace('"at": 0', '"at": NOW').encode()
    asyncio.run(_push(port, body, clients, seconds / 3))
    began = time.monotonic()
    answers = asyncio.run(_push(port, body, clients, seconds))
    took = time.monotonic() - began
    rate = batch * sum(map(len, answers)) / took
    waits = [b - a for each in answers for a, b in pairwise(each)]
    case = f"{_case(batch, clients)}, {durability}"
    report.figures.append(Figure(case, "acknowledged", "rows/s", rate))
    if waits:
        report.figures.append(Figure(case, "median", "ms", 1000 * statistics.median(waits)))
    return rate


async def _push(port: int, body: bytes, clients: int, seconds: float) -> list[list[float]]:
    until = time.monotonic() + seconds
    pushes = (post_again(port, "streams/bid/rows", body, until) for _ in range(clients))
    return await asyncio.gather(*pushes)


if __name__ == "__main__":
    main()
