"""Every rule alone, on random plans and rows: each snapshot stays as it was."""

from __future__ import annotations

from itertools import count
from random import Random

import pytest

from tests.checking.plans import Inputs, check_plan, reference_of
from tests.optimize.generators import RulePlans
from tests.random.cases import random_inputs
from tests.random.plans import COLUMNS, RELATION, SOURCES
from tidemill.algebra import Plan
from tidemill.catalog.hints import Hints
from tidemill.optimize.driver import RULES
from tidemill.optimize.rule import Rule, RuleContext
from tidemill.optimize.statistics import Statistics, StreamStatistics
from tidemill.reference import evaluate

pytestmark = pytest.mark.fuzz

FIRINGS = 10  # cases to which the rule applied, per rule
MOST_TRIED = 8 * FIRINGS


def same_snapshots(plan: Plan, changed: Plan, inputs: Inputs) -> bool:
    expected = reference_of(plan, inputs)
    return evaluate(changed, inputs.accepted(), expected.horizon) == expected


def anything(random: Random) -> Statistics:
    """Statistics that have nothing to do with the rows; many rows of few values, as a rule."""
    return Statistics(
        {
            source: StreamStatistics(
                rate=random.choice([0.01, 1, 50]),
                rows=random.choice([1, 1000]),
                distinct={name: random.choice([1, 2, 100]) for name in COLUMNS.names},
            )
            for source in (*SOURCES, RELATION)
        }
    )


def check(rule: Rule, random: Random) -> bool:
    """Check a random plan; whether the rule applied to it."""
    plan = getattr(RulePlans(random), rule.name)()
    # Small windows are cheap to sort.
    hints = Hints(rank=random.choice(["eaa", "sla"]) if rule.name == "rank_objects" else None)
    changed = rule.apply(plan, RuleContext(anything(random), hints))
    if changed is plan:
        return False
    inputs = random_inputs(random, latest=12)
    text = f"{plan}\n=>\n{changed}\n{inputs}"
    assert changed.schema == plan.schema, text
    assert same_snapshots(plan, changed, inputs), text
    try:
        check_plan(plan, inputs, rewrite=lambda _: changed)
    except Exception as error:
        raise AssertionError(f"{text}\n{error}") from error
    return True


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_snapshots_stay(rule: Rule) -> None:
    fired = 0
    for seed in count():
        assert seed < MOST_TRIED, f"the rule applied to {fired} plans only"
        fired += check(rule, Random(seed))
        if fired == FIRINGS:
            return


def test_plans_as_written() -> None:
    """Without the optimizer, every plan runs as it is."""
    for seed in range(40):
        random = Random(seed)
        plan = RulePlans(random).plan(2)
        check_plan(plan, random_inputs(random, latest=12), rewrite=lambda plan: plan)
