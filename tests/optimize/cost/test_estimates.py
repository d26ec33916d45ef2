"""Estimates of whole plans."""

from __future__ import annotations

import timeit
from dataclasses import replace

import pyarrow as pa
import pytest
from sqlglot import exp, parse_one

from tidemill.algebra import nodes, sets
from tidemill.algebra.plan import Plan
from tidemill.algebra.scalar import Scalar, column, column_node
from tidemill.algebra.schema import Schema
from tidemill.optimize.cost import copies, state
from tidemill.optimize.cost.constants import MEASURED
from tidemill.optimize.cost.estimates import Estimator
from tidemill.optimize.cost.state import KINDS, kind_of, state_of
from tidemill.optimize.sharing import Shared
from tidemill.optimize.statistics import Statistics, StreamStatistics


def window(name: str, size: int | None = 100) -> Plan:
    return nodes.TimeWindow(nodes.Scan(name, name, Schema.of(k=pa.int64(), v=pa.int64())), size)


def equal(left: str, right: str) -> Scalar:
    return Scalar(exp.EQ(this=column_node(left), expression=column_node(right)), pa.bool_())


def known(streams: int, **more: float) -> Statistics:
    facts = StreamStatistics(rate=1, distinct={"k": 100})
    return Statistics({f"s{number}": facts for number in range(streams)}, more)


def ten_way() -> Plan:
    plan = window("s0")
    for number in range(1, 10):
        plan = nodes.Join(plan, window(f"s{number}"), equal("s0.k", f"s{number}.k"))
    return plan


def test_ten_joins_are_estimated_fast() -> None:
    plan = ten_way()
    assert Estimator(known(10)).live_rows(plan) == pytest.approx(100)
    # The best of some: what is above it is other work on the machine.
    times = timeit.repeat(lambda: Estimator(known(10)).of(plan), number=1, repeat=5)
    assert min(times) < 0.01


def test_the_order_of_joins_does_not_matter() -> None:
    a, b, c = (window(f"s{n}", size) for n, size in enumerate((10, 100, 1000)))
    one = nodes.Join(nodes.Join(a, b, equal("s0.k", "s1.k")), c, equal("s1.k", "s2.k"))
    other = nodes.Join(a, nodes.Join(b, c, equal("s1.k", "s2.k")), equal("s0.k", "s1.k"))
    estimator = Estimator(known(3))
    assert estimator.live_rows(one) == pytest.approx(estimator.live_rows(other))
    assert estimator.rate(one) == pytest.approx(estimator.rate(other), rel=0.05)


# Selectivities

BID = nodes.Scan("bid", "b", Schema.of(item=pa.int64(), price=pa.int64(), note=pa.string()))
HELD = nodes.TimeWindow(BID, 100)
ASK = nodes.TimeWindow(nodes.Scan("ask", "a", Schema.of(item=pa.int64(), seller=pa.int64())), 50)

KNOWN = Statistics(
    {
        "bid": StreamStatistics(rate=2, distinct={"item": 20, "price": 1000}),
        "ask": StreamStatistics(rate=1, distinct={"item": 50}),
    },
    {"b.price > 900": 0.1, "a.item = b.item AND a.seller < 3": 0.004},
)


