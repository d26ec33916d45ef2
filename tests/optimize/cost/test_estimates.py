"""Estimates of whole plans."""

from __future__ import annotations

import timeit

import pyarrow as pa
import pytest
from sqlglot import exp

from tidemill.algebra import nodes
from tidemill.algebra.plan import Plan
from tidemill.algebra.scalar import Scalar, column_node
from tidemill.algebra.schema import Schema
from tidemill.optimize.cost.estimates import Estimator
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
