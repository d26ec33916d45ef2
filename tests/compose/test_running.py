"""Composed plans that run: logical ones as SQL, physical ones as they are."""

import pytest

from tests.compose.world import node, world
from tidemill.compose import open_plan, read_plan, run
from tidemill.errors import PlanError, TidemillError, UnsupportedError

ROWS = [{"item": f"i{n % 3}", "price": n, "at": n} for n in range(1, 20)]
SQL = "SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 5) WHERE price > 2 GROUP BY item"
LOGICAL = {
    "nodes": [
        node("a", "scan", source="bid"),
        node("b", "time_window", "a", size="5"),
        node("c", "filter", "b", condition="price > 2"),
        node("d", "aggregate", "c", keys="item", aggregates="COUNT(*) AS n"),
    ]
}
PHYSICAL = {
    "level": "physical",
    "nodes": [
        node("a", "source", source="bid", columns="item, price"),
        node("c", "filter", "a", condition="price > 2"),
        node("b", "time_window", "c", size="5"),
        node("d", "aggregate", "b", keys="item", aggregates="COUNT(*) AS n"),
        node("e", "merge", "d", keys="item"),
    ],
}


def answers(engine, started):
    engine.push("bid", ROWS)
    engine.graph.tick()
    table = started.results().to_pylist()
    return sorted(tuple(row.values()) for row in table)


@pytest.mark.parametrize("plan", [LOGICAL, PHYSICAL], ids=["logical", "physical"])
def test_answers_are_those_of_the_query(plan):
    engine = world()
    engine.run(every=None)
    by_hand = run(engine, plan, "by_hand")
    engine.script(f"CREATE QUERY by_sql AS {SQL}; START QUERY by_sql")
    found = answers(engine, by_hand)
    assert found == sorted(
        tuple(row.values()) for row in engine.graph.query("by_sql").results().to_pylist()
    )
    assert len(found) > 10
    by_hand.stop()
    engine.sql("DROP QUERY by_hand")
    assert [each.name for each in engine.listing() if each.kind == "query"] == ["by_sql"]


def test_a_logical_plan_is_shared_and_a_physical_one_stays():
    engine = world()
    graph = engine.run(every=None)
    run(engine, LOGICAL, "by_hand")
    before = len(graph.nodes)
    engine.script(f"CREATE QUERY by_sql AS {SQL}; START QUERY by_sql")
    assert len(graph.nodes) == before
    physical = run(engine, PHYSICAL, "physical")
    assert [line.split()[1] for line in physical.explain().splitlines()[1:]] == [
        *("ProjectExec", "MergeExec", "AggregateExec"),
        *("TimeWindowExec", "FilterExec", "SourceExec"),
    ]
    with pytest.raises(UnsupportedError, match="chosen by hand"):
        physical.optimize()


def test_a_physical_plan_is_a_definition():
    engine = world()
    engine.run(every=None)
    run(engine, PHYSICAL, "by_hand")
    query = engine.queries.find("by_hand")
    assert query.definition is not None
    other = world(plans=read_plan)
    other.sql(f"CREATE QUERY again AS {query.definition}")
    assert other.queries.find("again").job.plan == query.job.plan
    assert other.queries.find("again").sql == query.sql
    opened = open_plan(other, "again", "physical")
    assert [each.kind for each in opened.nodes] == [each["kind"] for each in PHYSICAL["nodes"]]
    kinds = [each.kind for each in open_plan(other, "again").nodes]
    assert kinds == ["scan", "time_window", "filter", "aggregate", "project"]


def test_a_query_becomes_a_plan_while_it_runs():
    engine = world(plans=read_plan)
    engine.run(every=None)
    engine.script(f"CREATE QUERY q AS {SQL}; START QUERY q")
    run(engine, PHYSICAL, "other")
    definition = engine.queries.find("other").definition
    engine.sql(f"ALTER QUERY q AS {definition}")
    assert engine.queries.find("q").is_fixed
    assert len(answers(engine, engine.graph.query("q"))) > 10


def test_what_is_not_complete_does_not_run():
    engine = world()
    with pytest.raises(PlanError, match="not complete: node `f`: Condition is missing"):
        run(engine, {"nodes": [node("s", "scan", source="bid"), node("f", "filter", "s")]}, "x")
    with pytest.raises(UnsupportedError, match="cannot read composed plans"):
        engine.sql("CREATE QUERY x AS PLAN '{}'")
    engine = world(plans=read_plan)
    for text in ("", "{", "[" * 50_000, "[]", '{"level": "x"}', '{"nodes": [{"id": 1}]}', "{}"):
        with pytest.raises(TidemillError):
            engine.sql(f"CREATE QUERY x AS PLAN '{text}'")
    assert not engine.is_running
