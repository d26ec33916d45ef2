"""Whatever is sent, something is said about it, and nothing is raised."""

from random import Random

from tests.compose.random_plans import random_composed
from tests.compose.world import node, world
from tidemill.compose import check

ADDED = """
CREATE RELATION rel (item STRING, price BIGINT) CHANGING;
CREATE STREAM ticket AS SELECT item FROM bid;
"""


def test_random_plans_are_checked():
    engine = world()
    engine.script(ADDED)
    complete = 0
    for seed in range(250):
        found = check(engine, random_composed(Random(seed)))
        assert found.errors or found.plan is not None
        assert found.to_json()["nodes"]
        complete += found.is_complete
    assert complete > 20


def test_plans_that_are_too_deep_or_too_large():
    engine = world()
    scan = node("n0", "scan", source="bid")
    deep = [node(f"n{n}", "distinct", f"n{n - 1}") for n in range(1, 400)]
    wide = [node(f"n{n}", "union", f"n{n - 1}", f"n{n - 1}") for n in range(1, 40)]
    for nodes in (deep, wide):
        assert check(engine, {"nodes": [scan, *nodes]}).errors
    long = node("f", "filter", "n0", condition=" + ".join(["price"] * 1500) + " > 1")
    (error,) = check(engine, {"nodes": [scan, long]}).errors
    assert error.message.endswith("is nested too deeply")
