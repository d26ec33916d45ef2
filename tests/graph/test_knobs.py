"""Knobs: who is adjusted with whom, and what a change makes of the plans."""

from __future__ import annotations

import tidemill as tm
from tidemill.algebra.plan import nodes_of
from tidemill.engine import Engine
from tidemill.graph.normal import normal
from tidemill.graph.quality import (
    Granules,
    Knobs,
    Quality,
    SizeRange,
    Wish,
    adjustable_nodes,
    resized,
    with_knobs,
)
from tidemill.optimize import optimize
from tidemill.physical.lowering import lower
from tidemill.physical.operator import Exec
from tidemill.physical.operators.time_window import TimeWindowExec


class Graph:
    """Plans of queries as they would run together."""

    def __init__(self) -> None:
        self.engine = Engine(runtime="inprocess")
        rows = [{"item": 1, "price": 5, "at": 1}]
        self.engine.stream("bid", rows, time="at")
        self.engine.stream("ask", rows, time="at")
        self.wishes: dict[str, tuple[Wish, ...]] = {}
        self.plans: dict[str, Exec] = {}

    def plan(self, sql: str) -> Exec:
        query = self.engine.sql(sql)
        assert isinstance(query, tm.Query)
        return normal(query.job.plan)

    def add(self, name: str, sql: str) -> Exec:
        given = with_knobs(name, self.plan(sql), self.known(), self.wishes.get(name, ()))
        self.plans[name], self.wishes[name] = given
        return self.plans[name]

    def known(self) -> Knobs:
        wishes = (wish for wishes in self.wishes.values() for wish in wishes)
        return Knobs(wishes, nodes_of(*self.plans.values()))

    @property
    def allowed(self) -> dict[str, Quality]:
        return self.known().allowed

    def knobs(self, name: str) -> list[str]:
        return sorted(adjustable_nodes(nodes_of(self.plans[name])))

    def resize(self, knob: str, at: int, size: int) -> dict[Exec, Exec]:
        self.plans, carried = resized(self.plans, {knob: (at, size)})
        return carried


COUNT = "SELECT COUNT(*) AS n FROM bid WINDOW(RANGE MIN {}, MAX {})"


def test_queries_share_a_knob_where_they_share_the_window_and_bounds_meet() -> None:
    graph = Graph()
    graph.add("a", COUNT.format(60, 600))
    graph.add("b", "SELECT MAX(x.price) AS m FROM bid AS x WINDOW(RANGE MIN 300, MAX 600)")
    graph.add("c", COUNT.format(300, 1200))
    assert graph.knobs("a") == graph.knobs("c") == ["range of bid"]
    assert graph.allowed["range of bid"] == SizeRange(300, 600)
    assert graph.plans["a"] == graph.plans["c"]
    # The other query keeps other columns of the stream: it does not read the same rows.
    assert graph.knobs("b") == ["range of bid #2"]


def test_a_query_with_other_bounds_gets_a_window_of_its_own() -> None:
    graph = Graph()
    graph.add("a", COUNT.format(60, 120))
    graph.add("b", COUNT.format(300, 600))
    assert graph.knobs("b") == ["range of bid #2"]
    assert graph.plans["a"] != graph.plans["b"]
    graph.add("c", COUNT.format(200, 400))
    assert graph.knobs("c") == ["range of bid #2"]


def test_bounds_grow_again_when_a_query_goes() -> None:
    graph = Graph()
    graph.add("a", COUNT.format(60, 600))
    graph.add("b", COUNT.format(120, 300))
    assert graph.allowed["range of bid"] == SizeRange(120, 300)
    del graph.wishes["b"]
    assert graph.allowed["range of bid"] == SizeRange(60, 600)


def test_a_window_of_one_size_has_no_knob() -> None:
    graph = Graph()
    graph.add("a", COUNT.format(60, 600))
    fixed = graph.add("b", "SELECT COUNT(*) AS n FROM bid WINDOW(RANGE 600)")
    assert graph.knobs("b") == []
    assert fixed != graph.plans["a"]


def test_who_comes_later_gets_the_sizes_in_force() -> None:
    graph = Graph()
    graph.add("a", COUNT.format(60, 600))
    graph.resize("range of bid", 100, 200)
    graph.add("b", COUNT.format(60, 500))
    assert graph.plans["a"] == graph.plans["b"]
    (window,) = adjustable_nodes(nodes_of(graph.plans["b"]))["range of bid"]
    assert [window.size_at(t) for t in (99, 100)] == [600, 200]


