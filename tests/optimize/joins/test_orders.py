"""Every order, index and split of a join of many inputs gives the same answer."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations, product
from random import Random

import polars as pl
import pyarrow as pa
import pytest
from sqlglot import exp

from tests.checking.plans import Inputs, check_plan, reference_of
from tests.checking.sources import run_to_the_end
from tests.random.data import random_stream
from tidemill.algebra import CountWindow, MultiJoin, Plan, Scan, TimeWindow
from tidemill.algebra.scalar import Scalar, column_node
from tidemill.algebra.schema import Schema
from tidemill.optimize.cost.estimates import Estimator
from tidemill.optimize.joins.choice import with_orders
from tidemill.optimize.statistics import Statistics, StreamStatistics
from tidemill.physical.lowering import lower
from tidemill.physical.operator import empty_batch
from tidemill.physical.operators.join import JoinExec
from tidemill.testing.reference import check_result

COLUMNS = Schema.of(k=pa.int32(), v=pa.int64())
STREAMS = ("alpha", "beta", "gamma", "delta")


def window(name: str, random: Random) -> Plan:
    scan = Scan(name, name, COLUMNS)
    if random.random() < 0.25:
        return CountWindow(scan, random.randint(1, 4))
    return TimeWindow(scan, random.randint(1, 8), random.choice([1, 1, 1, 2]))


def less(one: str, other: str) -> Scalar:
    return Scalar(exp.LT(this=column_node(one), expression=column_node(other)), pa.bool_())


def case(seed: int, count: int, theta: bool) -> tuple[MultiJoin, Inputs]:
    """A join on a common attribute; with `theta`, the last input has only a comparison."""
    random = Random(seed)
    names = STREAMS[:count]
    keys = [(f"{name}.k",) for name in names]
    conditions = [less(f"{names[0]}.v", f"{names[1]}.v")] if random.random() < 0.5 else []
    if theta:
        keys[-1] = ()
        conditions.append(less(f"{names[-1]}.v", f"{random.choice(names[:-1])}.v"))
    inputs = tuple(window(name, random) for name in names)
    data = {name: random_stream(random, rows=(3, 12)) for name in names}
    return MultiJoin(inputs, tuple(keys), tuple(conditions)), Inputs(data)


def global_orders(count: int) -> list[tuple[tuple[int, ...], ...]]:
    """For each global order, the orders by origin: new rows first."""
    return [
        tuple((i, *(n for n in order if n != i)) for i in range(count))
        for order in permutations(range(count))
    ]


@pytest.mark.parametrize("theta", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_all_global_orders(seed: int, theta: bool) -> None:
    join, inputs = case(seed, 3 if seed % 2 else 4, theta)
    for orders in global_orders(len(join.inputs)):
        check_plan(replace(join, orders=orders), inputs)


@pytest.mark.parametrize("seed", range(10, 14))
def test_any_order_per_origin(seed: int) -> None:
    """The general lazy join: new rows may stand anywhere."""
    join, inputs = case(seed, 3, theta=seed % 2 == 1)
    every = list(permutations(range(3)))
    random = Random(seed)
    for orders in random.sample(list(product(every, repeat=3)), 30):
        check_plan(replace(join, orders=orders), inputs)


@pytest.mark.parametrize("seed", range(20, 28))
def test_any_number_of_buckets(seed: int) -> None:
    join, inputs = case(seed, 3, theta=False)
    expected = reference_of(join, inputs)
    node = lower(join, {})
    assert isinstance(node, JoinExec)
    for buckets in [(1, 1, 1), (2, 3, None), (None, 1, 7)]:
        run = run_to_the_end(replace(node, buckets=buckets), inputs.sources())
        result = pl.concat([empty_batch(join.schema), *run])
        check_result(result.to_arrow(), expected)


def test_a_result_is_found_once_whatever_came_together() -> None:
    """New rows of all inputs in one step, at one instant."""
    rows = [{"k": 1, "v": n, "at": 5} for n in range(2)]
    table = pa.Table.from_pylist(rows)
    join, _ = case(0, 3, theta=False)
    inputs = tuple(TimeWindow(Scan(n, n, COLUMNS), 10) for n in STREAMS[:3])
    plan = replace(join, inputs=inputs, conditions=())
    operator = lower(plan, {}).operator()
    batch = pl.DataFrame(table.select(["k", "v"])).with_columns(
        valid_from=pl.lit(5, pl.Int64), valid_to=pl.lit(15, pl.Int64)
    )
    named = [batch.rename({"k": f"{n}.k", "v": f"{n}.v"}) for n in STREAMS[:3]]
    result, watermark = operator.step(named, [6, 7, 8])
    assert (result.height, watermark) == (8, 6)
    assert result.unique().height == 8


def test_orders_change_when_rates_do() -> None:
    join, _ = case(0, 3, theta=False)
    inputs = tuple(TimeWindow(Scan(n, n, COLUMNS), 100) for n in STREAMS[:3])
    join = replace(join, inputs=inputs, conditions=())

    def known(*rates: float) -> Estimator:
        pairs = zip(STREAMS, rates, strict=False)
        streams = {n: StreamStatistics(rate=rate, distinct={"k": 500}) for n, rate in pairs}
        return Estimator(Statistics(streams))

    planned, _ = with_orders(join, known(1, 10, 100))
    assert planned.orders == ((0, 1, 2), (1, 0, 2), (2, 0, 1))
    other, _ = with_orders(join, known(100, 10, 1))
    assert other.orders == ((0, 2, 1), (1, 2, 0), (2, 1, 0))
