"""What rules know about plans: keys, equal columns, likeness, reducible subplans."""

from __future__ import annotations

from random import Random

import pytest

from tests.analyze.world import plan as plan_of
from tests.checking.plans import reference_of
from tests.optimize.generators import RulePlans
from tests.random.cases import random_inputs
from tidemill.algebra import Plan
from tidemill.optimize.alike import are_alike
from tidemill.optimize.equalities import known_equalities
from tidemill.optimize.keys import unique_keys

COUNT = "SELECT item AS i, COUNT(*) AS n FROM bid WINDOW(RANGE 5) GROUP BY item"


def keys(sql: str) -> set[str]:
    return {" ".join(sorted(key)) for key in unique_keys(plan_of(sql).plan)}


@pytest.mark.parametrize(
    ("sql", "known"),
    [
        (COUNT, {"i"}),
        ("SELECT MAX(price) AS m FROM bid WINDOW(RANGE 5)", {""}),
        ("SELECT DISTINCT item, price FROM bid", {"item price"}),
        (f"SELECT n FROM ({COUNT})", set()),
        (f"SELECT i, n + 1 AS m FROM ({COUNT}) WHERE n > 3", {"i"}),
        (f"SELECT x.i, y.i AS j FROM ({COUNT}) x, ({COUNT}) y", {"i j"}),
        (f"SELECT x.i, y.n FROM ({COUNT}) x JOIN ({COUNT}) y ON x.i = y.i", {"i"}),
        (f"SELECT x.i, y.n FROM ({COUNT}) x JOIN ({COUNT}) y ON x.n = y.n", set()),
        (f"SELECT x.i, b.price FROM ({COUNT}) x JOIN bid b ON x.i = b.item", set()),
        ("SELECT item FROM bid ORDER BY price LIMIT 1", {""}),
        ("SELECT item FROM bid ORDER BY price LIMIT 2", set()),
        ("SELECT item FROM bid WINDOW(PARTITION BY item ROWS 1)", {"item"}),
        ("SELECT item FROM bid WINDOW(PARTITION BY item ROWS 2)", set()),
        ("SELECT item FROM bid UNION SELECT item FROM auction", {"item"}),
        ("SELECT item FROM bid UNION ALL SELECT item FROM auction", set()),
        (f"SELECT i FROM ({COUNT}) WINDOW(RANGE 5)", set()),
        (f"ISTREAM({COUNT})", {"i"}),
    ],
)
def test_keys(sql: str, known: set[str]) -> None:
    assert keys(sql) == known


def test_equal_columns() -> None:
    columns = "a.item AS x, b.item AS y, a.item AS z, price"
    sql = f"SELECT {columns} FROM auction a, bid b WHERE a.item = b.item"
    assert known_equalities(plan_of(sql).plan) == [("x", "z"), ("x", "y")]


@pytest.mark.parametrize("seed", range(0, 60, 20))
def test_keys_and_equalities_hold_on_random_rows(seed: int) -> None:
    for number in range(seed, seed + 20):
        random = Random(number)
        plans = RulePlans(random)
        shape = random.choice(["remove_distinct", "derive_filters", "push_distinct"])
        plan = getattr(plans, shape)()
        rows = reference_of(plan, random_inputs(random, latest=8))
        names = plan.schema.names
        for key in unique_keys(plan):
            at = [names.index(name) for name in key]
            for snapshot in rows.values():
                found = [tuple(row[i] for i in at) for row in snapshot.elements()]
                assert len(set(found)) == len(found), f"{sorted(key)} of\n{plan}"
        for one, other in known_equalities(plan):
            pair = names.index(one), names.index(other)
            assert all(row[pair[0]] == row[pair[1]] for row in rows.rows()), plan


def test_alike() -> None:
    def bids(alias: str, tail: str = "") -> Plan:
        return plan_of(f"SELECT {alias}.item FROM bid {alias} WINDOW(RANGE 5) {tail}").plan

    assert are_alike(bids("a", "WHERE a.price > 1"), bids("b", "WHERE b.price > 1"))
    assert not are_alike(bids("a", "WHERE a.price > 1"), bids("b", "WHERE b.item > 1"))
    assert not are_alike(bids("a"), bids("b", "WHERE b.price > 1"))
    swapped = plan_of("SELECT price, item FROM bid").plan
    assert not are_alike(plan_of("SELECT item, price FROM bid").plan, swapped)
