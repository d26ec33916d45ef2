"""The driver: order, fixed point, trace, rules switched off, shared parts, time."""

from __future__ import annotations

import time
from itertools import pairwise

import pyarrow as pa
import pytest

from tests.analyze.world import plan as plan_of
from tidemill.algebra import Aggregate, Distinct, Filter, Plan, Project, Scan, Schema, Union
from tidemill.algebra.plan import nodes_of
from tidemill.explain import text_of
from tidemill.optimize import RULES, optimize, optimized
from tidemill.optimize.driver import Trace
from tidemill.optimize.rule import conventional, everywhere, temporal
from tidemill.optimize.sharing import Parts, shared_parts
from tidemill.optimize.statistics import Statistics
from tidemill.physical.lowering import lower

QUERY = "SELECT x FROM (SELECT price * 2 AS x FROM bid WINDOW(RANGE 5)) WHERE x > 3 AND 1 = 1"


def test_names_are_unique_and_all_rules_say_what_they_do() -> None:
    names = [rule.name for rule in RULES]
    assert len(set(names)) == len(names)
    assert all(rule.summary and rule.summary[0].isupper() for rule in RULES)


def test_trace_names_every_step() -> None:
    trace: Trace = []
    plan = plan_of(QUERY).plan
    done = optimize(plan, trace=trace)
    assert trace[0][0] == "simplify_filters"
    assert trace[-1] == ("prune_columns", done)
    steps = [plan, *(after for _, after in trace)]
    assert all(one != other for one, other in pairwise(steps))
    assert all(step.schema == plan.schema for step in steps)


def test_a_fixed_point_is_reached() -> None:
    trace: Trace = []
    done = optimize(optimize(plan_of(QUERY).plan), trace=trace)
    assert trace == []
    assert optimize(done) == done


def test_rules_can_be_switched_off() -> None:
    plan = plan_of(QUERY).plan
    trace: Trace = []
    optimize(plan, trace=trace, off=["push_filters"])
    assert "push_filters" not in {name for name, _ in trace}
    assert optimize(plan, off=[rule.name for rule in RULES]) == plan


def test_two_ways_to_write_a_question_give_one_plan() -> None:
    one = "SELECT item FROM (SELECT item, price FROM bid WINDOW(RANGE 5)) WHERE price > 3"
    other = "SELECT item FROM bid WINDOW(RANGE 5) WHERE price > 3"
    assert optimize(plan_of(one).plan) == optimize(plan_of(other).plan)


def test_steps_as_text() -> None:
    done = optimized(plan_of("SELECT item FROM bid WHERE 1 = 1").plan, off=["merge_filters"])
    text = "\n".join(text_of(tuple(done.lines())))
    assert text.splitlines()[:7] == [
        "01 Project [item := bid.item]",
        "02   Filter 1 = 1",
        "03     Scan bid columns=[item, price, bidder]",
        "simplify_filters: Simplify conditions by what is known, and remove filters that keep"
        " all rows",
        "01 Project [item := bid.item]",
        "02   Scan bid columns=[item, price, bidder]",
        "prune_columns: Read only the columns that something needs",
    ]
    assert text.splitlines()[-2].startswith("unchanged by remove_empty_parts, ")
    assert text.splitlines()[-1] == "not used: merge_filters"


COUNTS = "CREATE STREAM d AS SELECT item AS i, COUNT(*) AS n FROM bid WINDOW(RANGE 5) GROUP BY item"

# Columns


def test_a_rule_that_changes_columns_is_found() -> None:
    def rename(plan: Plan) -> Plan:
        if isinstance(plan, Distinct):
            return Project.renaming(plan.child, ("other",))
        return plan

    plan = Distinct(Scan("bid", "b", Schema.of(item=pa.int64())))
    message = r"rename changed the columns \[b.item BIGINT\] to \[other BIGINT\]"
    with pytest.raises(AssertionError, match=message):
        everywhere(rename, plan)


# Shared parts


def _counts(plan: Plan) -> list[Plan]:
    found = {id(node): node for node in plan.walk() if isinstance(node, Aggregate)}
    return list(found.values())


def test_a_shared_part_stays_one() -> None:
    sql = f"""{COUNTS};
    SELECT x.i FROM d x JOIN d y ON x.n = y.n AND x.i > 3 AND y.i > 4"""
    plan = plan_of(sql).plan
    assert len(_counts(plan)) == 1
    assert len(_counts(optimize(plan))) == 1


def test_a_part_that_is_shared_with_its_filter_is_filtered_inside() -> None:
    sql = f"""{COUNTS};
    SELECT x.i FROM (SELECT * FROM d) x WHERE x.i > 3
    UNION ALL SELECT y.i FROM d y WHERE y.i > 3"""
    done = optimize(plan_of(sql).plan)
    (count,) = _counts(done)
    assert any(isinstance(node, Filter) for node in count.walk())


def test_equal_parts_become_one_object() -> None:
    def part() -> Plan:
        return Distinct(Scan("bid", "b", Schema.of(item=pa.int64())))

    plan = Union(part(), part())
    assert shared_parts(plan) == []
    unified = Parts().unified(plan)
    assert unified == plan
    assert [part.label for part in shared_parts(unified)] == ["Distinct"]


def test_a_plan_that_shares_its_parts_over_and_over_is_walked_once() -> None:
    plan: Plan = Distinct(Scan("bid", "b", Schema.of(item=pa.int64())))
    for _ in range(60):
        plan = Distinct(Union(plan, plan))
    visited = []

    def look(node: Plan) -> Plan:
        visited.append(node)
        return node

    assert everywhere(look, plan) is plan
    assert len(visited) < 500


# Which nodes a rule is offered


def test_conventional_rules_are_offered_reducible_operators_only() -> None:
    seen: list[str] = []

    def look(node: Plan) -> Plan:
        """Look at a node."""
        seen.append(type(node).__name__)
        return node

    plan = plan_of("SELECT item FROM bid WINDOW(RANGE 5) WHERE price > 3").plan
    conventional(look).apply(plan, Statistics())
    assert seen == ["Project", "Filter"]
    seen.clear()
    temporal(look).apply(plan, Statistics())
    assert seen == ["Project", "Filter", "TimeWindow", "Scan"]


# Time


def test_planning_ten_joined_streams_is_quick() -> None:
    names = [f"b{number}" for number in range(10)]
    tied = " AND ".join(f"{a}.item = {b}.item" for a, b in pairwise(names))
    streams = ", ".join(f"bid {name} WINDOW(RANGE 5)" for name in names)
    plan = plan_of(f"SELECT b0.price FROM {streams} WHERE {tied} AND b9.item > 3").plan
    optimize(plan, off=["order_joins", "aggregate_early"])
    start = time.process_time()
    done = optimize(plan, off=["order_joins", "aggregate_early"])
    assert time.process_time() - start < 0.1
    assert sum(isinstance(node, Filter) for node in done.walk()) == 10


def test_parts_that_occur_many_times_are_looked_through_once() -> None:
    """Each of 60 levels uses the level below twice: as a tree, this would never end."""
    plan: Plan = Scan("bid", "b", Schema.of(item=pa.int64()))
    for _ in range(60):
        plan = Union(Distinct(plan), plan)
    assert len(list(plan.walk())) == 121
    assert hash(plan) == hash(plan.with_children(plan.children))
    done = optimize(plan)
    assert len(nodes_of(lower(done, {}))) == 121
