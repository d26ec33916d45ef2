"""Estimates against measurements: real operators on random streams, with fixed seeds.

What starts per instant, how long it holds and how many rows operators keep must be as estimated,
within 15 percent. Where the text's own formula is off by more, the case says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

import pyarrow as pa
import pytest
from sqlglot import parse_one

from experiments.pipes import coalescing
from experiments.pipes.resources import partial_results
from tests.optimize.cost.measuring import Feed, Measured, measure, scan, statistics
from tidemill.algebra import nodes, sets
from tidemill.algebra.aggregates import AggregateCall
from tidemill.algebra.plan import Plan
from tidemill.algebra.scalar import Scalar
from tidemill.optimize.cost import characteristics as text
from tidemill.optimize.cost import discrete
from tidemill.optimize.cost.characteristics import Characteristics
from tidemill.optimize.cost.estimates import Estimator
from tidemill.optimize.cost.usage import CostModel
from tidemill.physical.lowering import lower
from tidemill.physical.operators.coalesce import CoalesceExec
from tidemill.physical.operators.source import SourceExec

TOLERANCE = 0.15
SPAN = 60_000
COUNT = (AggregateCall("n", "COUNT", None, pa.int64()),)
SAME = Scalar(parse_one("`a.k` = `b.k`", read="spark"), pa.bool_())

MANY, SOME, FEW = Feed(2, 200, 10), Feed(2, 200, 100), Feed(2, 200, 1000)
"""Streams of which a value has many, one or few live rows."""

INSTANTS, DENSE, SHORT = Feed(2, 1, 10), Feed(0.5, 40, 10), Feed(2, 5, 10)


@dataclass(frozen=True)
class Case:
    """A plan over one or two streams; `text` is what the text's formula gives, and `text_errs`
    whether that is off."""

    name: str
    plan: Plan
    feeds: dict[str, Feed]
    text: Characteristics | None = None
    text_errs: bool = False
    span: int = SPAN


def one(
    name: str,
    build: Callable[[Plan], Plan],
    feed: Feed,
    formula: Callable[[Characteristics], Characteristics] | None = None,
    text_errs: bool = False,
    columns: str = "k",
    span: int = SPAN,
) -> Case:
    expected = None if formula is None else formula(Characteristics(feed.distance, feed.length))
    plan = build(scan("a", feed, columns))
    title = f"{name}-d{feed.distance}-l{feed.length}-n{feed.values}"
    return Case(title, plan, {"a": feed}, expected, text_errs, span)


def two(name: str, build: Callable[[Plan, Plan], Plan], left: Feed, right: Feed) -> Case:
    alias = "b" if name.endswith("join") else "a"
    plan = build(scan("a", left, "k"), scan("b", right, "k", alias))
    title = f"{name}-d{left.distance}-l{left.length}-n{left.values}"
    return Case(title, plan, {"a": left, "b": right})


def windowed(build: Callable[[Plan], Plan], size: int, slide: int) -> Callable[[Plan], Plan]:
    return lambda stream: build(nodes.TimeWindow(stream, size, slide))


def counted(
    build: Callable[[Plan], Plan], rows: int, slide: int, *by: str
) -> Callable[[Plan], Plan]:
    return lambda stream: build(nodes.CountWindow(stream, rows, slide, by))


def itself(plan: Plan) -> Plan:
    return plan


def total(plan: Plan) -> Plan:
    return nodes.Aggregate(plan, (), COUNT)


def grouped(plan: Plan) -> Plan:
    return nodes.Aggregate(plan, ("a.k",), COUNT)


def third(plan: Plan) -> Plan:
    return nodes.Filter(plan, Scalar(parse_one("`a.k` = 3", read="spark"), pa.bool_()))


def best(limit: int, offset: int = 0) -> Callable[[Plan], Plan]:
    return lambda plan: nodes.TopK(plan, (nodes.SortKey("a.v"),), limit, offset)


def coarse(plan: Plan) -> Plan:
    return nodes.Granularity(plan, 50)


ONE_INPUT = [
    one("filter", third, MANY, lambda s: text.filtered(s, 0.1)),
    one("distinct", nodes.Distinct, MANY, lambda s: text.deduplicated(s, 10)),
    one("distinct", nodes.Distinct, SOME, lambda s: text.deduplicated(s, 100), text_errs=True),
    one("distinct", nodes.Distinct, FEW, lambda s: text.deduplicated(s, 1000)),
    one("distinct", nodes.Distinct, INSTANTS, lambda s: text.deduplicated(s, 10)),
    one("aggregate", grouped, MANY, lambda s: text.grouped(s, 10)),
    one("aggregate", grouped, SOME, lambda s: text.grouped(s, 100), text_errs=True),
    one("aggregate", grouped, FEW, lambda s: text.grouped(s, 1000)),
    one("aggregate", grouped, DENSE, lambda s: text.grouped(s, 10)),
    one("aggregate", total, MANY, text.aggregated),
    one("aggregate", total, INSTANTS, text.aggregated, text_errs=True),
    one("time-window", windowed(itself, 100, 1), INSTANTS, lambda s: text.time_window(s, 100)),
    one("tumbling-aggregate", windowed(grouped, 100, 100), INSTANTS),
    one("sliding-aggregate", windowed(grouped, 100, 20), INSTANTS),
    one("sliding-distinct", windowed(nodes.Distinct, 100, 20), INSTANTS),
    one("sampling-window", windowed(itself, 10, 100), INSTANTS),
    one("count-window", counted(itself, 50, 1), INSTANTS, lambda s: text.count_window(s, 50)),
    one("count-aggregate", counted(total, 50, 1), INSTANTS),
    one("count-steps", counted(itself, 50, 10), INSTANTS),
    one(
        "partitioned-window",
        counted(itself, 5, 1, "a.k"),
        INSTANTS,
        lambda s: text.partitioned_window(s, 10, 5),
    ),
    one("partitioned-aggregate", counted(grouped, 5, 1, "a.k"), INSTANTS),
    one("granularity", coarse, MANY, lambda s: text.coarsened(s, 50)),
    one("granularity", coarse, SHORT, lambda s: text.coarsened(s, 50)),
    one("granularity-aggregate", lambda s: grouped(coarse(s)), MANY),
    one("rstream", nodes.Rstream, MANY, lambda s: text.split(s, 1), span=6_000),
    one("istream", nodes.Istream, DENSE),
    one("top", best(10), MANY, columns="kv", span=6_000),
    one("top", best(3, offset=5), MANY, columns="kv", span=6_000),
    one("total-distinct", lambda s: total(nodes.Distinct(s)), MANY),
]

PAIRS = [(SOME, Feed(4, 100, 100)), (Feed(20, 200, 5), Feed(20, 200, 5)), (FEW, FEW)]

TWO_INPUTS = [
    two(name, build, left, right)
    for name, build in {
        "join": lambda a, b: nodes.Join(a, b, SAME),
        "semi-join": lambda a, b: nodes.SemiJoin(a, b, SAME),
        "anti-join": lambda a, b: nodes.AntiJoin(a, b, SAME),
        "union": sets.Union,
        "difference": sets.Difference,
        "strict-difference": sets.StrictDifference,
        "intersection": sets.Intersection,
        "max-union": sets.MaxUnion,
    }.items()
    for left, right in PAIRS
] + [
    two("instants-join", lambda a, b: nodes.Join(a, b, SAME), INSTANTS, INSTANTS),
    two("instants-difference", sets.Difference, INSTANTS, INSTANTS),
    two("instants-intersection", sets.Intersection, INSTANTS, INSTANTS),
]

CASES = ONE_INPUT + TWO_INPUTS


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_estimates_are_what_is_measured(case: Case) -> None:
    found = measure(case.plan, case.feeds, case.span)
    model = CostModel(Estimator(statistics(**case.feeds)))
    _agree(found, model.estimator.of(case.plan), model.total(case.plan).state_rows)
    if case.text is not None:
        assert _near(found.stream, case.text) is not case.text_errs


def _agree(found: Measured, stream: Characteristics, state_rows: float) -> None:
    assert stream.distance == pytest.approx(found.stream.distance, rel=TOLERANCE)
    assert stream.length == pytest.approx(found.stream.length, rel=TOLERANCE)
    assert state_rows == pytest.approx(found.state_rows, rel=TOLERANCE, abs=2)


def _near(found: Characteristics, expected: Characteristics) -> bool:
    return expected.distance == pytest.approx(
        found.distance, rel=TOLERANCE
    ) and expected.length == pytest.approx(found.length, rel=TOLERANCE)


# Coalesce has no logical node: it changes no snapshot.


@pytest.mark.parametrize("max_length", [None, 3, 10])
@pytest.mark.parametrize("feed", [Feed(0.2, 1, 3), Feed(0.1, 4, 10), Feed(1, 20, 40)], ids=str)
def test_coalesce_of_random_rows(feed: Feed, max_length: int | None) -> None:
    stream = Characteristics(feed.distance, feed.length)
    touching = coalescing.touching_at_random(stream, feed.values)
    found = measure(
        CoalesceExec(SourceExec(scan("a", feed, "k")), max_length), {"a": feed}, span=6_000
    )
    longest = inf if max_length is None else max_length
    expected = coalescing.coalesced(stream, touching, longest)
    _agree(found, expected, coalescing.coalescing_rows(stream, touching, longest))


@pytest.mark.parametrize("feed", [Feed(20, 200, 5), Feed(20, 200, 10), Feed(20, 200, 20)], ids=str)
def test_coalesce_behind_distinct(feed: Feed) -> None:
    stream = Characteristics(feed.distance, feed.length)
    once = discrete.deduplicated(stream, feed.values)
    touching = coalescing.touching_after_distinct(stream, feed.values)
    plan = CoalesceExec(lower(nodes.Distinct(scan("a", feed, "k")), {}))
    found = measure(plan, {"a": feed}, span=200_000)
    waiting = stream.live_rows - once.live_rows  # what comes ahead of its start
    _agree(found, coalescing.coalesced(once, touching), 2 * once.live_rows + waiting)


# Memory is known to a factor of two: tables double as they grow, and shrink when half is unused.

FACTOR = 2.2

LARGE, LARGE_FEW = Feed(1, 5_000, 2_000), Feed(1, 5_000, 100_000)


@pytest.mark.parametrize(
    "case",
    [
        one("distinct", nodes.Distinct, LARGE),
        one("distinct", nodes.Distinct, LARGE_FEW),
        one("aggregate", grouped, LARGE),
        one("aggregate", grouped, LARGE_FEW),
        one("istream", nodes.Istream, LARGE),
        one("count-window", counted(itself, 5_000, 1), Feed(1, 1, 10)),
        two("join", lambda a, b: nodes.Join(a, b, SAME), LARGE_FEW, LARGE_FEW),
        two("semi-join", lambda a, b: nodes.SemiJoin(a, b, SAME), LARGE_FEW, LARGE_FEW),
        two("anti-join", lambda a, b: nodes.AntiJoin(a, b, SAME), LARGE_FEW, LARGE_FEW),
        two("difference", sets.Difference, LARGE, LARGE),
        two("difference", sets.Difference, LARGE_FEW, LARGE_FEW),
    ],
    ids=lambda case: case.name,
)
def test_memory(case: Case) -> None:
    found = measure(case.plan, case.feeds, span=30_000)
    estimated = CostModel(Estimator(statistics(**case.feeds))).total(case.plan)
    assert 1 / FACTOR < estimated.state_bytes / found.state_bytes < FACTOR


def test_memory_of_coalesce() -> None:
    feed = Feed(1, 2_000, 1_000)
    stream = Characteristics(feed.distance, feed.length)
    found = measure(CoalesceExec(SourceExec(scan("a", feed, "k"))), {"a": feed}, span=12_000)
    estimated = coalescing.of_coalesce(stream, coalescing.touching_at_random(stream, 1_000), 8)
    assert estimated.state_rows == pytest.approx(found.state_rows, rel=TOLERANCE)
    assert 1 / FACTOR < estimated.state_bytes / found.state_bytes < FACTOR


# What the text keeps, beside what ours do.


def test_the_text_keeps_more_for_distinct() -> None:
    found = measure(nodes.Distinct(scan("a", MANY, "k")), {"a": MANY}, SPAN)
    assert found.state_rows == pytest.approx(10, rel=TOLERANCE)  # one number per value
    assert Characteristics(2, 200).live_rows == 100  # formula 22.24, in rows


def test_the_text_keeps_pieces_and_ours_ends() -> None:
    found = measure(total(scan("a", DENSE, "k")), {"a": DENSE}, SPAN)
    assert found.state_rows == pytest.approx(80, rel=TOLERANCE)  # the end of every live row
    assert partial_results(Characteristics(0.5, 40)) == pytest.approx(34.7, abs=0.1)
