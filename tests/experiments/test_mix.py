"""The mix of queries of PIPES, Table 24.1."""

from __future__ import annotations

from collections import Counter

import pytest

import tidemill as tm
from experiments.adapting.mix import KEYS, MINUTE, Mix

MIX = Mix(streams=6)


@pytest.mark.parametrize("bounds", [True, False])
def test_queries_are_accepted(bounds: bool) -> None:
    mix = Mix(streams=6, bounds=bounds)
    engine = tm.Engine(runtime="inprocess", optimizer=["order_joins"])
    mix.declare(engine)
    for text in mix.queries(12):
        assert engine.sql(text) is not None


def test_kinds_are_as_frequent_as_in_the_table() -> None:
    queries = Mix().queries(2000)
    joins = Counter(text.count("JOIN") for text in queries)
    aggregates = Counter(text.count("GRANULARITY") for text in queries)
    assert joins[3] == pytest.approx(400, rel=0.2)  # four streams: 20 percent
    assert joins[2] == pytest.approx(400, rel=0.2)  # three
    assert joins[0] == pytest.approx(200, rel=0.25)  # an aggregation alone
    assert aggregates[2] == pytest.approx(200, rel=0.25)


def test_joins_are_hashed_or_nested_loops() -> None:
    theta = equal = 0
    for text in Mix().queries(1000):
        theta += text.count("ABS(")
        equal += text.count(" ON ") + text.count("\nON ") - text.count("ABS(")
    assert theta / (theta + equal) == pytest.approx(0.33, abs=0.08)


def test_rows_come_at_the_rates_of_their_streams_and_always_the_same() -> None:
    tables = MIX.tables(0, 60 * MINUTE)
    assert tables["s01"].equals(MIX.tables(0, 60 * MINUTE)["s01"])
    for name, rate in MIX.rate.items():
        assert 2 <= rate * MINUTE <= 600
        expected = rate * 60 * MINUTE
        assert tables[name].num_rows == pytest.approx(expected, abs=5 * expected**0.5)
        assert len(tables[name]["k50"].unique()) <= KEYS[0]


def test_selectivities_are_those_that_are_told() -> None:
    left, right = (MIX.tables(0, 100 * MINUTE)[name].to_pylist() for name in ("s00", "s01"))
    condition, share = MIX.condition("s00", "s01")
    column = condition.split("=")[0].split(".")[1].strip()
    pairs = sum(a[column] == b[column] for a in left for b in right)
    assert pairs / (len(left) * len(right)) == pytest.approx(share, rel=0.2)