def test_all_kinds_have_knobs() -> None:
    graph = Graph()
    sql = """
        SELECT a.item FROM bid AS a WINDOW(PARTITION BY item ROWS MIN 2, MAX 9),
            ask AS b WINDOW(RANGE MIN 5, MAX 50) GRANULARITY(COARSEST 12, FINEST 4)
        WHERE a.item = b.item
    """
    graph.add("a", sql)
    assert graph.knobs("a") == ["granularity of ask", "range of ask", "rows of bid"]
    allowed = graph.allowed
    assert allowed["granularity of ask"] == Granules(frozenset({4, 12}))
    assert allowed["rows of bid"] == SizeRange(2, 9)


UNION = """
    SELECT COUNT(*) AS n FROM (
        SELECT item FROM bid UNION ALL SELECT item FROM ask
    ) AS both WINDOW(RANGE MIN 5, MAX 9)
"""


def test_a_window_that_a_rule_divides_stays_one_window() -> None:
    graph = Graph()
    graph.add("a", UNION)
    (nodes,) = adjustable_nodes(nodes_of(graph.plans["a"])).values()
    assert len(nodes) == 2
    graph.resize(graph.knobs("a")[0], 7, 6)
    (nodes,) = adjustable_nodes(nodes_of(graph.plans["a"])).values()
    assert [node.changes for node in nodes] == [((7, 6),), ((7, 6),)]


def test_another_plan_of_a_query_keeps_its_knobs_and_sizes() -> None:
    graph = Graph()
    logical = graph.engine.sql(UNION)
    assert isinstance(logical, tm.Query)
    graph.add("a", UNION)
    (knob,) = graph.knobs("a")
    graph.resize(knob, 7, 6)
    # Not divided, as if no rule had been there.
    other = normal(lower(logical.planned.plan, {}))
    plan, wishes = with_knobs("a", other, graph.known(), graph.wishes["a"])
    assert wishes == graph.wishes["a"]
    ((node,),) = adjustable_nodes(nodes_of(plan)).values()
    assert (node.knob, node.changes) == (knob, ((7, 6),))


def test_a_change_carries_all_that_depends_on_the_window_and_nothing_else() -> None:
    graph = Graph()
    graph.add("a", COUNT.format(60, 600))
    graph.add("b", "SELECT COUNT(*) AS n FROM ask WINDOW(RANGE MIN 60, MAX 600)")
    before = dict(graph.plans)
    carried = graph.resize("range of bid", 100, 200)
    assert graph.plans["b"] is before["b"]
    assert carried[graph.plans["a"]] == before["a"]
    assert {type(new) is type(old) for new, old in carried.items()} == {True}
    kinds = sorted(type(node).__name__ for node in carried)
    assert kinds == ["AggregateExec", "ProjectExec", "TimeWindowExec"]


def test_a_later_change_takes_the_place_of_those_that_were_planned() -> None:
    graph = Graph()
    graph.add("a", COUNT.format(60, 600))
    graph.resize("range of bid", 100, 200)
    graph.resize("range of bid", 80, 300)
    (window,) = adjustable_nodes(nodes_of(graph.plans["a"]))["range of bid"]
    assert window.changes == ((80, 300),)
    assert graph.resize("range of bid", 90, 300) == {}


def test_changes_are_forgotten_when_no_row_is_left_that_they_are_about() -> None:
    graph = Graph()
    graph.add("a", COUNT.format(60, 600))
    left = []
    for at, size, settled in ((80, 300, 0), (200, 60, 0), (500, 90, 498), (600, 60, 499)):
        changes, known = {"range of bid": (at, size)}, {"range of bid": settled}
        graph.plans, _ = resized(graph.plans, changes, known)
        (window,) = adjustable_nodes(nodes_of(graph.plans["a"]))["range of bid"]
        left.append([change[0] for change in window.changes])
    # The last row of size 300 starts at 199, and ends at 499.
    assert left == [[80], [80, 200], [80, 200, 500], [200, 500, 600]]


def test_bounds_survive_optimization() -> None:
    graph = Graph()
    query = graph.engine.sql(COUNT.format(60, 600))
    assert isinstance(query, tm.Query)
    optimized = optimize(query.planned.plan)
    (window,) = (node for node in lower(optimized, {}).walk() if isinstance(node, TimeWindowExec))
    assert window.bounds is not None
    assert (window.bounds.low, window.bounds.high) == (60, 600)


def test_bounds_alone_do_not_tell_windows_apart() -> None:
    graph = Graph()
    assert graph.plan(COUNT.format(60, 600)) == graph.plan(COUNT.format(6, 600))
