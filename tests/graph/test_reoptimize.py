"""Better plans for queries that run."""

from __future__ import annotations

from random import Random

import pyarrow as pa
import pytest

import tidemill as tm
from tidemill.algebra.plan import nodes_of
from tidemill.engine.started import StartedQuery
from tidemill.graph.migration import Phase
from tidemill.graph.normal import normal
from tidemill.graph.reoptimize import ReoptimizePolicy, seconds
from tidemill.optimize.statistics import Statistics
from tidemill.physical.operators.join import JoinExec
from tidemill.physical.operators.project import ProjectExec
from tidemill.testing import elements, snapshot_at

JOIN = """SELECT a.v AS x, b.v AS y, c.v AS z FROM a WINDOW(RANGE 10), b WINDOW(RANGE 10),
    c WINDOW(RANGE 10) WHERE a.k = b.k AND b.k = c.k"""


class House:
    """Three streams whose rates and values change, and a query that joins them."""

    def __init__(self, policy: ReoptimizePolicy, sql: str = JOIN) -> None:
        self.engine = tm.Engine("inprocess")
        schema = pa.schema({"k": pa.int64(), "v": pa.int64(), "at": pa.int64()})
        for name in "abc":
            self.engine.stream(name, schema, time="at")
        self.graph = self.engine.run(every=None)
        self.graph.reoptimizer.policy = policy
        self.random = Random(3)
        self.sent: dict[str, list[dict[str, int]]] = {name: [] for name in "abc"}
        self.now = 0
        query = self.engine.sql(sql)
        assert query is not None
        query.start("memory", name="q")

    @property
    def query(self) -> StartedQuery:
        return self.graph.query("q")

    def tick(self, ticks: int, rows: dict[str, int], values: dict[str, int]) -> None:
        for _ in range(ticks):
            for name, number in rows.items():
                new = [
                    {"k": self.random.randrange(values[name]), "v": self.now, "at": self.now}
                    for _ in range(number)
                ]
                self.sent[name] += new
                self.engine.push(name, new)
            self.graph.tick()
            self.now += 1

    def orders(self) -> str:
        return next(line for line in self.query.explain().splitlines() if "JoinExec" in line)

    def check(self, sql: str = JOIN) -> None:
        """Answers are those of the query alone."""
        for name in self.query.depends_on:
            self.graph.heartbeat(name, 10_000)
        self.graph.tick()
        engine = tm.Engine("inprocess")
        for name in self.query.depends_on:
            engine.stream(name, self.sent[name], time="at")
        alone = engine.sql(sql)
        assert alone is not None
        found, wanted = elements(self.query.results()), elements(alone.collect())
        for instant in range(0, self.now + 12, 3):
            assert snapshot_at(found, instant) == snapshot_at(wanted, instant), instant


FEW, MANY = {"a": 1, "b": 1, "c": 5}, {"a": 5, "b": 1, "c": 1}
VALUES = {"a": 60, "b": 60, "c": 60}


def test_orders_follow_the_rates() -> None:
    house = House(ReoptimizePolicy(every=5, gain=0.03, looks=2, rest=2))
    house.tick(20, FEW, VALUES)
    house.query.optimize()
    before = house.orders()
    house.tick(30, MANY, VALUES)
    assert house.query.migration is not None
    assert house.query.migration.phase is Phase.DONE
    assert house.orders() != before
    house.check()


def test_nothing_changes_while_rates_stay() -> None:
    house = House(ReoptimizePolicy(every=5, looks=2))
    house.tick(20, FEW, VALUES)
    house.query.optimize()
    last = house.query.migration
    house.tick(20, FEW, VALUES)
    assert house.query.migration is last


@pytest.mark.parametrize(("looks", "changes"), [(2, True), (1000, False)])
def test_a_gain_must_be_seen_several_times(looks: int, changes: bool) -> None:
    house = House(ReoptimizePolicy(every=5, gain=0.03, looks=looks))
    house.tick(20, FEW, VALUES)
    house.query.optimize()
    before = house.orders()
    house.tick(30, MANY, VALUES)
    assert (house.orders() != before) is changes


def test_a_small_gain_is_none() -> None:
    house = House(ReoptimizePolicy(every=5, looks=1, gain=0.99))
    house.tick(20, FEW, VALUES)
    before = house.orders()
    house.tick(20, MANY, VALUES)
    assert house.orders() == before


def test_aggregation_moves_when_groups_become_few() -> None:
    """A plan with other operators, which takes a window to begin."""
    sql = """SELECT a.k, COUNT(*) AS n FROM a WINDOW(RANGE 10), b WINDOW(RANGE 10)
        WHERE a.k = b.k GROUP BY a.k"""
    house = House(ReoptimizePolicy(every=5, looks=2, rest=2), sql)
    house.engine.hint("a", rate=0.01, distinct={"k": 1000})
    house.engine.hint("b", rate=0.01, distinct={"k": 1000})
    house.query.optimize()
    late = house.query.explain()
    assert "#early" not in late
    house.tick(5, {"a": 5, "b": 5}, VALUES)
    for name in "ab":
        house.engine.hint(name, rate=5, distinct={"k": 2})
    house.tick(40, {"a": 5, "b": 5}, {"a": 2, "b": 2})
    assert "#early" in house.query.explain()
    house.check(sql)


def test_parts_that_run_for_others_cost_nothing() -> None:
    house = House(ReoptimizePolicy(every=1000))
    house.tick(10, FEW, VALUES)
    choice = house.graph._choose(house.query.definition, Statistics())
    parts = nodes_of(normal(choice.physical))
    windows = [part for part in parts if not isinstance(part, JoinExec | ProjectExec)]
    whole = seconds(choice, choice.estimator, lambda part: False)
    assert 0 < seconds(choice, choice.estimator, windows.__contains__) < whole
    assert seconds(choice, choice.estimator, parts.__contains__) == 0
