"""The walks over plans: every part once, however often it occurs."""

from __future__ import annotations

from tidemill.algebra import Distinct, Plan, Scan, Schema, Union
from tidemill.algebra.plan import carried_down, nodes_of, operands
from tidemill.optimize.sharing import Shared, fenced

BID = Scan("bid", "bid", Schema(()))
ASK = Scan("ask", "ask", Schema(()))
LEVELS = 60


def doubled(plan: Plan, levels: int = LEVELS) -> Plan:
    """A plan in which a part occurs 2^levels times."""
    for _ in range(levels):
        plan = Union(plan, plan)
    return plan


def test_parts_are_replaced_once() -> None:
    asked: list[Plan] = []

    def function(part: Plan) -> Plan | None:
        asked.append(part)
        return ASK if part is BID else None

    found = doubled(Distinct(BID)).replace_parts(function)
    assert nodes_of(found)[:2] == [ASK, Distinct(ASK)]
    assert len(asked) == len(nodes_of(found)) == LEVELS + 2


def test_nobody_is_asked_about_what_is_below_a_part_that_goes() -> None:
    below = Distinct(BID)
    plan = Union(Distinct(below), below)
    found = plan.replace_parts(lambda part: ASK if part is plan.left else None)
    assert found == Union(ASK, below)
    assert found.children[1] is below


def test_a_plan_without_such_a_part_stays_the_same_object() -> None:
    plan = doubled(BID, 3)
    assert plan.replace_parts(lambda part: None) is plan


def test_a_deep_plan_needs_no_deep_stack() -> None:
    plan: Plan = BID
    for _ in range(5000):
        plan = Distinct(plan)
    found = plan.replace_parts(lambda part: ASK if part is BID else None)
    assert sum(1 for _ in found.walk()) == 5001
    assert sum(1 for _ in carried_down([plan], 0, lambda node, _: [0] * len(node.children))) == 5001


def test_what_comes_down_to_a_part() -> None:
    below = Distinct(BID)
    plan = Union(Union(below, ASK), below)
    found = carried_down(
        [plan], "", lambda node, way: [f"{way}{n}" for n in range(2)][: len(node.children)]
    )
    assert {(node, way) for node, way in found if node is below} == {(below, "00"), (below, "1")}


def test_what_comes_down_twice_comes_once() -> None:
    parts = carried_down([doubled(BID)] * 2, False, lambda node, _: [False] * len(node.children))
    assert len(list(parts)) == LEVELS + 1


def test_operands_occur_as_often_as_they_are_written() -> None:
    assert list(operands(doubled(BID, 3), Union)) == [BID] * 8


def test_answers_of_running_queries_are_fenced_in_shared_parts_too() -> None:
    fence = nodes_of(fenced(doubled(BID), {BID: ASK}))[0]
    assert isinstance(fence, Shared)
    assert fence.part is ASK


def test_inputs_come_from_the_left() -> None:
    plan = Union(Union(BID, ASK), Distinct(ASK))
    found = [node for node, _ in carried_down([plan], 0, lambda node, _: [0] * len(node.children))]
    assert found == list(plan.walk())
