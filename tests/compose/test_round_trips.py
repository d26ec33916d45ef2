"""Queries as composed plans, and as SQL again: examples, fixtures of the planner, random ones."""

from pathlib import Path

import pytest

from tests.analyze.fixtures import Fixture, all_fixtures
from tests.analyze.world import catalog, derive
from tests.compose.round_trips import check_random_query
from tidemill.analyze.arrivals import look_up_on_arrival
from tidemill.analyze.context import Context
from tidemill.analyze.planner import plan_as_written, plan_query
from tidemill.catalog import Catalog
from tidemill.compose import CannotSay, check, open_plan, to_sql
from tidemill.compose.assembling import assemble
from tidemill.compose.meaning import meaning_of
from tidemill.compose.opening.logical import LogicalOpening
from tidemill.compose.opening.physical import PhysicalOpening
from tidemill.compose.palette import operators_by_kind
from tidemill.engine import Engine
from tidemill.errors import TidemillError, UnsupportedError
from tidemill.nexmark.queries import QUERIES
from tidemill.optimize import optimize
from tidemill.physical.lowering import lower
from tidemill.sql import QueryStatement, parse

ROOT = Path(__file__).parent.parent.parent
pytestmark = pytest.mark.filterwarnings("ignore::tidemill.errors.PlanWarning")

EXAMPLES = sorted((ROOT / "examples").rglob("*.sql"))


def tree_of(fixture: Fixture, known: Catalog):
    """The query of a fixture that can be planned; None if it is about an error."""
    try:
        *before, last = parse(fixture.sql)
        for statement in before:
            derive(statement, known)
        plan_query(last.tree, fixture.sql, known)
    except TidemillError:
        return None
    return last.tree if isinstance(last, QueryStatement) else None


def planned(step: int):
    """Queries of fixtures, one of so many, with what they mean."""
    for fixture in all_fixtures()[::step]:
        known = catalog()
        if (tree := tree_of(fixture, known)) is not None:
            context = Context(known)
            plan = plan_as_written(tree, context)
            yield fixture.sql, known, plan, context.domain


def spelled_alike(plan: object) -> str:
    """A plan as text; a constant says its type when it is composed, and need not otherwise."""
    text = str(plan)
    for typed, plain in (("CAST(0 AS BIGINT)", "0"), ("CAST(NULL AS BOOLEAN)", "NULL")):
        text = text.replace(typed, plain)
    return text


def test_plans_of_queries_are_composed_and_said():
    checked = 0
    for sql, known, plan, domain in planned(step=3):
        opened = LogicalOpening(known, domain).composed(plan)
        found = assemble(opened, operators_by_kind("logical"), known)
        assert not found.errors, (sql, found.errors)
        again, wanted = found.pieces[opened.output or ""].plan, plan
        if "SHED" in sql:  # the relation is the last input here, wherever it stood in FROM
            again, wanted = optimize(again), optimize(plan)
        assert spelled_alike(again) == spelled_alike(wanted), sql
        text = to_sql(plan, known, domain)
        meant = plan_query(parse(text)[0].tree, text, known)
        assert meant.plan.schema == look_up_on_arrival(plan, {}).schema
        assert meant.domain == domain
        checked += 1
    assert checked > 50


def test_plans_that_run_are_composed_and_told():
    composed = told = 0
    for sql, known, plan, domain in planned(step=4):
        physical = lower(optimize(look_up_on_arrival(plan, {}), functions=known.functions), {})
        try:
            opened = PhysicalOpening(known, domain).composed(physical)
        except UnsupportedError:
            assert "OBJECTS" in sql or "SHED" in sql or "LIMIT" in sql
            continue
        found = assemble(opened, operators_by_kind("physical"), known)
        if "OBJECTS" in sql:
            continue
        assert not found.errors, (sql, found.errors)
        assert spelled_alike(found.pieces[opened.output or ""].plan) == spelled_alike(physical)
        composed += 1
        try:
            to_sql(meaning_of(physical, known), known, domain)
            told += 1
        except CannotSay:
            assert "offer" in sql
    assert composed > 40
    assert told > 40


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.stem)
def test_examples(script: Path):
    whole_circle(script.read_text("utf-8"))


@pytest.mark.parametrize("name", QUERIES)
def test_auction_queries(name: str):
    whole_circle(QUERIES[name].script("nexmark"))


def whole_circle(script: str) -> None:
    """A query, opened and said again: the plan that runs is the same but for names."""
    engine = Engine(runtime="inprocess")
    *before, last = parse(script)
    for statement in before:
        engine.execute(statement)
    for level in ("logical", "physical"):
        found = check(engine, open_plan(engine, last.sql, level))
        assert found.is_complete, found.errors
        assert found.query is not None
        assert found.sql is not None, found.sql_reason


@pytest.mark.parametrize("seed", [202, 204, 206, 207])
def test_random_queries(seed: int):
    check_random_query(seed)
