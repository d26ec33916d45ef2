"""Uses the added operation everywhere; runs in a process of its own, with the copied sources.

The argument is the runtime. What is wrong is an error.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Collection

from tidemill import Engine, algebra
from tidemill.algebra.plan import Plan, nodes_of
from tidemill.compose import Composed, Node, check, operators
from tidemill.compose.opening.logical import LogicalOpening
from tidemill.compose.opening.physical import PhysicalOpening
from tidemill.optimize import optimize
from tidemill.physical.lowering import lower
from tidemill.reference import LogicalStream
from tidemill.testing import check_result, reference

HERE = [{"item": 1, "at": 1}, {"item": 1, "at": 2}, {"item": 2, "at": 2}, {"item": 3, "at": 9}]
THERE = [{"item": 1, "at": 2}, {"item": 2, "at": 3}, {"item": 2, "at": 4}]
KIND = "symmetric_difference"
OPENINGS = {"logical": LogicalOpening, "physical": PhysicalOpening}
TEXT = "SELECT item FROM {} WINDOW(RANGE 5)"


def main(runtime: str) -> None:
    """Everything, on one runtime."""
    engine = Engine(runtime=runtime)
    engine.stream("here", HERE, time="at")
    engine.stream("there", THERE, time="at")
    sources = {
        name: [(row, row["at"]) for row in rows]
        for name, rows in (("here", HERE), ("there", THERE))
    }
    left, right = (engine.sql(TEXT.format(name)).planned.plan for name in sources)
    plan = vars(algebra)["SymmetricDifference"](left, right)
    expected = reference(plan, sources)
    assert expected.at(2) == Counter({(1,): 1, (2,): 1}), expected.at(2)

    check_run(engine, plan, expected)
    check_composer(engine, sources, expected)
    print("fine")


def check_run(engine: Engine, plan: Plan, expected: LogicalStream) -> None:
    """The plan itself: optimized, lowered, explained and run."""
    physical = lower(optimize(plan), {})
    query = engine.compose(physical, plan, None, "")
    assert "SymmetricDifference" in query.explain()
    assert "SymmetricDifferenceExec" in query.explain("physical")
    assert "SymmetricDifference" in query.explain("cost")
    assert all(node.meaning([plan] * len(node.children)) for node in nodes_of(physical))
    check_result(query.collect(), expected)


def check_composer(engine: Engine, sources: Collection[str], expected: LogicalStream) -> None:
    """As boxes and lines: both levels, their SQL, and the way back."""
    for level, leaf in (("logical", "scan"), ("physical", "source")):
        assert KIND in {each["kind"] for each in operators(level)}
        boxes = [
            *(Node(name, leaf, {"source": name}, ()) for name in sources),
            *(Node(f"w{name}", "time_window", {"size": "5"}, (name,)) for name in sources),
            *(
                Node(f"p{name}", "project", {"columns": ["item"]}, (f"w{name}",))
                for name in sources
            ),
            Node("both", KIND, {}, tuple(f"p{name}" for name in sources)),
        ]
        found = check(engine, Composed(level, tuple(boxes), "both"))
        assert not found.errors, found.errors
        assert found.sql is not None, found.sql_reason
        check_result(found.query.collect(), expected)
        check_result(engine.sql(found.sql).collect(), expected)
        opened = OPENINGS[level](engine.catalog, found.domain).composed(found.plan)
        assert KIND in {node.kind for node in opened.nodes}


if __name__ == "__main__":
    main(sys.argv[1])
