"""Comparisons with all or any of other rows: what they mean, and what becomes of them."""

from __future__ import annotations

import math
from random import Random

import pyarrow as pa
import pytest

import tidemill as tm
from tests.checking.plans import reference_of, run_in_partitions
from tests.optimize.generators import RulePlans
from tests.random.cases import random_inputs
from tidemill.algebra import nodes
from tidemill.algebra.scalar import column
from tidemill.optimize import optimize
from tidemill.optimize.contained import over_the_same
from tidemill.optimize.examples import plan_of
from tidemill.optimize.nulls import never_null
from tidemill.testing.reference import check_result

NAN = math.nan
OWN = [0.0, 1.0, 2.0, 3.0, NAN, None]
OTHERS: list[list[float | None]] = [
    [1.0, 2.0, 2.0], [1.0, None, 2.0], [None, None], [NAN, 1.0, -0.0], [0.0, -0.0], [],
]  # fmt: skip
ROWS = pa.schema([("k", pa.int64()), ("v", pa.float64()), ("at", pa.int64())])


def _table(values: list[list[float | None]], start: int) -> pa.Table:
    """Every ten instants, other values, some of them once more an instant later."""
    rows = [
        {"k": n % 2, "v": value, "at": 10 * round + start + later}
        for round, some in enumerate(values)
        for later in (0, 1)
        for n, value in enumerate(some[later:])
    ]
    return pa.Table.from_pylist(rows, schema=ROWS)


def _answer(sql: str, optimizer: bool) -> list[str]:
    """Every row of `own` meets some of the others, and before and after that none."""
    engine = tm.Engine(runtime="inprocess", optimizer=optimizer)
    engine.stream("own", _table([OWN] * len(OTHERS), 0), time="at")
    engine.stream("other", _table(OTHERS, 2), time="at")
    query = engine.sql(sql)
    assert query is not None
    # Which of two zeros stands for both is open.
    return sorted(str(row).replace("-0.0", "0.0") for row in query.collect(True).to_pylist())


def check(sql: str) -> None:
    assert _answer(sql, optimizer=True) == _answer(sql, optimizer=False), sql


@pytest.mark.parametrize("operator", ["=", "<>", "<", "<=", ">", ">="])
@pytest.mark.parametrize("word", ["ALL", "ANY"])
def test_meaning_stays(operator: str, word: str) -> None:
    for tied in ("", "WHERE other.k = own.k"):
        test = f"own.v {operator} {word} (SELECT v FROM other WINDOW(RANGE 2) {tied})"
        for condition in (test, f"NOT {test}", f"({test}) IS NULL"):
            check(f"SELECT k, v FROM own WINDOW(RANGE 6) WHERE {condition}")


@pytest.mark.parametrize("operator", ["<=", ">="])
def test_rows_against_their_own(operator: str) -> None:
    rows = "FROM other {} WINDOW(RANGE 2)"
    check(f"SELECT v, k {rows.format('a')} WHERE v {operator} ALL (SELECT v {rows.format('b')})")
    worse = {"<=": ">", ">=": "<"}[operator]
    inner = f"(SELECT * {rows.format('b')} WHERE a.v {worse} b.v)"
    check(f"SELECT v, k {rows.format('a')} WHERE NOT EXISTS {inner}")


COUNTS = "(SELECT item, COUNT(*) AS n FROM bid WINDOW(RANGE 5) GROUP BY item)"
HOTTEST = f"SELECT item FROM {COUNTS} AS h WHERE n >= ALL (SELECT n FROM {COUNTS} AS g)"


def test_the_largest_of_all_is_found_by_its_value() -> None:
    plan = optimize(plan_of(HOTTEST))
    joins = [node for node in plan.walk() if isinstance(node, nodes.Conditional)]
    assert [node.label for node in joins] == ["Join on h.n = #max.g.n"]


def test_the_groups_are_counted_once() -> None:
    plan = optimize(plan_of(HOTTEST))
    counts = {id(node) for node in plan.walk() if isinstance(node, nodes.Aggregate) and node.keys}
    assert len(counts) == 1


