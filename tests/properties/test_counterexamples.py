"""What once went wrong stays right."""

from __future__ import annotations

from random import Random

import pytest

from tests.checking.plans import check_plan
from tests.checking.queries import check_query, engine_with, plan_of, run_script
from tests.properties.counterexamples import COUNTEREXAMPLES, Counterexample
from tests.random.splits import check_splits
from tidemill.algebra import Plan

NAMED = pytest.mark.parametrize("example", COUNTEREXAMPLES, ids=lambda example: example.name)


@NAMED
def test_counterexample(example: Counterexample) -> None:
    if isinstance(example.query, Plan):
        check_plan(example.query, example.inputs)
    else:
        check_query(example.query, example.inputs, most_asked=20)


@NAMED
def test_counterexample_in_other_ticks(example: Counterexample) -> None:
    engine = engine_with(example.inputs)
    plan = example.query
    if not isinstance(plan, Plan):
        plan = plan_of(run_script(plan, engine))
    check_splits(plan, example.inputs, Random(0), engine.catalog.functions)
