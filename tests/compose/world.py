"""What the tests of this folder compose plans over."""

from __future__ import annotations

from typing import Any

from tidemill.compose import CheckedPlan, check
from tidemill.engine import Engine

SCRIPT = """
CREATE STREAM bid (item STRING, price BIGINT, at BIGINT) ORDERED BY at;
CREATE STREAM ask (item STRING, ask BIGINT, at BIGINT) ORDERED BY at;
CREATE STREAM trade (symbol STRING, volume BIGINT, ts TIMESTAMP) ORDERED BY ts;
CREATE RELATION blocked (item STRING, reason STRING) CHANGING;
CREATE STREAM dear AS SELECT item, price FROM bid WINDOW(RANGE 10) WHERE price > 100;
"""


def world(**settings: Any) -> Engine:
    """An engine with streams, a relation and a derived stream."""
    engine = Engine(runtime="inprocess", **settings)
    engine.script(SCRIPT)
    engine.relation("category", [{"id": "lamp", "name": "light"}])
    return engine


def node(id: str, kind: str, /, *inputs: str, **settings: Any) -> dict[str, Any]:
    """A node of a composed plan."""
    return {"id": id, "kind": kind, "settings": settings, "inputs": list(inputs)}


def checked(
    *nodes: dict[str, Any], level: str = "logical", output: str | None = None
) -> CheckedPlan:
    """What is found out about a plan."""
    return check(world(), {"level": level, "nodes": nodes, "output": output})


def one_line(sql: str | None) -> str:
    """SQL without line breaks, to compare it."""
    return " ".join((sql or "").split())