def condition(text: str) -> Scalar:
    """A condition in which columns are written as plans print them."""
    node = parse_one(text, read="spark")
    for found in list(node.find_all(exp.Column)):
        found.replace(column_node(f"{found.table}.{found.name}"))
    return Scalar(node, pa.bool_())


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("b.item = 3", 1 / 20),
        ("3 = b.item", 1 / 20),
        ("b.item <=> 3", 1 / 20),
        ("b.item <> 3", 19 / 20),
        ("b.item IN (1, 2, 3)", 3 / 20),
        ("b.item IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)", 1 / 2),
        ("b.price < 10", 1 / 3),
        ("b.price > 900", 0.1),  # observed
        ("b.price > 900 AND b.item = 3", 0.1 / 20),
        ("b.price > 900 OR b.item = 3", 0.1 + 0.05 - 0.005),
        ("NOT (b.item = 3 OR b.item = 4)", (19 / 20) ** 2),
        ("b.price BETWEEN 1 AND 5", 1 / 4),
        ("b.note LIKE 'a%'", 1 / 10),
        ("b.note IS NULL", 1 / 20),
        ("b.note IS NOT NULL", 19 / 20),
        ("b.note = 'x'", 1 / 10),  # nothing known of it
        ("b.price % 7 = 3", 1 / 1000),
        ("TRUE", 1),
        ("FALSE", 0),
        ("odd(b.price)", 1 / 3),
    ],
)
def test_selectivity_of_a_filter(text: str, share: float) -> None:
    assert Estimator(KNOWN).selectivity(condition(text), HELD) == pytest.approx(share)


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("a.item = b.item", 1 / 50),
        ("a.item = b.item AND b.price < 10", 1 / 150),
        ("a.seller = b.item", 1 / 20),  # one side is known
        ("a.seller = b.note", 1 / 200),  # neither: as many as the larger side has live rows
        ("a.item = b.item AND a.seller < 3", 0.004),  # observed
        ("a.item < b.item", 1 / 3),
    ],
)
def test_selectivity_of_a_join(text: str, share: float) -> None:
    assert Estimator(KNOWN).selectivity(condition(text), ASK, HELD) == pytest.approx(share)


def test_equalities_that_follow_from_others_do_not_count() -> None:
    inputs = tuple(window(f"s{n}") for n in range(3))
    chain = condition("s0.k = s1.k AND s1.k = s2.k")
    circle = condition("s0.k = s1.k AND s1.k = s2.k AND s2.k = s0.k")
    estimator = Estimator(known(3))
    assert estimator.selectivity(circle, *inputs) == estimator.selectivity(chain, *inputs)


# Distinct values


def renamed(plan: Plan) -> Plan:
    return nodes.Project(plan, (("x", column("b.item", pa.int64())),))


@pytest.mark.parametrize(
    ("plan", "name", "values"),
    [
        (HELD, "b.item", 20),
        (HELD, "b.price", 181.4),  # 200 live rows of 1000 values
        (HELD, "b.note", 20),  # unknown: a tenth of the live rows
        (renamed(HELD), "x", 20),
        (Shared(HELD), "b.item", 20),
        (nodes.Filter(HELD, condition("b.item = 3")), "b.item", 1),
        (nodes.Filter(HELD, condition("b.item < 3")), "b.item", 20 / 3),
        (nodes.Join(ASK, HELD, condition("a.item = b.item")), "a.item", 20),
        (sets.Union(renamed(HELD), renamed(HELD)), "x", 20),
        (nodes.Aggregate(HELD, ("b.item",), ()), "b.item", 12.8),  # 20 rows of 20 values
    ],
)
def test_distinct_values(plan: Plan, name: str, values: float) -> None:
    assert Estimator(KNOWN).distinct(plan, name) == pytest.approx(values, rel=0.01)


def test_distinct_values_of_several_columns() -> None:
    estimator = Estimator(KNOWN)
    assert estimator.groups(HELD, ("b.item", "b.price")) == 20_000
    assert estimator.distinct(HELD, "b.item", "b.price") == pytest.approx(199, rel=0.01)


# Streams and relations


def test_a_relation_has_its_rows() -> None:
    relation = nodes.Scan("city", "c", Schema.of(k=pa.int64()), nodes.SourceKind.CONSTANT, rows=40)
    estimator = Estimator(KNOWN)
    assert estimator.live_rows(relation) == pytest.approx(40)
    pairs = nodes.Join(relation, HELD, None)
    assert estimator.live_rows(pairs) == pytest.approx(40 * 200)
    assert estimator.rate(pairs) == pytest.approx(40 * 2)


SECOND = 1_000_000
EVERY_SECOND = StreamStatistics(rate=1 / SECOND, granularity=SECOND, distinct={"item": 20})


