"""A server within the process of a test: an app over an engine with streams and queries."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from fastapi import FastAPI

from tidemill.server.app import create_app
from tidemill.server.service import Service
from tidemill.server.settings import Limits, Settings
from tidemill.server.startup import begin

HOST = "127.0.0.1"

SCRIPT = """
CREATE STREAM bid (item BIGINT, price DOUBLE, bidder STRING, at BIGINT) ORDERED BY at;
CREATE STREAM click (page STRING, cost DECIMAL(10, 2), ts TIMESTAMP) ORDERED BY ts SLACK 5 SECONDS;
CREATE RELATION blocked (bidder STRING, reason STRING) CHANGING;
CREATE STREAM dear AS SELECT item, price FROM bid [RANGE 10] WHERE price > 100;
CREATE QUERY highest AS SELECT item, MAX(price) AS price FROM bid [RANGE 10] GROUP BY item;
CREATE QUERY count_of AS SELECT COUNT(*) AS n FROM bid [RANGE 5];
CREATE QUERY pages AS SELECT page, SUM(cost) AS cost FROM click [RANGE 1 MINUTE] GROUP BY page;
START QUERY highest;
START QUERY pages;
"""


@dataclass
class Served:
    """The app, and what is behind it."""

    app: FastAPI
    service: Service
    settings: Settings
    rows: list[dict[str, Any]] = field(default_factory=list)


@contextmanager
def served(settings: Settings | None = None, script: str = SCRIPT) -> Iterator[Served]:
    """A server with a few rows; its ticks are made when the app is, too."""
    settings = settings or Settings(every=0.05, limits=Limits(queries=60, run_seconds=2.0))
    service = begin(settings, script)
    try:
        rows = [{"item": n % 3, "price": 10.5 * n, "bidder": "ann", "at": n} for n in range(20)]
        service.engine.push("bid", rows)
        service.graph.tick()
        yield Served(create_app(service, settings), service, settings)
    finally:
        service.stop()
