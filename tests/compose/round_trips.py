"""A query, as a composed plan and as SQL again: both must mean what it means."""

from __future__ import annotations

import warnings
from random import Random

from tests.checking.plans import Inputs, reference_of
from tests.checking.queries import engine_with
from tests.random.cases import random_inputs
from tests.random.queries import QueryGenerator
from tidemill.algebra import Plan
from tidemill.compose import check, open_plan
from tidemill.engine import Engine
from tidemill.engine.query import Query
from tidemill.errors import PlanWarning, UnsupportedError
from tidemill.optimize import optimize
from tidemill.sql import parse
from tidemill.testing.reference import check_result


def check_random_query(seed: int) -> None:
    """Fail unless a random query survives being composed at both levels, and being said."""
    random = Random(seed)
    inputs = random_inputs(random)
    *before, last = parse(QueryGenerator(random).script())
    engine = engine_with(inputs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlanWarning)
        for statement in before:
            engine.execute(statement)
        query = engine.execute(last)
    assert isinstance(query, Query)
    check_logical(engine, query, last.sql, inputs)
    check_physical(engine, query, last.sql, inputs)


def check_logical(engine: Engine, query: Query, sql: str, inputs: Inputs) -> None:
    """The query as a logical plan, and the SQL of that."""
    checked = check(engine, open_plan(engine, sql))
    assert not checked.errors, checked.errors
    assert checked.plan is not None
    assert checked.plan.schema == query.schema
    assert checked.query is not None, checked.sql_reason
    assert_same(checked.plan, query.planned.plan, engine, inputs)
    assert_same(checked.query.planned.plan, query.planned.plan, engine, inputs)


def check_physical(engine: Engine, query: Query, sql: str, inputs: Inputs) -> None:
    """The query as a physical plan, if its operators can be composed, and as that runs."""
    try:
        opened = open_plan(engine, sql, "physical")
    except UnsupportedError:
        return
    checked = check(engine, opened)
    if any("more than 3000 operators" in problem.message for problem in checked.errors):
        return  # a part counts as often as it is read
    assert not checked.errors, checked.errors
    assert checked.query is not None
    if str(checked.plan) != str(query.job.plan):
        expected = reference_of(query.planned.plan, inputs, engine.catalog.functions)
        check_result(checked.query.collect(), expected)
    if checked.sql is not None:
        assert checked.meaning is not None
        assert_same(checked.meaning, query.planned.plan, engine, inputs)


def assert_same(found: Plan, wanted: Plan, engine: Engine, inputs: Inputs) -> None:
    """Fail unless two plans are the same once optimized, or have the same answers."""
    if found == wanted or str(optimize(found)) == str(optimize(wanted)):
        return
    functions = engine.catalog.functions
    one, other = (reference_of(plan, inputs, functions) for plan in (found, wanted))
    for instant in range(min(one.horizon, other.horizon) + 1):
        assert one.at(instant) == other.at(instant), f"at {instant}:\n{found}\n{wanted}"
