"""Uses a rule, a sink or a route that was added, in a process of its own."""

from __future__ import annotations

import sys
import time
from importlib import import_module

from tidemill import Engine

BIDS = [{"item": 1, "at": 1}, {"item": 1, "at": 2}, {"item": 2, "at": 2}]


def use_rule() -> None:
    """The plan says so, and the answer stays."""
    engine = Engine(runtime="inprocess")
    engine.stream("bid", BIDS, time="at")
    items = "SELECT item FROM bid WINDOW(RANGE 5)"
    query = engine.sql(f"{items} INTERSECT ALL {items}")
    assert "Intersection" in query.explain()
    assert "Intersection" not in query.explain("optimized")
    assert "merge_equal_sides" in query.explain("verbose")
    assert query.collect().equals(engine.sql(items).collect())


def use_sink() -> None:
    """By name, from Python and SQL."""
    count = import_module("tidemill.connectors.sinks.count")

    engine = Engine(runtime="inprocess")
    engine.stream("bid", BIDS, time="at")
    query = engine.sql("INSERT INTO count() SELECT item FROM bid WINDOW(RANGE 5)")
    query.start(available_now=True).await_termination()
    assert vars(count)["CountSink"].rows == len(BIDS)


def use_route() -> None:
    """Over HTTP, and described."""
    from fastapi import FastAPI

    from tidemill.client import Client
    from tidemill.server.routes import info

    app = FastAPI()
    app.include_router(info.routes)
    answer = app.openapi()["paths"]["/today"]["get"]["responses"]["200"]
    assert answer["content"]["application/json"]["schema"]["$ref"].endswith("/Today")
    assert vars(info)["today"](None).day == time.strftime("%Y-%m-%d")
    assert hasattr(Client, "today")


USES = {"rule": use_rule, "sink": use_sink, "route": use_route}

if __name__ == "__main__":
    USES[sys.argv[1]]()
    print("fine")