def test_two_subqueries_over_one_stream() -> None:
    some = "(SELECT v FROM other WINDOW(RANGE {}))"
    check(
        f"SELECT k, v FROM own WINDOW(RANGE 4) WHERE v > ANY {some.format(2)}"
        f" AND v < ANY {some.format(2)} AND v <= ANY {some.format(3)}"
    )


@pytest.mark.fuzz
@pytest.mark.parametrize("partitions", [2, 3])
def test_partitions_do_not_matter(partitions: int) -> None:
    for seed in range(30):
        random = Random(seed)
        plan = RulePlans(random).compare_with_extremes()
        inputs = random_inputs(random, latest=12)
        result = run_in_partitions(plan, inputs, partitions)
        check_result(result, reference_of(plan, inputs))


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT price AS x FROM bid", False),
        ("SELECT 1 AS x FROM bid", True),
        ("SELECT price AS x FROM bid WHERE price IS NOT NULL", True),
        ("SELECT price AS x FROM bid WHERE price > 1 OR item > 1", False),
        ("SELECT price AS x FROM bid WHERE price <=> 1", False),
        ("SELECT price AS x FROM bid WHERE 1 < price", True),
        ("SELECT MAX(price) AS x FROM bid WINDOW(RANGE 5)", False),
        ("SELECT MAX(price) AS x FROM bid WINDOW(RANGE 5) WHERE price <> 1", True),
        ("SELECT COUNT(price) AS x FROM bid WINDOW(RANGE 5)", True),
        ("SELECT price AS x FROM bid JOIN auction ON price = seller", True),
        ("SELECT price AS x FROM bid WHERE price > 1 UNION ALL SELECT item FROM bid", False),
        ("SELECT price AS x FROM bid WHERE price > 1 EXCEPT ALL SELECT item FROM bid", True),
    ],
)
@pytest.mark.filterwarnings("ignore::tidemill.errors.PlanWarning")
def test_what_is_never_null(sql: str, expected: bool) -> None:
    plan = plan_of(sql)
    assert never_null(column("x", plan.schema["x"]), plan) is expected


FIRST = "SELECT price AS x FROM bid WINDOW(RANGE 5) ORDER BY item"
ALL_BIDS = "SELECT price AS y FROM bid AS b WINDOW(RANGE 5)"


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("SELECT price AS x FROM bid WINDOW(RANGE 5) WHERE item > 3", ALL_BIDS, True),
        ("SELECT DISTINCT price AS x FROM bid WINDOW(RANGE 5)", ALL_BIDS, True),
        (
            "SELECT price AS x FROM bid WINDOW(RANGE 5), auction WINDOW(RANGE 3)"
            " WHERE bid.item = auction.item",
            ALL_BIDS,
            True,
        ),
        (f"{FIRST} LIMIT 3", ALL_BIDS, True),
        ("SELECT price AS x FROM bid WINDOW(RANGE 4)", ALL_BIDS, False),
        ("SELECT item AS x FROM bid WINDOW(RANGE 5)", ALL_BIDS, False),
        ("SELECT price + 1 AS x FROM bid WINDOW(RANGE 5)", ALL_BIDS, False),
        ("SELECT price AS x FROM bid WINDOW(RANGE 5)", f"{ALL_BIDS} WHERE item > 3", False),
        (f"{FIRST} LIMIT 3", f"{FIRST} LIMIT 3".replace(" x ", " y "), True),
        (
            f"{FIRST} LIMIT 3 APPROXIMATE",
            f"{FIRST} LIMIT 3 APPROXIMATE".replace(" x ", " y "),
            False,
        ),
    ],
)
@pytest.mark.filterwarnings("ignore::tidemill.errors.PlanWarning")
def test_values_that_are_among_others(left: str, right: str, expected: bool) -> None:
    assert (over_the_same(plan_of(left), "x", plan_of(right), "y") is not None) is expected
