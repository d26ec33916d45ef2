"""The laws of the PIPES text, and the tempting ones that do not hold, against the rules."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest

from tests.golden import laws
from tests.golden.loader import Case, cases
from tests.optimize.fixtures import BY_NAME
from tidemill.algebra import CountWindow, Plan, Project, Scan, Schema, column
from tidemill.optimize import optimize
from tidemill.optimize.driver import HEURISTICS
from tidemill.optimize.rule import Rule, everywhere
from tidemill.optimize.rules.merge_projects import merge_projects
from tidemill.optimize.rules.push_projects import push_projects
from tidemill.optimize.statistics import Statistics
from tidemill.reference import evaluate

LAWS = {case.id.removeprefix("law."): case for case in cases("laws")}
TRUE = {name: case for name, case in LAWS.items() if case.facts["holds"]}
FALSE = {name: case for name, case in LAWS.items() if not case.facts["holds"]}

# The rule that turns one side of a law into the other, and from which side.
REALISED = {
    "filter_over_union": ("push_filters", "left"),
    "dedup_over_product": ("push_distinct", "left"),
    "dedup_over_join": ("push_distinct", "left"),
    "now_window": ("remove_now_windows", "left"),
    "filter_time_window": ("push_filters", "left"),
    "map_time_window": ("push_projects", "left"),
    "union_time_window": ("push_windows", "right"),
    "union_difference": ("cancel_difference", "left"),
}
ELSEWHERE = {
    "product_associative": "the order of joins is chosen by cost, not by a heuristic",
    # Rows of one instant have an order here, which a map may change: see the tests below.
    "map_count_window": "test_a_map_that_keeps_the_order_goes_below_a_count_window",
    "map_partitioned_window": "test_a_map_that_keeps_partitions_goes_below_their_window",
}


def test_every_law_is_realised_or_excused() -> None:
    assert Counter([*REALISED, *ELSEWHERE]) == Counter(TRUE.keys())


def operators(plan: Plan) -> list[str]:
    """The operators of a plan, without the projections that only rename."""
    plan = everywhere(merge_projects, plan)
    return [node.label for node in plan.walk() if not _renames(node)]


def _renames(node: Plan) -> bool:
    return isinstance(node, Project) and all(item.is_column for _, item in node.items)


@pytest.mark.parametrize("name", REALISED)
def test_rule_realises_law(name: str) -> None:
    case = TRUE[name]
    rule, start = REALISED[name]
    before, other = laws.side(case, start), laws.side(case, {"left": "right"}.get(start, "left"))
    after = BY_NAME[rule].apply(before, Statistics())
    assert operators(after) == operators(other) != operators(before)
    assert laws.result(case, after) == laws.result(case, before)


@pytest.mark.parametrize("rule", HEURISTICS, ids=lambda rule: rule.name)
@pytest.mark.parametrize("case", FALSE.values(), ids=FALSE)
def test_rule_does_not_apply_a_law_that_is_none(case: Case, rule: Rule) -> None:
    left, right = laws.side(case, "left"), laws.side(case, "right")
    after = rule.apply(left, Statistics())
    assert laws.result(case, after) == laws.result(case, left) != laws.result(case, right)


@pytest.mark.parametrize("case", FALSE.values(), ids=FALSE)
def test_rules_together_do_not_apply_a_law_that_is_none(case: Case) -> None:
    left, right = laws.side(case, "left"), laws.side(case, "right")
    done = optimize(left)
    assert laws.result(case, done) == laws.result(case, left)
    assert optimize(right) != done


# Maps and count windows (10.11, 10.12). Rows of one instant are taken in the order of their
# columns; the text leaves this order open, so its laws hold for maps that keep the order.

_BIDS = Schema.of(item=pa.int64(), price=pa.int64())
_ROWS = [({"item": 1, "price": 9}, 3), ({"item": 2, "price": 5}, 3)]


def _window(by: tuple[str, ...] = ()) -> CountWindow:
    return CountWindow(Scan("bid", "b", _BIDS), 1, partition_by=by)


def _columns(child: Plan, *names: str) -> Project:
    return Project(child, tuple((f"new.{name}", column(f"b.{name}", pa.int64())) for name in names))


def test_a_map_that_keeps_the_order_goes_below_a_count_window() -> None:
    plan = _columns(_window(), "item")
    changed = push_projects(plan)
    assert isinstance(changed, CountWindow)
    data = {"bid": _ROWS}
    assert evaluate(changed, data, 5) == evaluate(plan, data, 5)


def test_a_map_that_changes_the_order_does_not() -> None:
    plan = _columns(_window(), "price", "item")
    assert push_projects(plan) is plan
    window = _window()
    swapped = CountWindow(_columns(window.child, "price", "item"), 1)
    data = {"bid": _ROWS}
    assert evaluate(plan, data, 5).at(3) == Counter({(5, 2): 1})
    assert evaluate(swapped, data, 5).at(3) == Counter({(9, 1): 1})


def test_a_map_that_keeps_partitions_goes_below_their_window() -> None:
    changed = push_projects(_columns(_window(("b.item",)), "item", "price"))
    assert isinstance(changed, CountWindow)
    assert changed.partition_by == ("new.item",)


def test_a_map_that_loses_partitions_does_not() -> None:
    plan = _columns(_window(("b.price",)), "item")
    assert push_projects(plan) is plan