@pytest.mark.parametrize("granule", [1, 1000, SECOND])
def test_a_window_holds_the_rows_of_its_time_on_whichever_instants_they_lie(granule: int) -> None:
    """A row of a stream holds for one instant, however far it is to the next that there is."""
    seconds = Statistics({"bid": replace(EVERY_SECOND, granularity=granule)})
    estimator = Estimator(seconds)
    window = nodes.TimeWindow(BID, 600 * SECOND)
    assert estimator.live_rows(window) == pytest.approx(600)
    assert estimator.rate(window) == pytest.approx(1 / SECOND)
    assert estimator.live_rows(nodes.Aggregate(window, ("b.item",), ())) == pytest.approx(20)
    assert estimator.live_rows(nodes.TimeWindow(nodes.Distinct(BID), 600 * SECOND)) < 601


def test_rows_of_streams_are_not_kept_until_the_next_instant_that_there_is() -> None:
    estimator = Estimator(Statistics({"bid": EVERY_SECOND, "ask": EVERY_SECOND}))
    city = nodes.Scan("city", "c", Schema.of(k=pa.int64()), nodes.SourceKind.CHANGING, rows=40)
    counted = state_of(nodes.Aggregate(BID, ("b.item",), ()), estimator)
    assert counted.rows == 0
    assert state_of(nodes.Join(BID, city, condition("b.item = c.k")), estimator).rows == 40


def test_rows_that_hold_for_a_while_are_split_into_instants_below_a_window() -> None:
    offer = nodes.Scan("offer", "o", Schema.of(item=pa.int64()), nodes.SourceKind.INTERVALS)
    known = Statistics({"offer": StreamStatistics(rate=0.1, length=10, granularity=10)})
    assert Estimator(known).rate(nodes.TimeWindow(offer, 50)) == pytest.approx(1)


def test_a_condition_that_never_holds_leaves_nothing() -> None:
    nothing = nodes.Filter(HELD, condition("FALSE"))
    estimator = Estimator(KNOWN)
    for plan in (
        nothing,
        nodes.Join(nothing, ASK, None),
        nodes.Distinct(nothing),
        nodes.Aggregate(nothing, (), ()),
        nodes.TopK(nothing, (), 3),
        nodes.Rstream(nothing),
        nodes.Istream(nothing),
        sets.Intersection(nothing, nothing),
        nodes.TimeWindow(nothing, 10),
    ):
        assert estimator.rate(plan) == 0, type(plan)
        assert estimator.live_rows(plan) == 0, type(plan)


def logical_operators() -> set[type[Plan]]:
    known = [*vars(nodes).values(), *vars(sets).values()]
    kinds = {kind for kind in known if isinstance(kind, type)}
    unary = {nodes.Unary, nodes.Adjustable}
    bases = {Plan, *unary, nodes.Binary, nodes.Conditional, sets.SetOperation}
    return {kind for kind in kinds if issubclass(kind, Plan)} - bases


def test_every_logical_operator_is_estimated() -> None:
    estimates, states = Estimator.__dict__["_rule"].dispatcher, state._state
    for kind in logical_operators():
        assert estimates.dispatch(kind) is not estimates.dispatch(object), kind
        assert states.dispatch(kind) is not states.dispatch(object), kind
    for kind in logical_operators():
        if issubclass(kind, sets.SetOperation) and kind is not sets.Union:
            assert copies.combined.dispatch(kind) is not copies.combined.dispatch(object), kind


def test_every_logical_operator_but_scans_takes_measured_steps() -> None:
    assert {kind for kind in logical_operators() if not kind_of(kind)} == {nodes.Scan}
    assert set(KINDS.values()) <= set(MEASURED)


def test_wrong_statistics_give_some_estimate() -> None:
    odd = Statistics({"bid": StreamStatistics(rate=0, length=0, rows=0, distinct={"item": 0})})
    estimator = Estimator(odd)
    assert estimator.rate(nodes.Distinct(HELD)) > 0
    assert estimator.distinct(HELD, "b.item") >= 1
