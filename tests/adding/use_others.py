"""Uses a rule, a sink or a route that was added, in a process of its own.

The arguments are what was added, and the runtime.
"""

from __future__ import annotations

import sys
import time
from importlib import import_module

import httpx

from tidemill import Engine

DAY = time.strftime("%Y-%m-%d")
BIDS = [{"item": 1, "at": 1}, {"item": 1, "at": 2}, {"item": 2, "at": 2}]


def use_rule(runtime: str) -> None:
    """The plan says so, and the answer stays."""
    engine = Engine(runtime=runtime)
    engine.stream("bid", BIDS, time="at")
    items = "SELECT item FROM bid WINDOW(RANGE 5)"
    query = engine.sql(f"{items} INTERSECT ALL {items}")
    assert "Intersection" in query.explain()
    assert "Intersection" not in query.explain("optimized")
    assert "merge_equal_sides" in query.explain("verbose")
    assert query.collect().equals(engine.sql(items).collect())


def use_sink(runtime: str) -> None:
    """By name: from SQL, from Python, and in a graph."""
    engine = Engine(runtime=runtime)
    engine.stream("bid", BIDS, time="at")
    items = "SELECT item FROM bid WINDOW(RANGE 5)"
    engine.sql(f"INSERT INTO count() {items}").start(available_now=True).await_termination()
    engine.sql(items).start(sink="count", available_now=True).await_termination()
    graph = engine.run(every=None)
    engine.sql(items).start(sink="count", name="items")
    graph.process_all_available()
    graph.stop()
    count = import_module("tidemill.connectors.sinks.count")
    assert vars(count)["CountSink"].rows == 3 * len(BIDS)


def use_route(runtime: str) -> None:
    """Over HTTP, by the method of the client, and described."""
    from tests.serving import served
    from tidemill.client import Client

    with served() as url, Client(url) as client:
        assert vars(Client)["today"](client).day in (DAY, time.strftime("%Y-%m-%d"))
        described = httpx.get(f"{url}/api/openapi.json").json()
    answer = described["paths"]["/api/today"]["get"]["responses"]["200"]
    assert answer["content"]["application/json"]["schema"]["$ref"].endswith("/Today")


USES = {"rule": use_rule, "sink": use_sink, "route": use_route}

if __name__ == "__main__":
    USES[sys.argv[1]](sys.argv[2])
    print("fine")
